//! The people who may sign in with a browser, and the links that sign them in.

use demur_core::{limit::Text, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person may do in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PersonRole {
    /// See and answer, read every trace, call questions off and abort runs.
    Operator,
    /// See and answer, read every trace.
    Answerer,
    /// Read everything, change nothing.
    Auditor,
}

impl PersonRole {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Answerer => "answerer",
            Self::Auditor => "auditor",
        }
    }
}

/// Somebody to be added.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPerson {
    /// The name under which this one answers; nobody else has it.
    pub name: Text<1, 64>,
    /// What this one may do.
    pub role: PersonRole,
}

/// Somebody who can sign in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ShownPerson {
    /// The name.
    pub name: String,
    /// What this one may do.
    pub role: PersonRole,
    /// Since when.
    pub added: Timestamp,
}

/// Everybody who can sign in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedPeople {
    /// In the order in which they were added.
    pub people: Vec<ShownPerson>,
}

/// Somebody who was removed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RemovedPerson {
    /// Who.
    pub person: ShownPerson,
    /// How many sessions ended.
    pub sessions: u64,
}

/// A link to be made.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// Who is to sign in with it; otherwise the user of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Text<1, 64>>,
}

/// A link that signs a browser in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// To be opened in a browser on this machine.
    pub url: String,
    /// For how many seconds.
    pub seconds: u64,
}
