//! Characters that cannot be seen, or that change the order of what is seen: called by name, in words that are read aloud.

use std::fmt::Write as _;

use demur_core::visible::deceives;

/// Appends a text as the text of an element. A line ends as `line_end` says; what hides is named.
pub(super) fn push(out: &mut String, text: &str, line_end: &str) {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' => out.push_str(line_end),
            '\t' => out.push('\t'),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            hidden if hides(hidden) => {
                let mut times = 1_usize;
                while characters.next_if_eq(&hidden).is_some() {
                    times += 1;
                }
                push_name(out, hidden, times);
            }
            other => out.push(other),
        }
    }
}

fn hides(character: char) -> bool {
    (deceives(character) || matches!(character, '\u{fffe}' | '\u{ffff}'))
        && character != '\n'
        && character != '\t'
}

fn push_name(out: &mut String, character: char, times: usize) {
    // Writing to a string does not fail.
    let _ = write!(out, "<span class=\"hidden-character\">[U+{:04X}", u32::from(character));
    if let Some(name) = name(character) {
        let _ = write!(out, " {name}");
    }
    if times > 1 {
        let _ = write!(out, ", {times} times");
    }
    out.push_str("]</span>");
}

fn name(character: char) -> Option<&'static str> {
    if matches!(character, '\u{e0000}'..='\u{e007f}') {
        return Some("tag character");
    }
    NAMES.iter().find(|(known, _)| *known == character).map(|(_, name)| *name)
}

/// What people may have heard of.
const NAMES: [(char, &str); 35] = [
    ('\u{0}', "null"),
    ('\u{7}', "bell"),
    ('\u{8}', "backspace"),
    ('\u{b}', "line tabulation"),
    ('\u{c}', "form feed"),
    ('\r', "carriage return"),
    ('\u{1b}', "escape"),
    ('\u{7f}', "delete"),
    ('\u{85}', "next line"),
    ('\u{9b}', "control sequence introducer"),
    ('\u{ad}', "soft hyphen"),
    ('\u{34f}', "combining grapheme joiner"),
    ('\u{61c}', "Arabic letter mark"),
    ('\u{115f}', "Hangul choseong filler"),
    ('\u{1160}', "Hangul jungseong filler"),
    ('\u{180e}', "Mongolian vowel separator"),
    ('\u{200b}', "zero width space"),
    ('\u{200e}', "left-to-right mark"),
    ('\u{200f}', "right-to-left mark"),
    ('\u{2028}', "line separator"),
    ('\u{2029}', "paragraph separator"),
    ('\u{202a}', "left-to-right embedding"),
    ('\u{202b}', "right-to-left embedding"),
    ('\u{202c}', "pop directional formatting"),
    ('\u{202d}', "left-to-right override"),
    ('\u{202e}', "right-to-left override"),
    ('\u{2060}', "word joiner"),
    ('\u{2066}', "left-to-right isolate"),
    ('\u{2067}', "right-to-left isolate"),
    ('\u{2068}', "first strong isolate"),
    ('\u{2069}', "pop directional isolate"),
    ('\u{3164}', "Hangul filler"),
    ('\u{feff}', "zero width no-break space"),
    ('\u{ffa0}', "halfwidth Hangul filler"),
    ('\u{fffb}', "interlinear annotation terminator"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(text: &str) -> String {
        let mut out = String::new();
        push(&mut out, text, "<br>");
        out
    }

    #[test]
    fn what_hides_is_called_by_name() {
        assert_eq!(
            pushed("a\u{202e}b"),
            "a<span class=\"hidden-character\">[U+202E right-to-left override]</span>b"
        );
        assert_eq!(pushed("\u{1}"), "<span class=\"hidden-character\">[U+0001]</span>");
        assert_eq!(
            pushed("\u{200b}\u{200b}\u{200b}"),
            "<span class=\"hidden-character\">[U+200B zero width space, 3 times]</span>"
        );
        assert_eq!(pushed("\u{e0041}"), "<span class=\"hidden-character\">[U+E0041 tag character]</span>");
    }

    #[test]
    fn line_ends_and_honest_text_are_what_they_are() {
        assert_eq!(pushed("a\r\nb\nc\td"), "a<br>b<br>c\td");
        assert_eq!(pushed("می\u{200c}خواهم ❤\u{fe0f}"), "می\u{200c}خواهم ❤\u{fe0f}");
        assert_eq!(pushed("a\rb"), "a<span class=\"hidden-character\">[U+000D carriage return]</span>b");
    }

    #[test]
    fn every_name_is_of_a_character_that_hides() {
        assert!(NAMES.iter().all(|(character, _)| hides(*character)));
    }
}
