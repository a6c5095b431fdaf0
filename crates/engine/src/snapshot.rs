//! The state of a trace as bytes, so that a long trace need not be read from its beginning. Disposable: bytes of another
//! version, or damaged ones, are no snapshot, and the trace is read instead.

use demur_core::hash::sha256;
use demur_ledger::{envelope::Event, trace_state::TraceState};
use serde::{Deserialize, Serialize};

use crate::state::{Refusals, State};

/// The version of the form below and of everything in it. It changes whenever [`State`] does.
pub const VERSION: u32 = 10;

/// Returns the state of a trace as bytes; none for the registry, which is short, and none for a trace that failed an
/// integrity check: nobody goes on from there.
pub fn to_bytes(state: &State) -> Option<Vec<u8>> {
    if state.is_failed() {
        return None;
    }
    let trace = state.trace().filter(|trace| trace.head().is_some())?;
    let form = Form { trace, refusals: state.refusals() };
    let body = serde_json::to_vec(&form).ok()?;
    let mut bytes = sha256(&body).as_bytes().to_vec();
    bytes.extend(body);
    Some(bytes)
}

/// Returns the state in these bytes, which were taken right after this event.
pub fn from_bytes(bytes: &[u8], newest: &Event) -> Option<State> {
    let (digest, body) = bytes.split_first_chunk::<32>()?;
    if sha256(body).as_bytes() != digest {
        return None;
    }
    let Owned { trace, refusals } = serde_json::from_slice(body).ok()?;
    let fits = trace.head() == Some(newest.position());
    fits.then(|| State::from_parts(newest, trace, refusals))
}

#[derive(Serialize)]
struct Form<'a> {
    refusals: &'a Refusals,
    trace: &'a TraceState,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Owned {
    refusals: Refusals,
    trace: TraceState,
}
