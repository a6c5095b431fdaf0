//! Events as the store has them, with their words.

use demur_ledger::{
    envelope::Event,
    event_type::Content,
    name::{Sequence, TraceId},
};
use demur_sequencer::{SequencerError, read_event};
use demur_store::contract::{Kept, Store, Stored};

/// Calls `visit` with the events of a trace from a place on, each with its words if they are there, until it returns false.
pub fn walk<E: From<SequencerError>>(
    store: &dyn Store,
    trace: TraceId,
    from: Sequence,
    mut visit: impl FnMut(Event, Option<Content>) -> Result<bool, E>,
) -> Result<(), E> {
    let mut next = from;
    loop {
        let page = store.events(trace, next, EVENTS_PER_READ).map_err(SequencerError::from)?;
        if page.is_empty() {
            return Ok(());
        }
        for stored in page {
            let (event, content) = opened(trace, next, stored)?;
            if !visit(event, content)? {
                return Ok(());
            }
            next = next.next();
        }
    }
}

/// Returns one event of a trace with its words.
pub fn read(
    store: &dyn Store,
    trace: TraceId,
    sequence: Sequence,
) -> Result<(Event, Option<Content>), SequencerError> {
    find(store, trace, sequence)?.ok_or_else(|| damaged(trace, sequence))
}

/// Returns one event of a trace with its words, if there is one at a place that a caller named.
pub fn find(
    store: &dyn Store,
    trace: TraceId,
    sequence: Sequence,
) -> Result<Option<(Event, Option<Content>)>, SequencerError> {
    store.events(trace, sequence, 1)?.pop().map(|stored| opened(trace, sequence, stored)).transpose()
}

fn opened(
    trace: TraceId,
    sequence: Sequence,
    stored: Stored,
) -> Result<(Event, Option<Content>), SequencerError> {
    let event = read_event(trace, sequence, &stored)?;
    let kind = event.said().ok().and_then(|said| said.facts.event_type());
    let content = match (stored.content, kind) {
        (Kept::Here(opening), Some(kind)) => Content::parse(kind, &opening.bytes).ok(),
        _ => None,
    };
    Ok((event, content))
}

/// Returns the error of an event that cannot be what it is said to be.
pub(crate) const fn damaged(trace: TraceId, sequence: Sequence) -> SequencerError {
    SequencerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" }
}

/// How many events are read at a time.
const EVENTS_PER_READ: usize = 256;
