//! Clients that judge their own work or confirm their own operation, by what the registry said at the event that each pins.

use super::super::{
    Code,
    finding::{Findings, Found, Section},
};
use crate::{
    client::{check_confirming, check_distinct, held_roles, wants_distinct},
    envelope::Event,
    meaning::{Known, MeaningError},
    name::Sequence,
    registry::Registry,
    state::{State, Step},
    trace_state::TraceState,
};

/// Returns that a client judged its own work although the policy forbids that, or confirmed or refused its own operation: what
/// the desk would have refused.
pub(super) fn own_judge(
    trace: &TraceState,
    registry: &Registry,
    event: &Event,
    known: Known<'_>,
) -> Vec<Found> {
    let Ok(step) = Step::of(event, known) else { return Vec::new() };
    let at = pinned(event);
    let confirmed = check_confirming(trace, registry, at, &step).err();
    let confirmed =
        confirmed.map(|error| Found::new(Code::OrderViolation, format!("{error} ({})", error.code())));
    let judged = trace.run().and_then(|run| check_distinct(run, registry, at, &step).err());
    confirmed.into_iter().chain(judged.as_ref().map(forbidden)).collect()
}

fn forbidden(error: &MeaningError) -> Found {
    let words = match error {
        MeaningError::ClientHeldRoles(held) => format!("{held}, and the policy forbids it"),
        // A role whose client is not on record.
        other => other.to_string(),
    };
    Found::forbidden(error.finding(), words)
}

/// Returns the position of the registry that an event pins.
fn pinned(event: &Event) -> Sequence {
    event.envelope().registry.map_or(Sequence::FIRST, |pin| pin.sequence)
}

/// Reports the clients that did the work of a run and judged it where nothing forbids that, as of its last event.
pub(super) fn check_clients(run: &State, registry: &Registry, at: Sequence, findings: &mut Findings) {
    if wants_distinct(run) {
        return;
    }
    for held in held_roles(run, registry, at) {
        findings.add(Section::Trace, None, None, Found::new(Code::ClientHeldRoles, held.to_string()));
    }
}
