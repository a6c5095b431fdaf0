//! How a door is kept: which tools it offers, how long a call waits.

use std::time::Duration;

use crate::tools::Sets;

/// How a door is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The tools that are offered, unless whoever comes says which.
    pub sets: Sets,
    /// How long a call waits for people at most.
    pub wait: Duration,
    /// Whether the connection outlives a call, so that a form can be left when the call ends.
    pub lasting: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self { sets: Sets::default(), wait: WAIT, lasting: false }
    }
}

/// How long a call waits unless somebody says otherwise: many clients give up after a minute.
pub const WAIT: Duration = Duration::from_secs(45);
