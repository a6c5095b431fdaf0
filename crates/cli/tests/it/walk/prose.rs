//! Commands in the running text of pages: each exists, with the options that it is given.

use std::{collections::BTreeMap, fs};

use super::page::{Page, project};

#[test]
fn commands_in_the_text_exist_with_their_options() {
    let reference = fs::read_to_string(project("docs/command-line.md")).unwrap();
    let helps = helps(&reference);
    let mut seen = 0;
    for page in Page::all() {
        let text = fs::read_to_string(project(&page.name)).unwrap();
        for span in spans(&text).iter().filter(|span| span.starts_with("demur ")) {
            assert_eq!(trouble(&helps, span), None, "{}: `{span}`", page.name);
            seen += 1;
        }
    }
    assert!(seen >= 50, "only {seen} commands were found");
}

/// Returns the help of every command by its name, from the page that a test of its own holds against the program.
fn helps(reference: &str) -> BTreeMap<&str, &str> {
    let sections = reference.split("\n## `").skip(1);
    sections.map(|section| section.split_once('`').unwrap()).collect()
}

/// Returns what is between single backticks outside of fenced blocks, with lines joined.
fn spans(text: &str) -> Vec<String> {
    let mut prose = String::new();
    for (at, part) in text.split("\n```").enumerate() {
        // What is fenced ends with the line of the closing fence.
        prose += if at % 2 == 0 { part } else { "\n\n" };
    }
    // A table has a span within one row, running text within one paragraph.
    let paragraphs = prose.replace("\n|", "\n\n|");
    let spans = paragraphs.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Returns what the program would not understand.
fn trouble(helps: &BTreeMap<&str, &str>, span: &str) -> Option<String> {
    // What comes after a pipe or belongs to the shell is not ours.
    let words: Vec<&str> = span.split(" | ").next()?.split(' ').collect();
    let name = (1..=words.len())
        .rev()
        .map(|length| words[..length].join(" "))
        .find(|name| helps.contains_key(&**name))?;
    let help = helps[&*name];
    let rest = &words[name.split(' ').count()..];
    let needs_more = help.contains("\nCommands:\n");
    if needs_more
        && rest.first().is_some_and(|word| word.starts_with(|letter: char| letter.is_ascii_lowercase()))
    {
        return Some(format!("{name} has no command {}", rest[0]));
    }
    let options = rest.iter().filter(|word| word.starts_with("--"));
    let mut names = options.map(|word| word.split('=').next().unwrap_or_default());
    names.find(|option| !help.contains(*option)).map(|option| format!("{name} has no option {option}"))
}

#[test]
fn commands_that_are_not_there_are_noticed() {
    let reference = "\n## `demur`\n\nCommands:\n  keys\n--help\n## `demur keys`\n\nCommands:\n  new\n\n## `demur keys new`\n--role\n";
    let helps = helps(reference);
    let text = "a `demur keys\nnew a --role b` c\n\n```sh\ndemur none `x`\n```\n\n`demur key` `demur keys make` `demur keys new --rule`";
    let found: Vec<bool> = spans(text).iter().map(|span| trouble(&helps, span).is_some()).collect();
    assert_eq!(found, [false, true, true, true], "{:?}", spans(text));
}
