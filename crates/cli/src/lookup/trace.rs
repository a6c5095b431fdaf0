//! Which trace is meant, and which run.

use std::ops::RangeInclusive;

use demur_ledger::{event_type::TraceKind, name::TraceId};
use demur_store::contract::Store;

use super::{ENOUGH, Noun, TypedId, prefix};
use crate::failure::Failure;

/// Returns the trace that is meant; `last` is the one in which something happened last.
pub(crate) fn trace(store: &dyn Store, typed: &TypedId) -> Result<TraceId, Failure> {
    if typed.is_last() {
        return store.newest()?.ok_or_else(|| Noun::Trace.none());
    }
    let ids = typed.beginning(Noun::Trace, prefix::of_ulid)?;
    Noun::Trace.one(typed.as_str(), &named(&beginning(store, ids, |_| true)?))
}

/// Returns the run that is meant. `here` are those that were started in this data folder, the newest first: a run that
/// was killed before its first event is among them and not in the store. `last` is the newest of them.
pub(crate) fn run(store: Option<&dyn Store>, here: &[TraceId], typed: &TypedId) -> Result<TraceId, Failure> {
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
    let ids = typed.beginning(Noun::Run, prefix::of_ulid)?;
    let mut found: Vec<TraceId> =
        here.iter().copied().filter(|id| ids.as_ref().is_some_and(|ids| ids.contains(id))).collect();
    if let Some(store) = store {
        found.extend(beginning(store, ids, |kind| kind == TraceKind::Run)?);
    }
    found.sort_unstable();
    found.dedup();
    Noun::Run.one(typed.as_str(), &named(&found))
}

/// Returns the first few traces of a range.
fn beginning(
    store: &dyn Store,
    ids: Option<RangeInclusive<TraceId>>,
    fits: impl Fn(TraceKind) -> bool,
) -> Result<Vec<TraceId>, Failure> {
    let (mut found, Some(ids)) = (Vec::new(), ids) else { return Ok(Vec::new()) };
    prefix::walk(store, ids, |id, kind| {
        if fits(kind) {
            found.push(id);
        }
        Ok(found.len() < ENOUGH)
    })?;
    Ok(found)
}

fn named(found: &[TraceId]) -> Vec<(TraceId, String)> {
    found.iter().map(|id| (*id, id.to_string())).collect()
}
