//! The nine states of a run (LED-03). The code calls them phases: a `State` is more than its name.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing has happened yet.
    Initialized,
    /// A proposal is awaited.
    Planning,
    /// A review is awaited.
    Reviewing,
    /// Tools run.
    Executing,
    /// Claims are made and disputed.
    Claiming,
    /// The auditor verifies.
    Auditing,
    /// Verified and closed.
    Completed,
    /// Closed without passing.
    Failed,
    /// Ended by the operator.
    Aborted,
}

impl Phase {
    /// Every phase, in the order of the seed.
    pub const ALL: [Self; 9] = [
        Self::Initialized,
        Self::Planning,
        Self::Reviewing,
        Self::Executing,
        Self::Claiming,
        Self::Auditing,
        Self::Completed,
        Self::Failed,
        Self::Aborted,
    ];

    /// Returns the seed's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::Planning => "planning",
            Self::Reviewing => "reviewing",
            Self::Executing => "executing",
            Self::Claiming => "claiming",
            Self::Auditing => "auditing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
        }
    }

    /// Returns whether nothing can follow.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Aborted)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
