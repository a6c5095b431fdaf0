//! The store itself: a checkpoint over it, what a look at all of it finds, and which ids begin so.

use demur_core::hash::Digest;
use demur_ledger::name::{Position, Sequence, TraceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A checkpoint on record.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RecordedCheckpoint")]
pub struct CheckpointView {
    /// The registry event that holds it.
    pub event: Position,
    /// The registry.
    pub registry: TraceId,
    /// One hash over the newest event of every trace.
    pub root: Digest,
    /// How many traces it covers.
    pub traces: u64,
}

/// What a look at a whole store found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreCheck {
    /// Traces that do not hold and were marked as failed, now or before.
    pub marked: Vec<TraceId>,
    /// What is wrong, and what to do about it.
    pub problems: Vec<StoreTrouble>,
    /// How much there is.
    pub size: StoreSize,
}

/// How many traces and events there are, the registry included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreSize {
    /// Events of all traces.
    pub events: u64,
    /// Traces.
    pub traces: u64,
}

/// Something that is wrong with a store: where, what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreTrouble {
    /// What is wrong.
    pub cause: String,
    /// The same for programs.
    pub code: String,
    /// What to do.
    pub cure: String,
    /// The event, if it is about one.
    pub sequence: Option<Sequence>,
    /// The trace, if it is about one.
    pub trace: Option<TraceId>,
}

/// How far the check of the store is that goes on now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreCheckProgress {
    /// What is looked at; none where no check goes on.
    pub part: Option<StoreCheckPart>,
    /// How much of that is done.
    pub done: u64,
    /// How much there is.
    pub total: u64,
}

/// A part of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoreCheckPart {
    /// The structure of the database.
    Structure,
    /// Events, one by one.
    Events,
    /// Traces, as the verifier sees their exports.
    Traces,
}

/// What an id that somebody typed may mean.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindParameters {
    /// What it is to be the id of.
    pub kind: IdKind,
    /// The beginning of the id; `last` for the newest, `registry` for the trace of the keys.
    pub typed: String,
}

/// What has an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdKind {
    /// A question.
    Question,
    /// A trace.
    Trace,
    /// A plan, by its session.
    Plan,
    /// A run, by its trace.
    Run,
}

/// The ids that begin so.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundIds {
    /// At most six: one more than anybody is told of, which says that there are more.
    pub ids: Vec<String>,
}
