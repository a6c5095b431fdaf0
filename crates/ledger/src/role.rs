//! Who speaks: the roles of seed 002 and those around them (LED-01).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part an actor plays in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Turns a task into proposals.
    Planner,
    /// Runs tools and issues claims.
    Executor,
    /// Reviews proposals and intents, challenges claims.
    Critic,
    /// Verifies and closes.
    Auditor,
    /// The person or program that runs demur; may abort.
    Operator,
    /// Submits plans and asks, outside of a run.
    Agent,
    /// Answers questions with a key of its own.
    Answerer,
    /// A person without a key, whose acts the desk records.
    Person,
    /// The holder of a key, speaking about that key.
    Holder,
    /// The desk: orders events and records what it itself did.
    Desk,
}

impl Role {
    /// The roles a run is made of.
    pub const OF_A_RUN: [Self; 4] = [Self::Planner, Self::Executor, Self::Critic, Self::Auditor];

    /// Returns the role of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "planner" => Self::Planner,
            "executor" => Self::Executor,
            "critic" => Self::Critic,
            "auditor" => Self::Auditor,
            "operator" => Self::Operator,
            "agent" => Self::Agent,
            "answerer" => Self::Answerer,
            "person" => Self::Person,
            "holder" => Self::Holder,
            "desk" => Self::Desk,
            _ => return None,
        })
    }

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Critic => "critic",
            Self::Auditor => "auditor",
            Self::Operator => "operator",
            Self::Agent => "agent",
            Self::Answerer => "answerer",
            Self::Person => "person",
            Self::Holder => "holder",
            Self::Desk => "desk",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
