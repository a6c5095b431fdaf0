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
    /// The operation with this number, and what is said about it.
    Operation(Number, Verdict, &'a str),
    /// Nothing that is known here; why.
    Wrong(String),
}

/// The number of a question, or of an operation.
pub(super) type Number = usize;

/// What somebody says about an operation that waits for a yes or a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing yet: it is shown.
    Show,
    Yes,
    No,
}

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
            "o" | "operation" => operation(rest),
            joined if joined.strip_prefix('o').and_then(number).is_some() => operation(&line.trim()[1..]),
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

/// Only the words themselves are a yes or a no: nothing else starts anything, or keeps it from starting.
fn operation(rest: &str) -> Line<'_> {
    let (first, rest) = split(rest);
    let Some(number) = number(first) else {
        return Line::Wrong("expected the number of an operation after o, such as `o1`".to_owned());
    };
    let (word, note) = split(rest);
    match word.to_ascii_lowercase().as_str() {
        "" => Line::Operation(number, Verdict::Show, ""),
        "yes" => Line::Operation(number, Verdict::Yes, note),
        "no" => Line::Operation(number, Verdict::No, note),
        _ => Line::Wrong(format!("expected yes or no after o{number}, found {word:?}")),
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
    fn operation_takes_yes_or_no_and_nothing_else() {
        for (line, verdict, note) in [
            ("o1", Verdict::Show, ""),
            ("o1 yes", Verdict::Yes, ""),
            ("O1. YES as discussed", Verdict::Yes, "as discussed"),
            ("o 1 no too much", Verdict::No, "too much"),
            ("operation #1 no", Verdict::No, ""),
        ] {
            assert_eq!(Line::read(line), Line::Operation(1, verdict, note), "{line}");
        }
        for line in ["o", "o yes", "o1 y", "o1 ok", "o1 yes! now", "ox", "o-1 yes"] {
            assert!(matches!(Line::read(line), Line::Wrong(_)), "{line}");
        }
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
