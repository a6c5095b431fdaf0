//! What a decision needs besides the state, looked up by whoever calls: the state keeps only what is open.

use demur_core::hash::Digest;
use demur_ledger::{
    content::QuestionContent,
    meaning::ArtifactDigests,
    name::{Position, TraceId},
    registry::Registry,
};

/// What was looked up for one command.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// The registry the decision goes by; commands to the registry itself go by its own state.
    pub registry: &'a Registry,
    /// The hash of this trace's event at the place that the statement's `seen` names, if there is one.
    pub seen: Option<Digest>,
    /// The words of the question that a statement answers, where they are still there.
    pub question: Option<Box<QuestionContent>>,
    /// The bytes of the artifacts that a statement rests on, by digest, where they are still there.
    pub artifacts: ArtifactDigests,
    /// Whether the check that a statement states is true, where the bytes it looks into are still there.
    pub check: Option<bool>,
    /// What this (author key, command id) became before, in whatever trace.
    pub earlier: Option<Earlier<'a>>,
}

/// An event that came of the same command id.
#[derive(Clone, Copy, Debug)]
pub struct Earlier<'a> {
    /// The exact bytes that were signed then.
    pub statement: &'a [u8],
    /// Its trace.
    pub trace: TraceId,
    /// Its place.
    pub position: Position,
}
