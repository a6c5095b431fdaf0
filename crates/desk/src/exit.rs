//! Exit codes: one table that the help text prints and every error maps to.

use std::{fmt, process::ExitCode};

/// How the command ends. Scripts rely on these numbers: none ever changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Success,
    /// A check did not hold.
    VerificationFailed,
    /// What was given cannot be used: arguments, a file, a key.
    BadInput,
    /// The rules said no.
    Refused,
    /// Our own trouble.
    Internal,
    /// A policy stopped it before it began.
    PolicyBlocked,
    /// A question was declined.
    Declined,
    /// A question was cancelled.
    Cancelled,
    /// A question was not answered in time.
    Expired,
    /// A question was not answered in time, and its default holds.
    Defaulted,
    /// Ctrl-C ended the waiting for an answer.
    Interrupted,
    /// SIGTERM ended the waiting for an answer.
    Terminated,
}

impl Exit {
    /// Every way to end, by number.
    pub const ALL: [Self; 12] = [
        Self::Success,
        Self::VerificationFailed,
        Self::BadInput,
        Self::Refused,
        Self::Internal,
        Self::PolicyBlocked,
        Self::Declined,
        Self::Cancelled,
        Self::Expired,
        Self::Defaulted,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// Returns the number the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::VerificationFailed => 1,
            Self::BadInput => 2,
            Self::Refused => 3,
            Self::Internal => 4,
            Self::PolicyBlocked => 5,
            Self::Declined => 10,
            Self::Cancelled => 11,
            Self::Expired => 12,
            Self::Defaulted => 13,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Returns what the number means, in words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "all went well",
            Self::VerificationFailed => "verification failed, or what was asked for could not be established",
            Self::BadInput => {
                "bad input: arguments, an unknown key or trace, a malformed, damaged or newer file or store"
            }
            Self::Refused => "refused by the rules, or the data folder is in use",
            Self::Internal => "internal error: disk full, trouble with files of our own, a bug",
            Self::PolicyBlocked => "blocked by policy before anything ran",
            Self::Declined => "`demur ask`, `demur wait`: the question was declined",
            Self::Cancelled => "`demur ask`, `demur wait`: the question was cancelled",
            Self::Expired => "`demur ask`, `demur wait`: nobody answered in time",
            Self::Defaulted => "`demur ask`, `demur wait`: nobody answered in time; the default is printed",
            Self::Interrupted => "`demur ask`, `demur wait`: stopped with Ctrl-C; the question stays open",
            Self::Terminated => "`demur ask`, `demur wait`: stopped by SIGTERM; the question stays open",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The line of the help text.
impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:<3}  {}", self.code(), self.meaning())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_never_change() {
        let codes = Exit::ALL.map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 130, 143]);
    }
}
