//! Clients that judge their own work or confirm their own operation, by everything that the registry in the file says.

use super::super::{
    Code,
    finding::{Findings, Found, Section},
};
use crate::{
    client::{check_confirming, held_roles, wants_distinct},
    envelope::Event,
    meaning::Known,
    registry::Registry,
    state::{State, Step},
    trace_state::TraceState,
};

/// Returns the clients that do the work of a run and judge it although its policy forbids that, by everything that the
/// registry in the file says.
pub(super) fn forbidden_clients(run: &State, registry: &Registry) -> Vec<Found> {
    let held = if wants_distinct(run) { held_roles(run, registry) } else { Vec::new() };
    let found = |held| Found::forbidden(Code::ClientHeldRoles, format!("{held}, and the policy forbids it"));
    held.iter().map(found).collect()
}

/// Returns that a client confirmed or refused its own operation, by everything that the registry in the file says.
pub(super) fn own_confirmation(
    trace: &TraceState,
    registry: &Registry,
    event: &Event,
    known: Known<'_>,
) -> Option<Found> {
    let step = Step::of(event, known).ok()?;
    let error = check_confirming(trace, registry, &step).err()?;
    Some(Found::new(Code::OrderViolation, format!("{error} ({})", error.code())))
}

/// Reports the clients that did the work of a run and judged it where nothing forbids that.
pub(super) fn check_clients(run: &State, registry: &Registry, findings: &mut Findings) {
    if wants_distinct(run) {
        return;
    }
    for held in held_roles(run, registry) {
        findings.add(Section::Trace, None, None, Found::new(Code::ClientHeldRoles, held.to_string()));
    }
}
