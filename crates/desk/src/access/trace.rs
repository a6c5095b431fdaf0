//! Who may read a trace, and as whom a caller speaks in a run.

use std::sync::Arc;

use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_ledger::{author::Author, name::TraceId, role::Role};

use super::Caller;
use crate::{owner::Owner, run};

/// Checks that a caller may read this trace; one that it may not read is as unknown as one that is not there.
pub(crate) fn check_trace(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<(), Refusal> {
    if may_read(owner, caller, trace)? {
        return Ok(());
    }
    let message = format!("expected a trace of this data folder, found none called {trace}");
    Err(Refusal::new(Code::TraceUnknown, message).with_cure("a token reads the traces it takes part in"))
}

/// Returns whether a caller may read a trace: it may read everything, or it takes part, also with a key of its own for a
/// role in a run.
pub(crate) fn may_read(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<bool, Refusal> {
    if caller.may(&[Scope::Read]) {
        return Ok(true);
    }
    let Caller::Token(token) = caller else { return Ok(false) };
    let Some(principal) = token.principal else { return Ok(false) };
    let state = owner.sequencer().look(trace)?;
    let takes_part = |principal| state.trace().is_some_and(|trace| trace.has_participant(principal));
    Ok(takes_part(principal) || caller.seats(owner)?.into_iter().any(|(_, own)| takes_part(own)))
}

/// Returns whoever asks in a run: the caller in its role there. Of several, whoever does the work asks first.
pub(crate) fn player_in(
    owner: &Owner,
    caller: &Caller,
    trace: TraceId,
    name: Option<&str>,
) -> Result<Arc<Author>, Refusal> {
    let player = caller.player(owner, name)?;
    // Only which of its keys the caller speaks with: whether that one may speak, the commit decides.
    let taking_part = owner.sequencer().store().participants(trace)?;
    let seats = run::seats(owner, &player)?;
    let plays = |role: Role| {
        let mut own = seats.iter().filter(|(seat, _)| *seat == role);
        own.any(|(_, principal)| taking_part.iter().any(|other| other.principal == *principal))
    };
    let first = [Role::Executor, Role::Planner, Role::Critic, Role::Auditor];
    let role = first.into_iter().find(|role| plays(*role)).unwrap_or(Role::Executor);
    let author = run::author(owner, &player, role)?;
    run::speaks(owner, &caller.playing_as(&player)?, trace, &author)?;
    Ok(author)
}
