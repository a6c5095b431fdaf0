//! Words for people: counts with their nouns, and texts that are too long for their place.

use std::{borrow::Cow, fmt::Display};

/// Returns a count with its noun, which has an s where it is not one: "1 file", "2 files".
pub fn counted<N: Copy + Display + From<u8> + PartialEq>(count: N, noun: &str) -> String {
    counted_as(count, noun, &format!("{noun}s"))
}

/// Returns a count with the form of its noun that fits.
pub fn counted_as<N: Copy + Display + From<u8> + PartialEq>(count: N, one: &str, more: &str) -> String {
    if count == N::from(1) { format!("1 {one}") } else { format!("{count} {more}") }
}

/// Returns the text up to this many characters.
pub fn beginning(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Returns the text up to this many characters, with a sign where the rest was left out.
pub fn clipped<'a>(text: &'a str, most: usize, sign: &str) -> Cow<'a, str> {
    let shown = beginning(text, most);
    if shown.len() < text.len() { format!("{shown}{sign}").into() } else { text.into() }
}

/// The sign of a text that goes on.
pub const ELLIPSIS: &str = "\u{2026}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_none_is_many() {
        assert_eq!([0, 1, 2].map(|count: usize| counted(count, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!(counted_as(1_u64, "gap was", "gaps were"), "1 gap was");
    }

    #[test]
    fn texts_are_cut_between_characters_and_the_cut_shows() {
        assert_eq!((beginning("fïve", 4), beginning("fïve words", 4)), ("fïve", "fïve"));
        assert_eq!((clipped("fïve", 4, "…"), clipped("fïve words", 4, "…")), ("fïve".into(), "fïve…".into()));
        assert_eq!(clipped("", 0, "…"), "");
    }
}
