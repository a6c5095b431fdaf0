//! A command that was mistyped: which one was meant? The library compares letters in their places, so that `aks` is like
//! `pass`; here letters that are missing, wrong, too many or swapped count as one step each.

use std::ffi::OsString;

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// Names the commands that are closest to what was typed; where none is close, those of the library stay.
pub(crate) fn suggest(mut stop: clap::Error, words: &[OsString], root: &Command) -> clap::Error {
    let Some(ContextValue::String(typed)) = stop.get(ContextKind::InvalidSubcommand) else { return stop };
    if stop.kind() != ErrorKind::InvalidSubcommand {
        return stop;
    }
    let typed = typed.clone();
    let names = named(words, root).0.get_subcommands().map(Command::get_name);
    let mut close: Vec<(usize, String)> = names
        .map(|name| (steps(&typed, name), name.to_owned()))
        .filter(|(steps, _)| *steps <= MAX_STEPS)
        .collect();
    close.sort();
    let nearest = close.first().map_or(0, |(steps, _)| *steps);
    let found: Vec<String> = close
        .into_iter()
        .filter(|(steps, _)| *steps == nearest)
        .map(|(_, name)| name)
        .take(MAX_SUGGESTIONS)
        .collect();
    if !found.is_empty() {
        stop.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(found));
    }
    stop
}

/// Returns the command that these words name, as far as they name one, and how it is typed.
pub(crate) fn named<'a>(words: &[OsString], root: &'a Command) -> (&'a Command, String) {
    let (mut command, mut name) = (root, root.get_name().to_owned());
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if word == "--data" {
            words.next();
        } else if let Some(found) = command.find_subcommand(word) {
            name = format!("{name} {}", found.get_name());
            command = found;
        } else if !word.starts_with('-') {
            break;
        }
    }
    (command, name)
}

/// Returns how many letters have to be added, taken away, replaced or swapped with their neighbour.
fn steps(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) =
        (one.chars().take(MAX_WORD_CHARACTERS).collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != wanted);
            let mut fewest = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped = row > 0 && column > 0 && one[row - 1] == *wanted && other[column - 1] == *letter;
            if swapped {
                fewest = fewest.min(before[column - 1] + 1);
            }
            next.push(fewest);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

/// How many steps away a command is that may have been meant.
const MAX_STEPS: usize = 2;
/// How many are shown at most.
const MAX_SUGGESTIONS: usize = 3;
/// How much of what was typed is looked at.
const MAX_WORD_CHARACTERS: usize = 32;

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn the_data_folder_names_no_command() {
        let words = ["demur", "--data", "keys", "aks"].map(OsString::from);
        let stop = Arguments::try_parse_from(&words).unwrap_err();
        let stop = suggest(stop, &words, &Arguments::command());
        let meant = stop.get(ContextKind::SuggestedSubcommand);
        assert_eq!(meant, Some(&ContextValue::Strings(vec!["ask".to_owned()])));
    }

    #[test]
    fn steps_are_counted_as_people_slip() {
        for (typed, name, expected) in [
            ("ask", "ask", 0),
            ("aks", "ask", 1),
            ("ak", "ask", 1),
            ("asck", "ask", 1),
            ("aik", "ask", 1),
            ("", "ask", 3),
        ] {
            assert_eq!(steps(typed, name), expected, "{typed}");
        }
    }
}
