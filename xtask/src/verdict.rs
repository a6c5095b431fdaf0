//! How a command ends: its verdict, or a refusal to start at all.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// The outcome of a command that ran to its end and has already printed its findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
}

impl Verdict {
    /// Returns `Passed` exactly when `passed` holds.
    pub(crate) fn from_passed(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::SUCCESS,
            Verdict::Failed => Self::FAILURE,
        }
    }
}

/// The person must do something before the command can start: call it correctly or install a package.
#[derive(Debug)]
pub(crate) struct Refusal(String);

impl Refusal {
    /// Returns an error that ends the program with exit code 2.
    pub(crate) fn error(message: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self(message.into()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for Refusal {}
