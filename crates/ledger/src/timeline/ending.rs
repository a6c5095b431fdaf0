//! How a tool ended, as facts and content of its last event tell it (LED-33).

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::words::Words;
use crate::facts::FailureKind;

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExecutionEnding {
    /// How long it took, if disclosed.
    pub duration_ms: Option<u64>,
    /// Its exit status, where it has one and it is disclosed.
    pub exit_status: Option<u64>,
    /// In what way it failed; none if it completed.
    pub failure: Option<FailureKind>,
}

impl ExecutionEnding {
    /// Returns the ending that facts and what is disclosed of the content tell.
    pub(super) fn new(failure: Option<FailureKind>, words: Option<&Words>) -> Self {
        match words {
            Some(Words::Ended { duration_ms, exit_status }) => {
                Self { duration_ms: Some(*duration_ms), exit_status: *exit_status, failure }
            }
            _ => Self { duration_ms: None, exit_status: None, failure },
        }
    }
}

impl fmt::Display for ExecutionEnding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failure {
            None => formatter.write_str("completed")?,
            Some(failure) => write!(formatter, "failed: {}", failure_words(failure))?,
        }
        if let Some(status) = self.exit_status {
            write!(formatter, ", exit status {status}")?;
        }
        match self.duration_ms {
            Some(duration @ 0..1000) => write!(formatter, ", {duration} ms"),
            Some(duration) => write!(formatter, ", {}.{} s", duration / 1000, duration % 1000 / 100),
            None => Ok(()),
        }
    }
}

const fn failure_words(failure: FailureKind) -> &'static str {
    match failure {
        FailureKind::Exit => "it ended and said so",
        FailureKind::Signal => "a signal ended it",
        FailureKind::Timeout => "it took too long",
        FailureKind::Limit => "it went over a limit",
        FailureKind::NotStarted => "it could not be started",
        FailureKind::Lost => "nobody knows how it ended",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_read_as_one_line() {
        let told = |failure, exit_status, duration_ms| {
            ExecutionEnding { duration_ms, exit_status, failure }.to_string()
        };
        assert_eq!(told(None, Some(0), Some(999)), "completed, exit status 0, 999 ms");
        assert_eq!(told(Some(FailureKind::Timeout), None, Some(10_049)), "failed: it took too long, 10.0 s");
        assert_eq!(told(Some(FailureKind::Lost), None, None), "failed: nobody knows how it ended");
    }
}
