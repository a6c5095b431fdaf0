//! Which plan is meant, by its session. The trace of a plan has the number of its session, so that one index finds both.

use demur_clarify::uuid::Uuid;
use demur_desk::{record, session::trace_of};
use demur_ledger::{
    event_type::{Facts, TraceKind},
    name::{Sequence, TraceId},
};
use demur_sequencer::SequencerError;
use demur_store::contract::{Store, StoreError, TraceSummary};

use super::{ENOUGH, Noun, TypedId, prefix};
use crate::failure::Failure;

/// Returns the session that is meant; `last` is the one that was submitted last.
pub(crate) fn session(store: &dyn Store, typed: &TypedId) -> Result<Uuid, Failure> {
    // A whole id is looked at where it is used.
    if let Ok(whole) = typed.as_str().parse() {
        return Ok(whole);
    }
    if typed.is_last() {
        let newest = newest(|after| {
            let PlanPage { plans, next } = plan_page(store, after, 1)?;
            Ok((plans.first().map(|(session, _)| *session), next))
        });
        return newest?.ok_or_else(|| Noun::Plan.none());
    }
    let ids = typed.beginning(Noun::Plan, prefix::of_uuid)?;
    let mut found = Vec::new();
    if let Some(ids) = ids {
        prefix::walk(store, ids, |trace, kind| {
            if kind == TraceKind::Work
                && let Some(session) = session_of(store, trace)?
            {
                found.push((session, session.to_string()));
            }
            Ok(found.len() < ENOUGH)
        })?;
    }
    Noun::Plan.one(typed.as_str(), &found)
}

/// Returns the first plan of the pages that `look` returns, each with where the next one begins, however many have none.
fn newest(
    mut look: impl FnMut(Option<TraceId>) -> Result<(Option<Uuid>, Option<TraceId>), Failure>,
) -> Result<Option<Uuid>, Failure> {
    let mut after = None;
    loop {
        match look(after)? {
            (None, next @ Some(_)) => after = next,
            (found, _) => return Ok(found),
        }
    }
}

/// Some plans, the newest first.
pub(crate) struct PlanPage {
    /// Each by its session.
    pub(crate) plans: Vec<(Uuid, TraceSummary)>,
    /// The last trace that was looked at, if there are others behind it.
    pub(crate) next: Option<TraceId>,
}

/// Returns up to so many plans that were submitted before a trace was opened. Most traces are single questions: after so
/// many of them the page ends, and says where to go on.
pub(crate) fn plan_page(
    store: &dyn Store,
    after: Option<TraceId>,
    limit: usize,
) -> Result<PlanPage, Failure> {
    let (mut plans, mut next, mut looked) = (Vec::new(), after, 0);
    loop {
        let page = store.traces(next, PAGE)?;
        let full = page.len() == PAGE;
        for (at, summary) in page.iter().enumerate() {
            next = Some(summary.trace);
            looked += 1;
            if summary.kind == TraceKind::Work
                && let Some(session) = session_of(store, summary.trace)?
            {
                plans.push((session, summary.clone()));
            }
            if plans.len() == limit || looked == MAX_LOOKED {
                let more = full || at + 1 < page.len();
                return Ok(PlanPage { plans, next: next.filter(|_| more) });
            }
        }
        if !full {
            return Ok(PlanPage { plans, next: None });
        }
    }
}

/// Returns the session of a trace that begins with a plan.
fn session_of(store: &dyn Store, trace: TraceId) -> Result<Option<Uuid>, Failure> {
    let event = match record::read(store, trace, Sequence::FIRST) {
        Ok((event, _)) => event,
        // `demur store check` says what is wrong with it.
        Err(SequencerError::Damaged { .. } | SequencerError::Store(StoreError::TraceNewer { .. })) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let is_plan = event.said().is_ok_and(|said| matches!(said.facts, Facts::PlanSubmitted(_)));
    let session = Uuid::try_from(trace.as_ulid().as_u128()).ok();
    Ok(session.filter(|session| is_plan && trace_of(*session) == trace))
}

/// How many traces are read at a time.
const PAGE: usize = 256;
/// How many traces are looked at for one page.
const MAX_LOOKED: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Thousands of questions may have been asked since the last plan.
    #[test]
    fn the_newest_plan_is_found_behind_pages_without_plans() {
        let next: TraceId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let plan: Uuid = "018f3b6a-1c2d-7e3f-8a4b-5c6d7e8f9a0b".parse().unwrap();
        let pages = |last| {
            let mut pages = vec![(None, Some(next)), (None, Some(next)), last].into_iter();
            newest(|_| Ok(pages.next().unwrap()))
        };
        assert_eq!(pages((Some(plan), Some(next))).unwrap(), Some(plan));
        assert_eq!(pages((None, None)).unwrap(), None);
    }
}
