//! Traces and events, as programs read them.

use demur_core::{commitment::Salt, hash::Digest, time::Timestamp};
use demur_ledger::{
    event_type::TraceKind,
    name::{Position, Sequence, TraceId},
    state::Phase,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Which traces to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceListParameters {
    /// The last trace of the page before.
    pub after: Option<TraceId>,
    /// How many at most, up to 200.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// Which events to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventParameters {
    /// The number of the last event seen; otherwise from the first on.
    pub after: Option<Sequence>,
    /// How many at most, up to 200; fewer come where they are large.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// One page of traces.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedTraces {
    /// The newest first.
    pub traces: Vec<TraceView>,
    /// What to give as `after` for the next page; none at the end.
    pub next: Option<TraceId>,
}

/// A trace.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TraceView {
    /// Its name.
    pub trace: TraceId,
    /// `registry`, `run` or `work`.
    #[schemars(with = "String")]
    pub kind: TraceKind,
    /// How many events it has.
    pub events: u64,
    /// The newest of them.
    pub head: Position,
    /// When it was opened.
    pub opened: Timestamp,
    /// When the newest event was recorded.
    pub changed: Timestamp,
    /// Where a run stands; `failed` too where an integrity violation was found.
    #[schemars(with = "Option<String>")]
    pub phase: Option<Phase>,
    /// The integrity violation that was found, if any.
    pub failed: Option<Violation>,
}

/// An integrity violation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The verifier's code.
    pub code: String,
    /// Where it was found, if at one event.
    pub sequence: Option<Sequence>,
}

/// One page of events.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedEvents {
    /// In the order in which they were recorded.
    pub events: Vec<EventView>,
    /// What to give as `after` for the next page; none at the end.
    pub next: Option<Sequence>,
}

/// An event with what is kept beside it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    /// Its place in the trace.
    pub sequence: Sequence,
    /// Its hash, over the canonical bytes of the envelope.
    pub hash: Digest,
    /// The envelope.
    #[schemars(schema_with = "envelope_schema")]
    pub envelope: Box<RawValue>,
    /// The content that the envelope commits to; none where there is none or it was erased.
    #[schemars(schema_with = "content_schema")]
    pub content: Option<Box<RawValue>>,
    /// What opens the commitment to the content.
    pub salt: Option<Salt>,
    /// Whether there was content that was erased.
    pub erased: bool,
    /// What became of the artifact that it records: `here` or `erased`; none where it records none.
    #[schemars(with = "Option<String>")]
    pub artifact: Option<KeptArtifact>,
}

/// What became of the bytes of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptArtifact {
    /// The store has them.
    Here,
    /// They were erased.
    Erased,
}

impl EventView {
    /// Returns about how many bytes it has.
    pub fn size(&self) -> usize {
        self.envelope.get().len() + self.content.as_ref().map_or(0, |content| content.get().len())
    }
}

fn envelope_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "The envelope as recorded, in canonical JSON. /schemas/ledger/envelope.json describes it.",
    })
}

fn content_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "description": "The content that the envelope commits to; none where there is none or it was erased. The schema of its type is below /schemas/ledger/events.",
    })
}
