//! What happened to a question, and what was done on answers to it that no longer count.

use demur_core::time::Timestamp;
use demur_ledger::{facts::Assurance, name::Sequence, question::RestedEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened to a question, and whether that is all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionHistory {
    /// The events that are about it, in their order.
    pub events: Vec<QuestionEvent>,
    /// Whether there are more, or the trace is too long to be read for this.
    pub is_cut: bool,
    /// What was done on answers that were replaced or taken back later.
    pub rested: Vec<RestedEvent>,
}

/// One thing that happened to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionEvent {
    /// Its place in the trace.
    pub sequence: Sequence,
    /// The type of the event, such as `question_answered`; none where this version does not know it.
    pub kind: Option<String>,
    /// The name of whoever did it, or of whoever it was done for.
    pub who: String,
    /// How sure one can be who did it; none where nobody but demur did, or it is no act on the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// When.
    pub time: Timestamp,
}
