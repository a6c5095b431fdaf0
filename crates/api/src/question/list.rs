//! One page of a list of questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::QuestionView;

/// One page of questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// The questions, in the order in which they were asked; the other way round if the newest were wanted first.
    pub questions: Vec<QuestionView>,
    /// Where the next page begins; none at the end.
    pub next: Option<String>,
}
