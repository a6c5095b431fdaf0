//! A run as it is recorded, folded event by event.

use demur_api::{code::Code, refusal::Refusal};
use demur_core::hash::Digest;
use demur_ledger::{
    content::Opening,
    entry::Address,
    envelope::Event,
    event_type::TraceKind,
    name::{Sequence, TraceId},
    state::{GuardError, Phase},
};
use demur_run::history::History;
use demur_sequencer::{SequencerError, read_event};
use demur_store::contract::{Kept, Store, TraceSummary};

use crate::owner::Owner;

/// Takes into a history what is recorded after its last event, and calls `tell` with it.
pub fn read_on<E: From<Refusal>>(
    store: &dyn Store,
    trace: TraceId,
    history: &mut History,
    mut tell: impl FnMut(&Event, Option<&Opening>) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        let from = next(history)?;
        let page = store.events(trace, from, EVENTS_PER_READ).map_err(Refusal::from)?;
        if page.is_empty() {
            return Ok(());
        }
        for stored in page {
            let sequence = next(history)?;
            let event = read_event(trace, sequence, &stored).map_err(Refusal::from)?;
            let opening = match stored.content {
                Kept::Here(opening) => Some(opening),
                Kept::Absent | Kept::Erased => None,
            };
            let content = opening.as_ref().map(|opening| &opening.bytes[..]);
            let guarded = |error: GuardError| SequencerError::Damaged { trace, sequence, code: error.code() };
            let taken = history.take_with(&event, content, &mut bytes_in(store));
            taken.map_err(|error| Refusal::from(guarded(error)))?;
            if let Kept::Here(place) = &stored.artifact {
                history.learn(sequence, *place.address.as_digest());
            }
            tell(&event, opening.as_ref())?;
        }
    }
}

/// Looks bytes up by their digest. What cannot be read is not known.
pub fn bytes_in(store: &dyn Store) -> impl FnMut(&Digest) -> Option<Vec<u8>> {
    |digest| store.artifact(&Address::from_digest(*digest)).ok().flatten()
}

/// Returns what the store has of a run; another kind of trace is refused.
pub fn check_run(store: &dyn Store, trace: TraceId) -> Result<TraceSummary, Refusal> {
    let summary = store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
    if summary.kind == TraceKind::Run {
        return Ok(summary);
    }
    let message = format!("expected the trace of a run, found one of {}", summary.kind.as_str());
    Err(Refusal::new(Code::NotARun, message).about("trace").with_cure("name the trace of a run"))
}

/// Returns whether a trace is that of a run that is over: nothing can be recorded there any more.
pub fn is_over(owner: &Owner, trace: TraceId) -> Result<bool, Refusal> {
    let summary = owner.sequencer().store().trace(trace)?;
    Ok(summary.and_then(|summary| summary.phase).is_some_and(Phase::is_final))
}

fn next(history: &History) -> Result<Sequence, Refusal> {
    Sequence::try_from(history.state().length()).map_err(|error| Refusal::bug(&error))
}

/// How many events are read at a time.
const EVENTS_PER_READ: usize = 1000;
