//! A mistake on the command line as one sentence and a command that helps.

mod needs;

use std::{error::Error as _, ffi::OsString};

use clap::{
    Command, CommandFactory as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    arguments::{Arguments, named},
    failure::Failure,
    lookup::quoted,
};

/// Returns what is wrong with these words, and how to put it right.
pub(crate) fn error(stop: &clap::Error, words: &[OsString]) -> Failure {
    let root = Arguments::command();
    let (found, command) = named(words, &root);
    let missing = stop.kind() == ErrorKind::MissingRequiredArgument;
    let sentence = match needs::needing(words, found).filter(|_| missing) {
        Some(needing) => {
            format!("{needing} needs {}", option(&text(stop, ContextKind::InvalidArg).unwrap_or_default()))
        }
        None => sentence(stop, &command),
    };
    let error = Failure::input("USAGE", sentence);
    let help = format!("`{command} --help` shows what can be typed");
    match suggestion(stop, &command).or_else(|| reason(stop, found)) {
        Some(suggested) => error.with_hint(format!("did you mean `{suggested}`? {help}")),
        None => error.with_hint(help),
    }
}

fn sentence(stop: &clap::Error, command: &str) -> String {
    let text = |kind| text(stop, kind).unwrap_or_default();
    match stop.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            format!("expected a command after `{command}`, found none")
        }
        ErrorKind::InvalidSubcommand => {
            format!("expected a command, found {}", quoted(&text(ContextKind::InvalidSubcommand)))
        }
        ErrorKind::UnknownArgument => {
            let found = text(ContextKind::InvalidArg);
            if found.starts_with('-') {
                format!("expected an option of `{command}`, found {}", quoted(&found))
            } else {
                let found = quoted(&found);
                format!(
                    "expected no more words for `{command}`, found {found}; words with spaces need quotes"
                )
            }
        }
        ErrorKind::MissingRequiredArgument => {
            format!("expected {} after `{command}`, found nothing", bare(&text(ContextKind::InvalidArg)))
        }
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue).is_empty() => {
            format!("expected a value for {}, found none", bare(&text(ContextKind::InvalidArg)))
        }
        ErrorKind::InvalidValue => format!(
            "{}: expected one of {}, found {}",
            option(&text(ContextKind::InvalidArg)),
            text(ContextKind::ValidValue),
            quoted(&text(ContextKind::InvalidValue)),
        ),
        ErrorKind::ValueValidation => {
            let why = stop.source().map(ToString::to_string).unwrap_or_default();
            format!("{}: {why}", option(&text(ContextKind::InvalidArg)))
        }
        ErrorKind::InvalidUtf8 => "expected arguments in UTF-8, found bytes that are not".to_owned(),
        _ => body(stop),
    }
}

/// Returns the words of the parser on one line, without its advice.
fn body(stop: &clap::Error) -> String {
    let text = stop.render().to_string();
    let is_body = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let words = text.lines().take_while(is_body).map(str::trim).filter(|line| !line.is_empty());
    let sentence = words.collect::<Vec<_>>().join(" ");
    sentence.strip_prefix("error: ").unwrap_or(&sentence).to_owned()
}

/// Returns the command that was most likely meant.
fn suggestion(stop: &clap::Error, command: &str) -> Option<String> {
    // The parser sorts what it suggests, the best last.
    let best = |kind| text(stop, kind).and_then(|words| words.rsplit(", ").next().map(str::to_owned));
    let meant = best(ContextKind::SuggestedSubcommand).map(|meant| format!("{command} {meant}"));
    meant.or_else(|| best(ContextKind::SuggestedArg)).or_else(|| best(ContextKind::SuggestedValue))
}

/// Returns the option for the words of somebody who says why, as to another person.
fn reason(stop: &clap::Error, command: &Command) -> Option<String> {
    let words = text(stop, ContextKind::InvalidArg).filter(|words| !words.starts_with('-'))?;
    let takes = command.get_arguments().any(|option| option.get_long() == Some("reason"));
    let meant = stop.kind() == ErrorKind::UnknownArgument && takes && !words.is_empty();
    meant.then(|| "--reason TEXT".to_owned())
}

fn text(stop: &clap::Error, kind: ContextKind) -> Option<String> {
    match stop.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns the name of an argument as help shows it, without brackets: they mean something to a shell.
fn bare(argument: &str) -> String {
    argument.replace(['<', '>'], "")
}

/// Returns the name of an option without that of its value.
fn option(argument: &str) -> String {
    bare(argument.split(" <").next().unwrap_or(argument))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn told(line: &[&str]) -> (String, String) {
        let words: Vec<OsString> = ["demur"].iter().chain(line).map(OsString::from).collect();
        let error = error(&Arguments::try_parse_from(&words).unwrap_err(), &words);
        (error.to_string(), error.hint().unwrap().to_owned())
    }

    #[test]
    fn mistakes_are_one_sentence_each() {
        for (line, expected) in [
            (&["asnwer", "1"][..], "expected a command, found \"asnwer\""),
            (&["ask"], "expected QUESTION after `demur ask`, found nothing"),
            (&["answer"], "expected QUESTION, ANSWER after `demur answer`, found nothing"),
            (&["keys", "new", "x"], "expected --role ROLE after `demur keys new`, found nothing"),
            (
                &["ask", "a", "--kind", "x"],
                "--kind: expected one of text, yes-no, choice, number, secret, found \"x\"",
            ),
            (
                &["ask", "a", "--timeout", "soon"],
                "--timeout: expected a number and s, m, h or d, such as 5m, found \"soon\"",
            ),
            (&["ask", "a", "--colour"], "expected an option of `demur ask`, found \"--colour\""),
            (
                &["ask", "Which", "colour?"],
                "expected no more words for `demur ask`, found \"colour?\"; words with spaces need quotes",
            ),
            (&["ask", "a", "--default", "b"], "--default needs --timeout"),
            (&["ask", "a", "--default=b"], "--default needs --timeout"),
            (&["setup", "claude-code", "--wake", "--yes"], "--wake needs --hook"),
            (&["inbox", "--all"], "--all needs --list"),
            (&["keys", "new", "x", "--json"], "expected --role ROLE after `demur keys new`, found nothing"),
            (
                &["ask", "a", "--timeout", "5"],
                "--timeout: expected a number and s, m, h or d, such as 5m, found \"5\"",
            ),
            (&["ask", "a", "--timeout"], "expected a value for --timeout TIME, found none"),
        ] {
            assert_eq!(told(line).0, expected, "{line:?}");
        }
    }

    #[test]
    fn hints_name_the_command_that_was_meant() {
        assert_eq!(
            told(&["asnwer"]).1,
            "did you mean `demur answer`? `demur --help` shows what can be typed"
        );
        let help = "`demur decline --help` shows what can be typed";
        assert_eq!(told(&["decline", "1", "no idea"]).1, format!("did you mean `--reason TEXT`? {help}"));
        assert_eq!(told(&["decline", "1", "--resaon", "x"]).1, format!("did you mean `--reason`? {help}"));
        assert_eq!(
            told(&["--data", "keys", "plan", "sumbit"]).1,
            "did you mean `demur plan submit`? `demur plan --help` shows what can be typed"
        );
    }
}
