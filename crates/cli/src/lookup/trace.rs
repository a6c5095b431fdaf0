//! Which trace is meant, and which run.

use demur_api::store::IdKind;
use demur_clarify::uuid::Uuid;
use demur_ledger::name::TraceId;

use super::{Noun, TypedId, parsed};
use crate::{failure::Failure, reader::Find};

/// Returns the trace that is meant; `last` is the one in which something happened last.
pub(crate) fn trace(at: &impl Find, typed: &TypedId) -> Result<TraceId, Failure> {
    if typed.is_last() {
        let newest = parsed::<TraceId>(&at.find(IdKind::Trace, typed.as_str())?);
        return newest.first().map(|(id, _)| *id).ok_or_else(|| Noun::Trace.none());
    }
    typed.check_length(Noun::Trace)?;
    let found = parsed(&at.find(IdKind::Trace, typed.as_str())?);
    if found.is_empty()
        && let Some(session) = of_session(at, typed)?
    {
        return Ok(session);
    }
    Noun::Trace.one(typed.as_str(), &found)
}

/// Returns the trace of a plan, where its session is what was typed: that is what everything about plans names.
fn of_session(at: &impl Find, typed: &TypedId) -> Result<Option<TraceId>, Failure> {
    let found: Vec<(Uuid, String)> = parsed(&at.find(IdKind::Plan, typed.as_str())?);
    if found.is_empty() {
        return Ok(None);
    }
    Noun::Plan.one(typed.as_str(), &found).map(|session| Some(TraceId::of_session(session.as_u128())))
}

/// Returns the trace that is meant, which may be the one of the keys.
pub(crate) fn any_trace(at: &impl Find, typed: &TypedId) -> Result<TraceId, Failure> {
    if typed.as_str() != REGISTRY {
        return trace(at, typed);
    }
    let registry = parsed::<TraceId>(&at.find(IdKind::Trace, REGISTRY)?);
    registry.first().map(|(id, _)| *id).ok_or_else(|| Noun::Trace.none())
}

/// Returns the run that is meant. `here` are those that were started in this data folder, the newest first: a run that
/// was killed before its first event is among them and not in the store. `last` is the newest of them.
pub(crate) fn run(at: Option<&impl Find>, here: &[TraceId], typed: &TypedId) -> Result<TraceId, Failure> {
    if typed.is_last() {
        return here.first().copied().ok_or_else(|| {
            Failure::input("NO_RUN", "expected a run that was started here, found none")
                .with_hint("start one with `demur run --task FILE`")
        });
    }
    // A whole id is looked at where it is used: what is wrong with it is said there.
    if let Ok(whole) = typed.as_str().parse() {
        return Ok(whole);
    }
    typed.check_length(Noun::Run)?;
    let beginning = typed.as_str().to_ascii_uppercase();
    let mut found: Vec<TraceId> =
        here.iter().copied().filter(|id| id.to_string().starts_with(&beginning)).collect();
    if let Some(at) = at {
        found.extend(parsed::<TraceId>(&at.find(IdKind::Run, typed.as_str())?).iter().map(|(id, _)| *id));
    }
    found.sort_unstable();
    found.dedup();
    let named: Vec<_> = found.iter().map(|id| (*id, id.to_string())).collect();
    Noun::Run.one(typed.as_str(), &named)
}

/// What stands for the trace of the keys.
pub(crate) const REGISTRY: &str = "registry";
