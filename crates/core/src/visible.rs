//! Text from outside, made safe to show: what cannot be seen, or changes the order of what is seen, is written
//! as an escape.

use std::{borrow::Cow, fmt::Write as _};

/// Returns the text with every deceiving character written as `\u{...}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(deceives) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if deceives(character) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns whether a character moves the cursor, hides, or reorders the text around it. The two joiners of
/// Persian and Indic scripts (U+200C, U+200D) and the emoji selectors are left alone: words need them.
pub fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_moves_hides_or_reorders() {
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("a\u{202e}b\n"), "a\\u{202e}b\\u{a}");
        assert_eq!(visible("zero\u{200b}width\u{3164}"), "zero\\u{200b}width\\u{3164}");
    }

    #[test]
    fn leaves_honest_text_alone() {
        for text in ["", "alice", "Zoë Ångström", "می\u{200c}خواهم", "王小明", "👩\u{200d}🚀", "❤\u{fe0f}"]
        {
            assert_eq!(visible(text), text);
        }
    }
}
