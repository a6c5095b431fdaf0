//! The examples of every `--help`, typed as they stand there.

use clap::{CommandFactory as _, Parser as _};

use super::Arguments;

/// Returns the texts at the end of the long help of a command and of all below it.
fn examples(command: &clap::Command, found: &mut Vec<String>) {
    found.extend(command.get_after_long_help().map(ToString::to_string));
    command.get_subcommands().for_each(|below| examples(below, found));
}

/// Returns the words of each call of demur in a line, as a shell has them. A remark stands after several blanks.
fn calls(line: &str) -> Vec<Vec<String>> {
    let line = line.trim_start().split("   ").next().unwrap_or_default();
    let starts = line.match_indices("demur ").map(|(at, _)| at);
    let begins = |at: &usize| *at == 0 || BEFORE.iter().any(|before| line[..*at].ends_with(before));
    starts.filter(begins).map(|at| words(&line[at..])).collect()
}

/// Returns the words up to where a shell ends the command.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for character in text.chars() {
        match (quote, character) {
            (None, '|' | '>' | '<' | ';' | ')' | '&') => break,
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns a word with digits in place of what stands in it for a key or a hash.
fn filled(word: &str) -> String {
    ["FINGERPRINT", "HEX", "HASH", "$(cat kept-elsewhere)"]
        .iter()
        .fold(word.to_owned(), |word, name| word.replace(name, KEY))
}

#[test]
fn every_example_of_the_help_can_be_typed() {
    let (mut texts, mut tried) = (Vec::new(), 0);
    examples(&Arguments::command(), &mut texts);
    for line in texts.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("  ")) {
        for call in calls(line) {
            let call: Vec<String> = call.iter().map(|word| filled(word)).collect();
            let wrong = Arguments::try_parse_from(&call).err().filter(clap::Error::use_stderr);
            assert!(wrong.is_none(), "{line}: {call:?}: {}", wrong.unwrap());
            tried += 1;
        }
    }
    assert!(tried > 100, "only {tried} examples were found");
}

/// What stands before a command in a line of a shell.
const BEFORE: [&str; 6] = ["| ", "&& ", "; ", "$(", "-- ", "=1 "];
/// A public key (RFC 8032, section 7.1, test 1): 64 digits that are good for a hash as well.
const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
