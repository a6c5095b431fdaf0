//! Plans in a list, the newest first. Most traces are single questions, which are passed over.

use demur_api::{
    code::Code,
    plan::{ListedPlan, ListedPlans, PlanListParameters},
    refusal::Refusal,
};
use demur_clarify::uuid::Uuid;
use demur_ledger::{
    event_type::{Facts, TraceKind},
    name::{Sequence, TraceId},
};
use demur_plan::Session;
use demur_sequencer::{Sequencer, SequencerError};
use demur_store::contract::{Store, StoreError, TraceSummary};

use crate::{record, session, subject::subject};

/// Returns one page of plans.
pub fn list(ledger: &Sequencer, parameters: &PlanListParameters) -> Result<ListedPlans, Refusal> {
    let limit = parameters.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("limit: expected 1 to {MAX_LIMIT}, found {limit}");
        return Err(Refusal::new(Code::Malformed, message));
    }
    let PlanPage { plans, next } = plan_page(ledger.store(), parameters.after, limit)?;
    let plans = plans.iter().map(|(id, summary)| listed(ledger, *id, summary));
    Ok(ListedPlans { next, plans: plans.collect::<Result<_, _>>()? })
}

fn listed(ledger: &Sequencer, id: Uuid, summary: &TraceSummary) -> Result<ListedPlan, Refusal> {
    let TraceSummary { trace, opened, changed, .. } = *summary;
    // One plan that cannot be read does not hide the others: what is wrong with it is said where it is shown.
    let session = session::read(ledger, id).ok();
    Ok(ListedPlan {
        agent: session.as_ref().map(|session| session.agent().to_string()),
        changed,
        open: session.as_ref().map(|session| session.open_gaps().count() as u64),
        session: id,
        status: session.as_ref().map(Session::standing),
        subject: subject(ledger.store(), trace)?,
        submitted: opened,
        trace,
    })
}

/// Some plans, the newest first.
pub(crate) struct PlanPage {
    /// Each by its session.
    pub(crate) plans: Vec<(Uuid, TraceSummary)>,
    /// The last trace that was looked at, if there are others behind it.
    pub(crate) next: Option<TraceId>,
}

/// Returns up to so many plans that were submitted before a trace was opened. After so many traces the page ends, and says
/// where to go on.
pub(crate) fn plan_page(
    store: &dyn Store,
    after: Option<TraceId>,
    limit: usize,
) -> Result<PlanPage, Refusal> {
    let (mut plans, mut next, mut looked) = (Vec::new(), after, 0);
    loop {
        let page = store.traces(next, TRACES_PER_READ)?;
        let full = page.len() == TRACES_PER_READ;
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
pub(crate) fn session_of(store: &dyn Store, trace: TraceId) -> Result<Option<Uuid>, Refusal> {
    let event = match record::read(store, trace, Sequence::FIRST) {
        Ok((event, _)) => event,
        // A check of the store says what is wrong with it.
        Err(SequencerError::Damaged { .. } | SequencerError::Store(StoreError::TraceNewer { .. })) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let is_plan = event.said().is_ok_and(|said| matches!(said.facts, Facts::PlanSubmitted(_)));
    let session = Uuid::try_from(trace.as_ulid().as_u128()).ok();
    Ok(session.filter(|session| is_plan && TraceId::of_session(session.as_u128()) == trace))
}

/// How many traces are read at a time.
const TRACES_PER_READ: usize = 256;
/// How many traces are looked at for one page.
const MAX_LOOKED: usize = 10_000;
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 1000;
