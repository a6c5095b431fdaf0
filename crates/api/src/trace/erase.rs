//! Erasing the words of an event, as programs ask for it.

use demur_core::limit::Text;
use demur_ledger::name::{Sequence, TraceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Erases the words of an event for good.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraseEvent {
    /// Why, for the record. It stays, so it must not repeat what is erased.
    pub why: Text<1, 3800>,
}

/// What was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErasedEvent {
    /// The trace.
    pub trace: TraceId,
    /// The event whose words are gone.
    pub event: Sequence,
    /// Its type, such as `question_answered`.
    pub kind: String,
    /// The papers that quoted it, which are gone too.
    pub papers: Vec<Sequence>,
    /// The event that records it; none where it had been erased before.
    pub recorded: Option<Sequence>,
}
