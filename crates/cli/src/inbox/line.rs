//! A line that was typed at the inbox, read as what it asks for.

use std::time::Duration;

use crate::arguments::duration;

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Nothing: tell what happened.
    Empty,
    Help,
    Leave,
    /// What is open, from the beginning.
    List,
    /// The next page.
    More,
    Show(Number),
    Answer(Number, &'a str),
    Accept(Number, &'a str),
    Decline(Number, &'a str),
    Cancel(Number, &'a str),
    Extend(Number, Duration, &'a str),
    /// To whom; to people if nobody is named.
    Pass(Number, &'a str),
    /// Nothing that is known here; why.
    Wrong(String),
}

/// The number of a question.
pub(super) type Number = usize;

impl<'a> Line<'a> {
    /// Returns what a line asks for.
    pub(super) fn read(line: &'a str) -> Self {
        let (word, rest) = split(line);
        if word.is_empty() {
            return Self::Empty;
        }
        if let Some(number) = number(word) {
            return if rest.is_empty() { Self::Show(number) } else { Self::Answer(number, rest) };
        }
        match word.to_ascii_lowercase().as_str() {
            "?" | "h" | "help" => Self::Help,
            "q" | "quit" | "exit" => Self::Leave,
            "l" | "list" => Self::List,
            "m" | "more" => Self::More,
            "s" | "show" => about(word, rest, |number, _| Self::Show(number)),
            "answer" => about(word, rest, |number, words| match words {
                "" => Self::Show(number),
                words => Self::Answer(number, words),
            }),
            "a" | "accept" => about(word, rest, Self::Accept),
            "d" | "decline" => about(word, rest, Self::Decline),
            "c" | "cancel" => about(word, rest, Self::Cancel),
            "p" | "pass" => about(word, rest, Self::Pass),
            "x" | "extend" => about(word, rest, extend),
            _ => Self::Wrong(format!("expected a number or one of the words that `?` shows, found {word:?}")),
        }
    }
}

fn about<'a>(word: &str, rest: &'a str, line: impl FnOnce(Number, &'a str) -> Line<'a>) -> Line<'a> {
    let (first, rest) = split(rest);
    match number(first) {
        Some(number) => line(number, rest),
        None => Line::Wrong(format!("expected the number of a question after {word}, such as `{word} 3`")),
    }
}

fn extend(number: Number, rest: &str) -> Line<'_> {
    let (time, reason) = split(rest);
    match duration(time) {
        Ok(time) => Line::Extend(number, time, reason),
        Err(error) => Line::Wrong(error),
    }
}

/// Returns the first word, and what follows it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// A number, also as `3.` or `#3`, the way lists are written.
fn number(word: &str) -> Option<Number> {
    let word = word.strip_prefix('#').unwrap_or(word);
    let digits = word.strip_suffix(['.', ':', ')']).unwrap_or(word);
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_alone_shows_and_with_words_answers() {
        assert_eq!(Line::read("3"), Line::Show(3));
        assert_eq!(Line::read(" 3.  deep  blue "), Line::Answer(3, "deep  blue"));
        assert_eq!(Line::read("answer 3 yes"), Line::Answer(3, "yes"));
        assert_eq!(Line::read("#3 4"), Line::Answer(3, "4"));
    }

    #[test]
    fn letters_and_words_mean_the_same() {
        for (letter, word) in [
            ("d 3 no time", "decline 3 no time"),
            ("x 3 10m", "extend 3 10m"),
            ("p 3 ada", "Pass 3 ada"),
            ("c 3", "cancel 3"),
            ("a 3", "ACCEPT 3"),
            ("l", "list"),
            ("m", "more"),
            ("?", "help"),
            ("q", "quit"),
        ] {
            assert_eq!(Line::read(letter), Line::read(word));
            assert!(!matches!(Line::read(letter), Line::Wrong(_)), "{letter}");
        }
        assert_eq!(Line::read("x 3 10m for lunch"), Line::Extend(3, Duration::from_mins(10), "for lunch"));
    }

    #[test]
    fn what_means_nothing_says_what_would() {
        for line in
            ["yes", "d", "d ada 3", "x 3", "x 3 soon", "p ada", "99999999999999999999999 yes", "-3 yes", "."]
        {
            assert!(matches!(Line::read(line), Line::Wrong(_)), "{line}");
        }
        assert_eq!(Line::read("  "), Line::Empty);
    }
}
