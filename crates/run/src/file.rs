//! Files that people write: TOML, with the line in every error.

use serde::de::DeserializeOwned;

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The writer's: it is no TOML, a field is unknown, missing or out of bounds.
    #[error("line {line}: {message}")]
    Line {
        /// Where, counted from 1.
        line: usize,
        /// What was expected and what was found.
        message: String,
    },
    /// The writer's: every line can be read, but they do not fit together.
    #[error("{0}")]
    Sense(String),
    /// The writer's: more than anybody writes by hand.
    #[error("expected at most {limit} bytes, found {found}")]
    TooLong {
        /// The most allowed.
        limit: usize,
        /// How many there were.
        found: usize,
    },
}

/// Returns what a file says.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    if text.len() > LONGEST {
        return Err(FileError::TooLong { limit: LONGEST, found: text.len() });
    }
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
        FileError::Line { line, message: error.message().to_owned() }
    })
}

/// Returns the line on which the `number`-th table of this kind begins, for errors about how tables fit together.
pub(crate) fn line_of(text: &str, table: &str, number: usize) -> usize {
    let heads = text.lines().zip(1..).filter(|(line, _)| {
        let line = line.trim();
        line.strip_prefix("[[")
            .and_then(|rest| rest.split("]]").next())
            .is_some_and(|name| name.trim() == table)
    });
    heads.map(|(_, line)| line).nth(number).unwrap_or(1)
}

/// Returns the first line that begins so.
pub(crate) fn line_with(text: &str, beginning: &str) -> usize {
    text.lines()
        .zip(1..)
        .find(|(line, _)| line.trim_start().starts_with(beginning))
        .map_or(1, |(_, line)| line)
}

/// How long a file may be: a thousand calls fit.
const LONGEST: usize = 4 << 20;
