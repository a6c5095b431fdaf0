//! What a caller may be allowed: every operation names the scopes of which one is enough.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a token can allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Ask, submit plans, and see what came of both.
    Ask,
    /// See questions and answer them with a key of its own.
    Answer,
    /// See questions and pass on what a person said through its own interface.
    Relay,
    /// Read every trace.
    Read,
    /// Abort runs, and erase words.
    Operate,
    /// Read the metrics.
    Metrics,
    /// What a person may do who signed in with a browser: see and answer, read every trace.
    Person,
    /// What the user of this machine may do, and on a server with a public address an operator who signed in: people, their
    /// sessions, tokens.
    Administer,
    /// What only the user of this machine may do: keys, plans by the name of a key, runs that are driven, the store and the
    /// server.
    Local,
}

impl Scope {
    /// What can be given to a token.
    pub const GRANTED: [Self; 6] =
        [Self::Ask, Self::Answer, Self::Relay, Self::Read, Self::Operate, Self::Metrics];

    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Relay => "relay",
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Metrics => "metrics",
            Self::Person => "person",
            Self::Administer => "administer",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        Self::GRANTED
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| NotAScope(text.chars().take(64).collect()))
    }
}

/// A word that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected ask, answer, relay, read, operate or metrics, found {0:?}")]
pub struct NotAScope(String);
