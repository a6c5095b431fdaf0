//! What came of a tool.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tool wrote, how it ended and what it ran under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// How it ended.
    pub ending: ToolEnding,
    /// What it wrote to standard output, up to the limit.
    #[serde(skip)]
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, up to the limit.
    #[serde(skip)]
    pub stderr: Vec<u8>,
    /// From its start to its end.
    pub duration_ms: u64,
    /// Each limit in force, and each that could not be put in force, as sentences for the record: at most 32 of
    /// at most 1024 characters.
    pub limits: Vec<String>,
}

/// How a tool ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEnding {
    /// It ended itself with this code; 0 means all is well.
    Exit(u8),
    /// This signal ended it.
    Signal(i32),
    /// It took too long and was ended.
    Timeout,
    /// It went over this limit and was ended.
    Limit(Limit),
    /// It could not be started, for this reason.
    NotStarted(String),
}

/// A limit that ends a tool which goes over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Bytes in a file.
    FileSize,
    /// Bytes of memory of all processes.
    Memory,
    /// Bytes on standard output and standard error.
    Output,
    /// Processes and threads.
    Processes,
}

/// Completes "the tool ...".
impl fmt::Display for ToolEnding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(formatter, "ended with code {code}"),
            Self::Signal(signal) => write!(formatter, "was ended by signal {signal}"),
            Self::Timeout => formatter.write_str("took too long and was ended"),
            Self::Limit(limit) => write!(formatter, "went over the limit of {limit} and was ended"),
            Self::NotStarted(why) => write!(formatter, "could not be started: {why}"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::FileSize => "file size",
            Self::Memory => "memory",
            Self::Output => "output",
            Self::Processes => "processes",
        })
    }
}

/// Returns the sentence, cut where the record has no more room. Paths and names in it may be long.
pub(crate) fn sentence(text: impl Into<String>) -> String {
    let text = text.into();
    match text.char_indices().nth(SENTENCE) {
        None => text,
        Some(_) => text.chars().take(SENTENCE - 3).chain("...".chars()).collect(),
    }
}

/// The most characters in a sentence.
const SENTENCE: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_cut_between_characters() {
        assert_eq!(sentence("é".repeat(1024)), "é".repeat(1024));
        let cut = sentence("é".repeat(1025));
        assert_eq!(cut.chars().count(), 1024);
        assert!(cut.ends_with("é..."));
    }

    #[test]
    fn endings_read_as_sentences() {
        let endings = [
            (ToolEnding::Exit(3), "ended with code 3"),
            (ToolEnding::Signal(9), "was ended by signal 9"),
            (ToolEnding::Timeout, "took too long and was ended"),
            (ToolEnding::Limit(Limit::Memory), "went over the limit of memory and was ended"),
            (ToolEnding::NotStarted("no room".into()), "could not be started: no room"),
        ];
        for (ending, words) in endings {
            assert_eq!(ending.to_string(), words);
        }
    }
}
