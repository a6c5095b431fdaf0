//! Where a session stands, for people and for programs.

use demur_api::plan::{GapStatus, PlanStanding, ResolvedGap, SettledGap};
use demur_ledger::question::Outcome;
use demur_plan::{Error, Session, act::Judged};

use crate::subject::plan_name;

/// Returns what became of an answer to a gap that was judged so.
pub fn resolved(gap: &str, answer: Option<&str>, judged: &Judged, session: PlanStanding) -> ResolvedGap {
    let reason = judged.unsettled();
    let status = if reason.is_none() { GapStatus::Resolved } else { GapStatus::Escalated };
    let accepted_answer = answer.filter(|_| reason.is_none()).map(str::to_owned);
    ResolvedGap { gap_id: gap.to_owned(), status, accepted_answer, reason, session }
}

/// Returns where a session stands.
pub fn standing(session: &Session) -> Result<PlanStanding, Error> {
    let gaps = session.open_gaps().map(demur_plan::Gap::to_clarify).collect::<Result<Vec<_>, _>>()?;
    let rules = session.rules_hash().map(|hash| hash.to_string()).unwrap_or_default();
    let mut standing = PlanStanding::new(session.standing(), gaps, rules, session.document().cloned());
    standing.session_id = Some(session.uuid());
    standing.trace = Some(session.trace());
    standing.agent = Some(session.agent().to_string());
    standing.subject = session.plan().as_value().as_object().and_then(plan_name);
    let unasked = session.gaps().filter(|(_, outcome)| outcome.is_some_and(|found| found.kind().is_left()));
    standing.unasked = unasked.map(|(gap, _)| gap.id.to_string()).collect();
    standing.settled = settled(session);
    standing.unread = session.unread()?;
    standing.attestation = session.acceptance().cloned();
    let closed = session.open_gaps().filter(|gap| gap.is_closed());
    standing.closed = closed.map(|gap| gap.id.to_string()).collect();
    Ok(standing)
}

fn settled(session: &Session) -> Vec<SettledGap> {
    let line = |(gap, outcome): (&demur_plan::Gap, Option<&Outcome>)| {
        let outcome = outcome.filter(|outcome| outcome.settles())?;
        let given = outcome.given();
        Some(SettledGap {
            id: gap.id.to_string(),
            field: gap.field.to_string(),
            outcome: outcome.kind(),
            event: given.map(|given| given.at),
            by: given.and_then(|given| given.by),
            assurance: given.map(|given| given.assurance),
        })
    };
    session.gaps().filter_map(line).collect()
}
