//! `demur checkpoint`: the registry fixes, by one hash, what every trace of the store holds at this moment.

use demur_core::hash::Digest;
use demur_ledger::{
    envelope::Event,
    event_type::Facts,
    facts::CheckpointRecorded,
    name::{Position, TraceId},
};
use serde::Serialize;

use crate::{
    borrow,
    context::Context,
    failure::Failure,
    output::{Paint, Reply, counted},
    owner::Owner,
};

/// Records a checkpoint.
pub(crate) fn run(context: &mut Context<'_>) -> Result<(), Failure> {
    let owner = borrow::open(&context.data()?)?;
    let recorded = owner.ledger().checkpoint()?;
    let facts = facts(&owner, recorded.trace, recorded.position)?;
    context.output.reply(&CheckpointReply {
        event: recorded.position,
        registry: recorded.trace,
        root: facts.root,
        traces: facts.traces.as_u64(),
    })
}

fn facts(owner: &Owner, trace: TraceId, at: Position) -> Result<CheckpointRecorded, Failure> {
    let stored = owner.ledger().store().events(trace, at.sequence, 1)?;
    let event = stored.first().and_then(|stored| Event::parse(&stored.bytes).ok());
    match event.as_ref().and_then(|event| event.said().ok()).map(|said| said.facts) {
        Some(Facts::CheckpointRecorded(facts)) => Ok(facts.clone()),
        _ => Err(Failure::bug(&"a checkpoint that was just recorded is not there")),
    }
}

#[derive(Serialize)]
struct CheckpointReply {
    /// The registry event that holds it.
    event: Position,
    registry: TraceId,
    root: Digest,
    traces: u64,
}

impl Reply for CheckpointReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let traces = counted(self.traces, "trace");
        vec![
            format!("{} {traces}, the registry among them.", paint.good("Recorded a checkpoint over")),
            format!("  root         {}", self.root),
            format!("  event        {} of the registry, {}", self.event.sequence, self.event.hash),
            "Keep the event's number and hash elsewhere: `demur verify --against` tells then if anything was rewritten."
                .to_owned(),
        ]
    }
}
