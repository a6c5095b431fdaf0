//! What a trace is about, in a few words of a list.

use demur_core::{visible::visible, words::clipped};

/// Returns words as a list shows them: on one line, and cut where they are long.
pub(crate) fn short(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&clipped(&line, MAX_SHOWN, "...")).into_owned()
}

/// How many characters a list shows.
const MAX_SHOWN: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_on_one_line_with_nothing_hidden() {
        assert_eq!(short("Deploy\nto\tproduction?"), "Deploy to production?");
        assert_eq!(short("\u{1b}[2J"), "\\u{1b}[2J");
        let long = short(&"é".repeat(100));
        assert!(long.ends_with("...") && long.chars().count() == MAX_SHOWN + 3, "{long}");
    }
}
