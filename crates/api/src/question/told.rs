//! Who was shown which questions, and who has heard what became of them.

use demur_core::limit::{List, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::QuestionId;

/// Questions that were put before somebody.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deliveries {
    /// Which.
    pub questions: List<QuestionId, 1, 200>,
    /// The way they went, such as `terminal`.
    pub channel: Text<1, 64>,
    /// Before whom, where they went through somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Text<1, 256>>,
}

/// Questions whose outcome their asker has heard.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    /// Which.
    pub questions: List<QuestionId, 1, 200>,
}
