//! What the tools about accountable runs take.

use demur_ledger::name::{Sequence, TraceId};
use schemars::JsonSchema;
use serde::Deserialize;

/// Which traces to list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListSessions {
    /// `next` of the page before.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(crate) after: Option<TraceId>,
}

/// A trace, and where to begin in it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowSession {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    /// `next` of the page before.
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    pub(crate) after: Option<Sequence>,
    /// The event of an artifact, to read its text.
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    pub(crate) artifact: Option<Sequence>,
}

/// A trace.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifySession {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
}
