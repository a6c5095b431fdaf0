//! Traces as callers see them: listed, looked at event by event, exported, with their artifacts and receipts (ONE-04,
//! CLR-03). Whoever may `read` sees all; others see the traces they take part in, and the list is for readers only.

mod bytes;
mod handle;
mod overview;

use demur_api::{code::Code, refusal::Refusal};
use demur_ledger::{
    event_type::TraceKind,
    name::{Sequence, TraceId},
};
use demur_sequencer::SequencerError;
use demur_store::contract::{Stored, TraceSummary};

pub use self::overview::{TraceOverview, TraceVerdict};

use crate::{
    access::{Caller, check_trace},
    owner::Owner,
};

/// Returns a trace that this caller may read.
fn seen(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<TraceSummary, Refusal> {
    let found = owner.ledger().store().trace(trace)?.ok_or(SequencerError::TraceUnknown { trace });
    check_trace(owner, caller, trace)?;
    Ok(found?)
}

fn event(owner: &Owner, trace: TraceId, sequence: Sequence) -> Result<Stored, Refusal> {
    owner.ledger().store().events(trace, sequence, 1)?.pop().ok_or_else(|| unknown_event(trace, sequence))
}

fn unknown_event(trace: TraceId, sequence: Sequence) -> Refusal {
    let message = format!("expected an event of trace {trace}, found none with the number {sequence}");
    Refusal::new(Code::EventUnknown, message)
}

/// Returns up to so many traces, the newest first and without the registry, and the last of them where there are more.
fn listed(
    owner: &Owner,
    after: Option<TraceId>,
    limit: usize,
) -> Result<(Vec<TraceSummary>, Option<TraceId>), Refusal> {
    let store = owner.ledger().store();
    if let Some(trace) = after
        && store.trace(trace)?.is_none()
    {
        return Err(SequencerError::TraceUnknown { trace }.into());
    }
    // One more for the registry, one more to know whether there are more.
    let mut found = store.traces(after, limit + 2)?;
    found.retain(|summary| summary.kind != TraceKind::Registry);
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| last.trace);
    Ok((found, next))
}
