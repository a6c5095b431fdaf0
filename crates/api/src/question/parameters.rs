//! What stands in the query of a request about questions.

use demur_ledger::{facts::Severity, name::TraceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a question is asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskParameters {
    /// How many seconds to wait for the answer, up to 300.
    #[schemars(range(max = 300))]
    pub wait: Option<u64>,
    /// The name under which the user of this machine asks.
    #[serde(rename = "as")]
    #[schemars(length(min = 1, max = 64))]
    pub asker: Option<String>,
    /// The conversation it belongs to, for a client that may repeat itself: if the same question of it is open, or nobody
    /// has heard yet what became of it, that one is given and nothing is recorded. It makes a retry safe by itself: an
    /// Idempotency-Key beside it is for `again` only.
    #[schemars(length(min = 1, max = 256))]
    pub once: Option<String>,
    /// Ask anew all the same.
    pub again: Option<bool>,
}

/// How long to wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitParameters {
    /// How many seconds, up to 300.
    #[schemars(range(max = 300))]
    pub seconds: Option<u64>,
}

/// Which questions to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionListParameters {
    /// Only those in these states, with commas between them, such as `open`.
    pub state: Option<String>,
    /// Only those of this trace.
    pub trace: Option<TraceId>,
    /// Only those of this severity.
    pub severity: Option<Severity>,
    /// Only those that people may answer, or only those that they may not.
    pub people: Option<bool>,
    /// Only what the caller asked.
    pub mine: Option<bool>,
    /// The newest first.
    pub newest: Option<bool>,
    /// Open questions in turns: one of each asker, then a second one of each, the oldest first in each round. For callers that see
    /// every question; others have what they see in the order of asking.
    pub turns: Option<bool>,
    /// The cursor that the page before gave.
    pub after: Option<String>,
    /// How many at most, up to 200.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}
