//! What a hook of a client asks: which questions stop an agent now.

use demur_core::limit::{List, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{confirmation::ConfirmationView, question::QuestionView};

/// Whom a hook stops.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// The names under which they ask.
    pub askers: List<Text<1, 64>, 1, 16>,
    /// Whether the hook is taken out.
    #[serde(default)]
    pub off: bool,
}

/// What stops somebody.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Stopped {
    /// The questions and gaps that block and are not settled, the oldest first.
    pub questions: Vec<QuestionView>,
    /// The operations of theirs that wait for a yes or a no, the oldest first.
    #[serde(default)]
    pub confirmations: Vec<ConfirmationView>,
    /// Where people answer in a browser.
    pub address: Option<String>,
}
