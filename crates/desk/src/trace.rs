//! Traces as callers see them: listed, looked at event by event, exported, with their artifacts and receipts (ONE-04,
//! CLR-03). Whoever may `read` sees all; others see the traces they take part in, and the list is for readers only.

mod bytes;
mod erase;
mod handle;
mod overview;
mod read;

pub use read::{events, list, show};

use demur_api::{code::Code, refusal::Refusal};
use demur_ledger::name::{Sequence, TraceId};
use demur_sequencer::SequencerError;
use demur_store::contract::{Stored, TraceSummary};

pub use self::overview::{TraceOverview, TraceVerdict};

use crate::{
    access::{Caller, check_trace},
    owner::Owner,
};

/// Returns a trace that this caller may read.
fn seen(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<TraceSummary, Refusal> {
    let found = owner.sequencer().store().trace(trace)?.ok_or(SequencerError::TraceUnknown { trace });
    check_trace(owner, caller, trace)?;
    Ok(found?)
}

fn event(owner: &Owner, trace: TraceId, sequence: Sequence) -> Result<Stored, Refusal> {
    owner.sequencer().store().events(trace, sequence, 1)?.pop().ok_or_else(|| unknown_event(trace, sequence))
}

fn unknown_event(trace: TraceId, sequence: Sequence) -> Refusal {
    let message = format!("expected an event of trace {trace}, found none with the number {sequence}");
    Refusal::new(Code::EventUnknown, message)
}
