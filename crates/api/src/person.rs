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

/// A way in to be made.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// Who is to sign in with it; otherwise the user of this machine, or whoever is signed in and asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Text<1, 64>>,
    /// Whether a file is wanted that a browser on this machine opens; for the user of this machine only.
    #[serde(default)]
    pub file: bool,
}

/// A way to sign a browser in, once.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The page on which the code is typed.
    pub url: String,
    /// The code: it stands in no address and on no command line.
    pub code: String,
    /// A file that sends the code from a browser on this machine, where one was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// For how many seconds.
    pub seconds: u64,
}

/// A browser that is signed in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ShownSession {
    /// Its name, by which it is ended.
    pub id: String,
    /// Who signed in.
    pub person: String,
    /// What this one may do.
    pub role: PersonRole,
    /// Since when.
    pub begun: Timestamp,
    /// When it was used last, to the minute.
    pub used: Timestamp,
    /// When it ends if nobody uses it any more.
    pub ends: Timestamp,
    /// What the browser calls itself: its own word.
    pub browser: String,
    /// Where it came from when it signed in.
    pub address: String,
    /// Whether the script of its pages keeps a key, without which the cookie changes nothing.
    pub bound: bool,
    /// Whether it is the one that asks.
    pub own: bool,
}

/// Browsers that are signed in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedSessions {
    /// The oldest first.
    pub sessions: Vec<ShownSession>,
}

/// Which sessions are to end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSessionsParameters {
    /// Whose; otherwise everybody's that the caller may end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

/// Sessions that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndedSessions {
    /// How many.
    pub ended: u64,
}
