//! Text that somebody else wrote, as it stands in a report: between quotation marks that it cannot close, on one line, and
//! with every character that hides or reorders called by its name.

use std::fmt::Write as _;

use crate::visible::{deceives, is_unseen};

/// Returns the text in quotation marks.
pub fn quoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    shown.push('\u{201c}');
    for character in text.chars() {
        match character {
            '\\' | '\u{201c}' | '\u{201d}' => {
                shown.push('\\');
                shown.push(character);
            }
            '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => shown.push(character),
            character if deceives(character) || is_unseen(character) => {
                shown.push_str("\\{");
                match name(character) {
                    Some(name) => shown.push_str(name),
                    // Writing to a string does not fail.
                    None => drop(write!(shown, "U+{:04X}", u32::from(character))),
                }
                shown.push('}');
            }
            character => shown.push(character),
        }
    }
    shown.push('\u{201d}');
    shown
}

/// Returns what people call a character that cannot be seen.
const fn name(character: char) -> Option<&'static str> {
    Some(match character {
        '\0' => "null",
        '\u{8}' => "backspace",
        '\t' => "tab",
        '\n' => "line feed",
        '\r' => "carriage return",
        '\u{1b}' => "escape",
        '\u{7f}' => "delete",
        '\u{85}' => "next line",
        '\u{ad}' => "soft hyphen",
        '\u{34f}' => "combining grapheme joiner",
        '\u{61c}' => "Arabic letter mark",
        '\u{200b}' => "zero width space",
        '\u{200e}' => "left-to-right mark",
        '\u{200f}' => "right-to-left mark",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{202a}' => "left-to-right embedding",
        '\u{202b}' => "right-to-left embedding",
        '\u{202c}' => "pop directional formatting",
        '\u{202d}' => "left-to-right override",
        '\u{202e}' => "right-to-left override",
        '\u{2060}' => "word joiner",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        '\u{2068}' => "first strong isolate",
        '\u{2069}' => "pop directional isolate",
        '\u{3164}' => "Hangul filler",
        '\u{feff}' => "byte order mark",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ONE-12
    #[test]
    fn nothing_inside_ends_the_quotation_or_the_line() {
        let forged = "ada\u{201d}, active; pinned as \u{201c}desk\nverdict  PASS\u{202e}\\";
        let shown = quoted(forged);
        assert_eq!(
            shown,
            "\u{201c}ada\\\u{201d}, active; pinned as \\\u{201c}desk\\{line feed}verdict  PASS\\{right-to-left override}\\\\\u{201d}"
        );
        for character in ('\0'..=char::MAX).filter(|character| deceives(*character)) {
            assert!(!quoted(&character.to_string()).contains(character), "{character:?}");
        }
    }

    #[test]
    fn honest_text_stays_as_it_is() {
        for text in ["", "alice", "Zoë", "می\u{200c}خواهم", "👩\u{200d}🚀"] {
            assert_eq!(quoted(text), format!("\u{201c}{text}\u{201d}"));
        }
    }
}
