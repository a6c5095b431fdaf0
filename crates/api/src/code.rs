//! The stable codes of refusals, and what follows from them: how a command ends, which HTTP status it is, whether it passes.

mod rule;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;

pub use rule::RuleCode;
pub use table::Code;

/// What kind of no it is. Exit codes follow from it, and the HTTP status where a code names no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// What was given cannot be used.
    Input,
    /// There is no such thing, for this caller.
    Unknown,
    /// This caller may not.
    Forbidden,
    /// The rules said no, or something else has to happen first.
    Refused,
    /// Not now: it passes by itself.
    Busy,
    /// A check did not hold.
    Unproven,
    /// Our own trouble.
    Ours,
}

impl Class {
    /// Returns the HTTP status of such a refusal.
    pub const fn status(self) -> u16 {
        match self {
            Self::Input => 400,
            Self::Unknown => 404,
            Self::Forbidden => 403,
            Self::Refused => 409,
            Self::Busy => 503,
            Self::Unproven | Self::Ours => 500,
        }
    }
}

impl Code {
    /// Returns the code of an error of ours, which names it. A test holds every such name against the table, so that one that
    /// is not there is a mistake in demur.
    pub fn of(text: &str) -> Self {
        Self::read(text).unwrap_or(Self::Bug)
    }

    /// Returns the code of this text, if there is one.
    pub fn read(text: &str) -> Option<Self> {
        let own = Self::OWN.iter().copied().find(|code| code.as_str() == text);
        own.or_else(|| RuleCode::from_text(text).map(Self::Rule))
    }

    /// Returns the HTTP status.
    pub const fn status(self) -> u16 {
        match self.own_status() {
            Some(status) => status,
            None => self.class().status(),
        }
    }

    /// Returns whether somebody else was first.
    pub fn is_late(self) -> bool {
        matches!(
            self,
            Self::Rule(
                RuleCode::ALREADY_ANSWERED
                    | RuleCode::CONFIRMATION_CLOSED
                    | RuleCode::QUESTION_CLOSED
                    | RuleCode::NOT_THE_ANSWER
            )
        )
    }

    /// Returns whether an answer was refused because it is not of a kind that was asked for.
    pub fn is_about_the_kind(self) -> bool {
        matches!(self, Self::AnswerKind | Self::Rule(RuleCode::ANSWER_CHOICE))
    }

    /// Returns whether a server said that it ends: what it refused has changed nothing, and the next try finds another server.
    pub const fn is_away(self) -> bool {
        matches!(self, Self::Stopping)
    }

    /// Returns whether what was asked for is worth another try later: a server is away, was lost or has too much to do.
    pub const fn is_passing(self) -> bool {
        self.is_away() || matches!(self, Self::ConnectionLost | Self::NoReply | Self::Overloaded)
    }

    /// Returns whether nobody knows if what was asked for happened.
    pub const fn is_uncertain(self) -> bool {
        matches!(self, Self::WriteUncertain)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
