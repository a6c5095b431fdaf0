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

/// Returns whether a character leaves no mark and no space: default-ignorable, a format character or a control. In words
/// joiners and selectors are honest, so they do not deceive; where names are compared they are nothing too.
pub fn is_unseen(character: char) -> bool {
    let of_words = matches!(character,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{200c}' | '\u{200d}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}');
    of_words || (deceives(character) && !character.is_whitespace())
}

/// Returns whether a text says nothing: it has no letter and no number that shows. Which of the other characters show
/// depends on the reader's fonts, and they are too many to list.
pub fn is_blank(text: &str) -> bool {
    !text.chars().any(|character| character.is_alphanumeric() && !deceives(character))
}

/// Returns a text line by line, each with every deceiving character written out: a line feed begins a line, and does
/// nothing else. A tab is four spaces.
pub fn visible_lines(text: &str) -> impl Iterator<Item = String> {
    let text = text.trim_end_matches(['\n', '\r']);
    text.split('\n').map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line).replace('\t', "    ");
        visible(&line).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letter_and_no_number_is_unseen_that_does_not_deceive() {
        let letters = ('\0'..=char::MAX).filter(|character| character.is_alphanumeric());
        assert_eq!({ letters }.find(|character| is_unseen(*character) != deceives(*character)), None);
    }

    #[test]
    fn blank_is_what_has_no_letter_and_no_number() {
        for text in [
            "",
            " ",
            "\t\r\n",
            "\u{a0}\u{3000}\u{2003}",
            "\u{200b}\u{feff}\u{2060}",
            "\u{200d}\u{fe0f}",
            "\u{2800}",
            "\u{115f}\u{1160}\u{3164}\u{ffa0}",
            "\u{1bca0}\u{16fe4}\u{1d159}\u{13430}",
            "\u{fffc}\u{2d7f}\u{1107f}\u{ffff}",
            "\u{301}\u{20dd}",
            "?!",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", " 7? ", "\u{200b}x", "é", "می\u{200c}خواهم", "王", "๑"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn lines_are_lines_and_nothing_else_gets_through() {
        let lines = |text| visible_lines(text).collect::<Vec<_>>();
        assert_eq!(lines("one\ntwo\r\n\n\tthree\n"), ["one", "two", "", "    three"]);
        assert_eq!(lines("a\rb\u{85}c\u{2028}d\u{b}e"), ["a\\u{d}b\\u{85}c\\u{2028}d\\u{b}e"]);
        assert_eq!(lines("a\u{1b}[2J\n\u{202e}b"), ["a\\u{1b}[2J", "\\u{202e}b"]);
    }

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
