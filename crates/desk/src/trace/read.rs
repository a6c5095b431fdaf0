//! Traces and their events, filled in from a store.

use demur_api::{
    refusal::Refusal,
    trace::{
        EventParameters, EventView, KeptArtifact, ListedEvents, ListedTraces, TraceListParameters, TraceView,
        Violation,
    },
};
use demur_ledger::{
    event_type::TraceKind,
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_sequencer::SequencerError;
use demur_store::contract::{Kept, Store, Stored, TraceSummary};
use serde_json::value::RawValue;

use crate::excerpt;

/// Returns one page of traces, the newest first. The registry is no piece of work and is left out.
pub fn list(store: &dyn Store, parameters: &TraceListParameters) -> Result<ListedTraces, Refusal> {
    let (found, next) = summaries(store, parameters.after, limit(parameters.limit)?)?;
    Ok(ListedTraces { traces: found.into_iter().map(view).collect(), next })
}

/// Returns up to so many traces, the newest first and without the registry, and the last of them where there are more.
pub(super) fn summaries(
    store: &dyn Store,
    after: Option<TraceId>,
    limit: usize,
) -> Result<(Vec<TraceSummary>, Option<TraceId>), Refusal> {
    if let Some(trace) = after {
        summary(store, trace)?;
    }
    // One more for the registry, one more to know whether there are more.
    let mut found = store.traces(after, limit + 2)?;
    found.retain(|summary| summary.kind != TraceKind::Registry);
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| last.trace);
    Ok((found, next))
}

/// Says what a trace is.
pub fn show(store: &dyn Store, trace: TraceId) -> Result<TraceView, Refusal> {
    Ok(view(summary(store, trace)?))
}

/// Returns one page of the events of a trace, in order.
pub fn events(
    store: &dyn Store,
    trace: TraceId,
    parameters: &EventParameters,
) -> Result<ListedEvents, Refusal> {
    let (limit, head) = (limit(parameters.limit)?, summary(store, trace)?.head.sequence);
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut next = parameters.after.map_or(Sequence::FIRST, Sequence::next);
    // Content can be large: a page ends where it has grown enough.
    while events.len() < limit && bytes < PAGE_BYTES && next <= head {
        let Some(stored) = store.events(trace, next, 1)?.pop() else { break };
        let shown = event_view(trace, next, stored)?;
        bytes += shown.size();
        events.push(shown);
        next = next.next();
    }
    let last = events.last().map(|event: &EventView| event.sequence);
    Ok(ListedEvents { next: last.filter(|last| *last < head), events })
}

fn summary(store: &dyn Store, trace: TraceId) -> Result<TraceSummary, Refusal> {
    Ok(store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?)
}

pub(super) fn view(summary: TraceSummary) -> TraceView {
    let TraceSummary { trace, kind, head, opened, changed, phase, failed, .. } = summary;
    let failed = failed.map(|failure| Violation { code: failure.code, sequence: failure.sequence });
    let events = head.sequence.next().number();
    // Nothing follows a violation, whatever the record says of itself.
    let phase = phase.map(|phase| if failed.is_some() { Phase::Failed } else { phase });
    TraceView { trace, kind, events, head, opened, changed, phase, failed }
}

fn event_view(trace: TraceId, sequence: Sequence, stored: Stored) -> Result<EventView, Refusal> {
    excerpt::refuse_newer(trace, sequence, &stored)?;
    let raw = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok();
        let raw = text.and_then(|text| RawValue::from_string(text).ok());
        raw.ok_or(SequencerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" })
    };
    let erased = matches!(stored.content, Kept::Erased);
    let (content, salt) = match stored.content {
        Kept::Here(opening) => (Some(raw(opening.bytes)?), Some(opening.salt)),
        Kept::Absent | Kept::Erased => (None, None),
    };
    let artifact = match stored.artifact {
        Kept::Here(_) => Some(KeptArtifact::Here),
        Kept::Erased => Some(KeptArtifact::Erased),
        Kept::Absent => None,
    };
    Ok(EventView {
        sequence,
        hash: stored.hash,
        envelope: raw(stored.bytes)?,
        content,
        salt,
        erased,
        artifact,
    })
}

/// Checks how much of a trace is asked for.
pub(super) fn check(parameters: &EventParameters) -> Result<(), Refusal> {
    limit(parameters.limit).map(drop)
}

fn limit(wanted: Option<usize>) -> Result<usize, Refusal> {
    let limit = wanted.unwrap_or(50);
    if (1..=200).contains(&limit) {
        Ok(limit)
    } else {
        Err(Refusal::malformed(format!("limit: expected 1 to 200, found {limit}")))
    }
}

/// How large a page of events grows before it ends.
const PAGE_BYTES: usize = 1 << 20;
