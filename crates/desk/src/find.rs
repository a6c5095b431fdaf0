//! Which ids begin so: ids sort as numbers, and an index finds a range of them without looking at the rest. What somebody is
//! told about none or many is for whoever asked.

mod prefix;

use std::ops::RangeInclusive;

use demur_api::{
    question::QuestionId,
    refusal::Refusal,
    store::{FindParameters, FoundIds, IdKind},
};
use demur_clarify::uuid::Uuid;
use demur_ledger::{
    event_type::TraceKind,
    name::{Sequence, TraceId},
};
use demur_store::contract::{QuestionFilter, QuestionSummary, Store};

use crate::plan::{PlanPage, plan_page, session_of};

/// Returns the first few ids that begin so.
pub fn find(store: &dyn Store, wanted: &FindParameters) -> Result<FoundIds, Refusal> {
    let typed = wanted.typed.as_str();
    let mut ids = match (wanted.kind, typed) {
        (IdKind::Trace, REGISTRY) => texts(store.registry()?),
        (IdKind::Trace, LAST) => texts(store.newest()?),
        (IdKind::Trace, _) => traces(store, typed, |_| true)?,
        (IdKind::Run, _) => traces(store, typed, |kind| kind == TraceKind::Run)?,
        (IdKind::Plan, LAST) => texts(newest_plan(store)?),
        (IdKind::Plan, _) => plans(store, typed)?,
        (IdKind::Question, LAST) => texts(newest_question(store)?),
        (IdKind::Question, _) => questions(store, typed)?,
    };
    ids.truncate(MAX_IDS);
    Ok(FoundIds { ids })
}

/// Returns whether the id of a trace can begin so.
pub fn begins_trace(typed: &str) -> bool {
    prefix::of_ulid(typed).is_some()
}

fn texts<T: ToString>(found: impl IntoIterator<Item = T>) -> Vec<String> {
    found.into_iter().map(|id| id.to_string()).collect()
}

fn traces(store: &dyn Store, typed: &str, fits: impl Fn(TraceKind) -> bool) -> Result<Vec<String>, Refusal> {
    let (mut found, Some(ids)) = (Vec::new(), prefix::of_ulid(typed)) else { return Ok(Vec::new()) };
    prefix::walk(store, ids, |id, kind| {
        if fits(kind) {
            found.push(id);
        }
        Ok(found.len() < MAX_IDS)
    })?;
    Ok(texts(found))
}

/// The trace of a plan has the number of its session, so that one index finds both.
fn plans(store: &dyn Store, typed: &str) -> Result<Vec<String>, Refusal> {
    let (mut found, Some(ids)) = (Vec::new(), prefix::of_uuid(typed)) else { return Ok(Vec::new()) };
    prefix::walk(store, ids, |trace, kind| {
        if kind == TraceKind::Work {
            found.extend(session_of(store, trace)?);
        }
        Ok(found.len() < MAX_IDS)
    })?;
    Ok(texts(found))
}

/// Returns the plan that was submitted last, however many questions were asked since.
fn newest_plan(store: &dyn Store) -> Result<Option<Uuid>, Refusal> {
    first(|after| {
        let PlanPage { plans, next } = plan_page(store, after, 1)?;
        Ok((plans.first().map(|(session, _)| *session), next))
    })
}

/// Returns the first of many pages. A page can have none and say where to go on.
fn first<T>(
    mut page: impl FnMut(Option<TraceId>) -> Result<(Option<T>, Option<TraceId>), Refusal>,
) -> Result<Option<T>, Refusal> {
    let mut after = None;
    loop {
        match page(after)? {
            (None, Some(next)) => after = Some(next),
            (found, _) => return Ok(found),
        }
    }
}

fn newest_question(store: &dyn Store) -> Result<Option<QuestionId>, Refusal> {
    let newest = QuestionFilter { newest_first: true, ..QuestionFilter::default() };
    Ok(store.questions(&newest, None, 1)?.first().map(id_of))
}

fn questions(store: &dyn Store, typed: &str) -> Result<Vec<String>, Refusal> {
    let (trace, place) = typed.split_once('.').map_or((typed, None), |(trace, place)| {
        (trace, Some(place.parse::<u64>().ok().and_then(|place| Sequence::try_from(place).ok())))
    });
    let ids: Option<RangeInclusive<TraceId>> = prefix::of_ulid(trace);
    let mut found: Vec<QuestionId> = Vec::new();
    let Some(ids) = ids.filter(|_| place != Some(None)) else { return Ok(Vec::new()) };
    // The whole id of a trace means its first event, if that is a question.
    let whole = ids.start() == ids.end() && place.is_none();
    if whole && let Some(first) = store.question(*ids.start(), Sequence::FIRST)? {
        return Ok(texts([id_of(&first)]));
    }
    prefix::walk(store, ids, |trace, _| {
        match place.flatten() {
            Some(place) => found.extend(store.question(trace, place)?.as_ref().map(id_of)),
            None => found.extend(of_trace(store, trace)?.iter().map(id_of)),
        }
        Ok(found.len() < MAX_IDS)
    })?;
    Ok(texts(found))
}

fn of_trace(store: &dyn Store, trace: TraceId) -> Result<Vec<QuestionSummary>, Refusal> {
    let of_trace = QuestionFilter { trace: Some(trace), ..QuestionFilter::default() };
    Ok(store.questions(&of_trace, None, MAX_IDS)?)
}

fn id_of(found: &QuestionSummary) -> QuestionId {
    QuestionId { trace: found.trace, sequence: found.sequence }
}

/// What stands for the newest.
const LAST: &str = "last";
/// What stands for the trace of the keys.
const REGISTRY: &str = "registry";
/// How many are looked for: one more than a message names says that there are more.
const MAX_IDS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_is_found_behind_pages_without_any() {
        let ids = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"].map(|id| id.parse().unwrap());
        let found_in = |last| {
            let mut pages = vec![(None, Some(ids[0])), (None, Some(ids[1])), last].into_iter();
            let mut asked = Vec::new();
            let found = first(|after| {
                asked.push(after);
                Ok(pages.next().unwrap())
            });
            assert_eq!(asked, [None, Some(ids[0]), Some(ids[1])]);
            found.unwrap()
        };
        assert_eq!(found_in((Some("plan"), Some(ids[0]))), Some("plan"));
        assert_eq!(found_in((None, None)), None);
    }
}
