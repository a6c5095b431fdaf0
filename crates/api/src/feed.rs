//! What somebody hears who follows every event as it is recorded.

use demur_core::time::Timestamp;
use demur_ledger::name::{PrincipalId, Sequence, TraceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{confirmation::ConfirmationId, question::QuestionId};

/// Where to begin.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedParameters {
    /// The id of the last event seen, `0` for the very first; otherwise what happens from now on. The header
    /// `Last-Event-ID` says the same.
    pub after: Option<String>,
}

/// An event, as far as somebody who follows needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// The trace.
    pub trace: TraceId,
    /// Its place in it.
    pub sequence: Sequence,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// When.
    pub time: Timestamp,
    /// Who.
    pub actor: PrincipalId,
    /// The questions it touches.
    pub questions: Vec<QuestionId>,
    /// The confirmations it touches.
    #[serde(default)]
    pub confirmations: Vec<ConfirmationId>,
}
