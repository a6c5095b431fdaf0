//! The work itself: a text, and two ways to count its lines and words that share no code.

use serde::Serialize;

/// The text the executor is given.
pub(super) const TEXT: &str = "\
An agent that lacks something does not guess.
It stops, says what is missing, and waits.
Somebody answers, once, and the answer counts.
What was asked, by whom, and what came back
stays in a record that nobody can bend later
and everybody can check without trusting us.
";

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Count {
    pub(super) lines: usize,
    pub(super) words: usize,
}

/// Returns the count by the standard library's idea of lines and words.
pub(super) fn count(text: &str) -> Count {
    Count { lines: text.lines().count(), words: text.split_whitespace().count() }
}

/// Returns the count by walking the bytes: a line feed ends a line, a word begins after a gap.
pub(super) fn count_by_bytes(text: &[u8]) -> Count {
    let mut count = Count { lines: 0, words: 0 };
    let mut after_gap = true;
    for byte in text {
        count.lines += usize::from(*byte == b'\n');
        let blank = byte.is_ascii_whitespace();
        count.words += usize::from(after_gap && !blank);
        after_gap = blank;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_count_agree_with_a_count_by_hand() {
        let by_hand = Count { lines: 6, words: 48 };
        assert_eq!(count(TEXT), by_hand);
        assert_eq!(count_by_bytes(TEXT.as_bytes()), by_hand);
    }
}
