//! How wide the terminal is, for what is laid out to fit.

use std::os::fd::BorrowedFd;

use demur_core::visible::visible_lines;
use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthChar as _;

/// Returns how many columns the terminal at standard output has; nothing where there is none, or where it does not say.
pub(crate) fn columns() -> Option<usize> {
    columns_at(rustix::stdio::stdout())
}

/// Returns how many columns the terminal at standard error has.
pub(crate) fn error_columns() -> Option<usize> {
    columns_at(rustix::stdio::stderr())
}

fn columns_at(stream: BorrowedFd<'_>) -> Option<usize> {
    let size = tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns the lines of a text from outside, made visible and short enough that a terminal of so many columns breaks none
/// of them, with `beside` columns of ours before each: what the terminal breaks begins a line that could pass for ours.
pub(crate) fn fitted(text: &str, columns: Option<usize>, beside: usize) -> impl Iterator<Item = String> {
    let width = columns.map(|columns| columns.saturating_sub(beside).max(NARROWEST));
    visible_lines(text).flat_map(move |line| match width {
        Some(width) => broken(&line, width),
        None => vec![line],
    })
}

/// Breaks a line after a space where there is one. Nothing of it is lost but spaces at the ends of lines.
fn broken(line: &str, width: usize) -> Vec<String> {
    let (mut lines, mut part, mut used) = (Vec::new(), String::new(), 0);
    for character in line.chars() {
        let more = columns_of(character);
        while used + more > width {
            let space = part.rfind(' ').filter(|_| character != ' ');
            let rest = space.map_or_else(String::new, |at| part.split_off(at + 1));
            used = rest.chars().map(columns_of).sum();
            lines.push(std::mem::replace(&mut part, rest).trim_end().to_owned());
        }
        part.push(character);
        used += more;
    }
    lines.push(part);
    lines
}

/// Returns a line of ours in parts that a terminal of so many columns need not break: between words, each but the first a
/// little further in. A word that is longer than a line stands alone.
pub(crate) fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let width_of = |text: &str| text.chars().map(columns_of).sum::<usize>();
    let inner = line.trim_start_matches(' ');
    let begin = " ".repeat(line.len() - inner.len());
    let further = format!("{begin}  ");
    let (mut lines, mut part, mut is_begun) = (Vec::new(), begin, false);
    for word in inner.split_inclusive(' ') {
        if is_begun && width_of(&part) + width_of(word.trim_end()) > columns {
            lines.push(std::mem::replace(&mut part, further.clone()).trim_end().to_owned());
        }
        part.push_str(word);
        is_begun = true;
    }
    lines.push(part.trim_end().to_owned());
    lines
}

/// Returns how many columns a character takes, where terminals differ the most of them.
fn columns_of(character: char) -> usize {
    character.width_cjk().unwrap_or(0)
}

/// Terminals with fewer columns get what we say in shorter lines.
pub(crate) const NARROW: usize = 80;
/// Words in fewer columns cannot be read.
const NARROWEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        fitted(text, Some(columns), 4).collect()
    }

    #[test]
    fn lines_break_between_words_and_words_only_where_they_must() {
        assert_eq!(lines("one two three", 14), ["one two", "three"]);
        assert_eq!(lines("0123456789abc", 14), ["0123456789", "abc"]);
        assert_eq!(lines("one\n\ntwo", 14), ["one", "", "two"]);
        assert_eq!(lines("王小明王小明", 14), ["王小明王小", "明"]);
        assert_eq!(fitted("0123456789abc", None, 4).collect::<Vec<_>>(), ["0123456789abc"]);
    }

    #[test]
    fn our_lines_break_between_words_and_go_on_further_in() {
        assert_eq!(wrapped("  one two three", 11), ["  one two", "    three"]);
        assert_eq!(wrapped("0123456789abc d", 8), ["0123456789abc", "  d"]);
        assert_eq!(wrapped("a  b", 8), ["a  b"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn no_line_is_wider_than_there_is_room() {
        let text =
            format!("Deploy?{}2. Say hello? (must be answered, alice) {}", " ".repeat(40), "x".repeat(99));
        for columns in 12..90 {
            for line in lines(&text, columns) {
                assert!(line.chars().map(columns_of).sum::<usize>() <= columns - 4, "{columns}: {line:?}");
            }
        }
    }
}
