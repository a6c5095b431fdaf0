//! How a door is kept: which tools it offers, how long a call waits, which revisions it speaks, where its forms are shown.

use std::time::Duration;

use rmcp::model::ProtocolVersion;

use crate::tools::Sets;

/// How a door is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorSettings {
    /// The tools that are offered, unless whoever comes says which.
    pub sets: Sets,
    /// How long a call waits for people at most.
    pub wait: Duration,
    /// The revisions that are spoken.
    pub era: Era,
    /// Where forms are shown to clients that take a call as a task.
    pub forms: Forms,
    /// Whether the connection outlives a call, so that a form can be left when the call ends.
    pub lasting: bool,
}

/// Which revisions of the protocol are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Era {
    /// All of them.
    #[default]
    Every,
    /// Those of 2025 only: their forms can be taken back.
    Of2025,
}

/// Where the forms of a call are shown that a client takes as a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forms {
    /// Nowhere: some clients stop looking at a task while they show its form.
    #[default]
    Call,
    /// In the task.
    Task,
}

impl Default for DoorSettings {
    fn default() -> Self {
        Self {
            sets: Sets::default(),
            wait: CALL_WAIT,
            era: Era::default(),
            forms: Forms::default(),
            lasting: false,
        }
    }
}

impl Era {
    /// Returns the revisions, the oldest first.
    pub const fn versions(self) -> &'static [ProtocolVersion] {
        match self {
            Self::Every => VERSIONS,
            Self::Of2025 => VERSIONS_OF_2025,
        }
    }
}

const VERSIONS_OF_2025: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];
const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];
/// How long a call waits unless somebody says otherwise: many clients give up after a minute.
pub const CALL_WAIT: Duration = Duration::from_secs(45);
