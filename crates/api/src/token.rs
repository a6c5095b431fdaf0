//! Tokens: what callers over TCP show.

use demur_core::{
    limit::{List, Text, Whole},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scope::Scope;

/// A token to be made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Whose it is: the name under which it asks or answers.
    pub name: Text<1, 64>,
    /// What it allows.
    pub scopes: List<Scope, 1, 5>,
    /// The people whose words it passes on, whoever asked: for the scope `relay`.
    #[serde(default)]
    pub people: List<Text<1, 64>, 0, 256>,
    /// Whether it passes on what anybody says, about questions of its own program alone: a relay that names no people says so.
    #[serde(default)]
    pub for_anyone: bool,
    /// How long it is good for; otherwise until it is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Whole<1, 31_536_000>>,
}

/// A token as it is shown later.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ShownToken {
    /// Its public name.
    pub id: String,
    /// Whose it is.
    pub name: String,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// The people whose words it passes on; none where it passes on nobody's, or what anybody says about its own questions.
    /// In the order of their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<Vec<String>>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
}

/// A token just made.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct MadeToken {
    /// What it is.
    pub token: ShownToken,
    /// What has to be sent. Nothing keeps it: it is shown once.
    pub secret: String,
}

/// Every token.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedTokens {
    /// The oldest first.
    pub tokens: Vec<ShownToken>,
}
