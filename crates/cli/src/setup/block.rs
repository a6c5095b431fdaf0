//! Lines between two marks, in files in which `#` begins a remark (TOML, YAML). They are put in at one place and taken out as
//! they are, so that the rest of the file never changes.

use std::ops::Range;

use super::edit::Edited;

/// Returns the lines between their marks, each indented like this, without an end of the last line.
pub(super) fn marked(client: &str, indent: &str, lines: &[String], end: &str) -> String {
    let first = format!("{BEGIN} (`demur setup {client} --undo` takes it out)");
    let all = [&[first], lines, &[END.to_owned()]].concat();
    let all: Vec<_> = all.iter().map(|line| format!("{indent}{line}")).collect();
    all.join(end)
}

/// Returns where the lines and their marks stand, without the end of the last line.
pub(super) fn find(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    let mut begin = None;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if words.starts_with(BEGIN) {
            begin = Some(at);
        } else if let Some(begin) = begin.filter(|_| words == END) {
            return Some(begin..at + line.trim_end_matches(['\r', '\n']).len());
        }
        at += line.len();
    }
    None
}

/// Returns the text with the lines at its end, and an empty line before them. A text without an end of its last line gets
/// lines without one.
pub(super) fn at_the_end(text: &str, marked: &str, end: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        format!("{text}{end}{marked}{end}")
    } else {
        format!("{text}{end}{marked}")
    }
}

/// Returns the text with the lines right behind the line that ends at this byte.
pub(super) fn behind(text: &str, line_end: usize, marked: &str, end: &str) -> String {
    let (before, after) = text.split_at(line_end);
    if before.ends_with('\n') {
        format!("{before}{marked}{end}{after}")
    } else {
        format!("{before}{end}{marked}{after}")
    }
}

/// Returns the text without the lines, and without what was put in with them.
pub(super) fn without(text: &str, place: &Range<usize>) -> Edited {
    let (mut before, mut after) = (&text[..place.start], &text[place.end..]);
    let rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'));
    match rest {
        // The end of the line before was put in.
        None => before = without_line_end(before),
        Some(_) if before.is_empty() && rest == Some("") => return Edited::Gone,
        Some(rest) => {
            after = rest;
            let indented = text[place.clone()].starts_with([' ', '\t']);
            let shorter = without_line_end(before);
            // The empty line.
            if !indented && shorter != before && (shorter.is_empty() || shorter.ends_with('\n')) {
                before = shorter;
            }
        }
    }
    Edited::Text(format!("{before}{after}"))
}

fn without_line_end(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

/// Returns what ends the lines of a text.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

const BEGIN: &str = "# demur: begin";
const END: &str = "# demur: end";

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<String> {
        vec!["[a]".to_owned(), "b = 1".to_owned()]
    }

    #[test]
    fn text_is_the_same_after_putting_in_and_taking_out() {
        for text in ["", "\n", "a = 1", "a = 1\n", "a = 1\n\n", "a = 1\r\n", "a\r\nb", "a\n  ", "\n\n\n"] {
            let end = line_end(text);
            let with = at_the_end(text, &marked("codex", "", &lines(), end), end);
            assert_eq!(without(&with, &find(&with).unwrap()), Edited::Text(text.to_owned()), "{with:?}");
        }
        for (text, at) in [("a:\n  b: 1\n", 3), ("a:", 2), ("a:\r\n  b:\r\n", 4), ("x: 1\na:\n", 8)] {
            let end = line_end(text);
            let with = behind(text, at, &marked("hermes", "  ", &lines(), end), end);
            assert_eq!(without(&with, &find(&with).unwrap()), Edited::Text(text.to_owned()), "{with:?}");
        }
    }

    #[test]
    fn file_that_held_nothing_else_is_gone() {
        let text = format!("{}\n", marked("codex", "", &lines(), "\n"));
        assert_eq!(without(&text, &find(&text).unwrap()), Edited::Gone);
    }

    #[test]
    fn half_a_block_is_none() {
        assert_eq!(find("# demur: begin\na = 1\n"), None);
        assert_eq!(find("# demur: end\n"), None);
    }
}
