//! The planner: opens the run and turns the task into proposals, each when its time has come (LED-10, LED-20, LED-35).

use demur_core::limit::Text;
use demur_ledger::{
    content::{ProposalContent, SessionContent},
    event_type::Content,
    facts::{ProposalCreated, SessionInitialized},
    name::Sequence,
    state::Phase,
};

use super::{Brief, Move, RoleError, executor, say};
use crate::task::Unit;

pub(super) fn next(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    let phase = brief.history.state().phase();
    if phase == Phase::Initialized {
        return open(brief).map(Some);
    }
    if !matches!(phase, Phase::Planning | Phase::Reviewing | Phase::Executing) {
        return Ok(None);
    }
    let unproposed = |unit: &&Unit| brief.history.proposal(&unit.objective).is_none();
    for unit in brief.plan.task().proposals.iter().filter(unproposed) {
        match due(brief, unit, phase) {
            Due::Now { fallback_for, replaces } => return propose(unit, fallback_for, replaces).map(Some),
            Due::Never => {}
        }
    }
    Ok(None)
}

/// Whether a unit is to be proposed.
enum Due {
    Now { fallback_for: Option<Sequence>, replaces: Option<Sequence> },
    Never,
}

fn due(brief: &Brief<'_>, unit: &Unit, phase: Phase) -> Due {
    let executing = phase == Phase::Executing;
    match (&unit.fallback_for, &unit.replaces) {
        // Units of the plan are proposed before anything runs.
        (None, None) if !executing => Due::Now { fallback_for: None, replaces: None },
        (Some(call), _) if executing && brief.policy.fallback => {
            let failed = executor::failed_for_good(brief, call);
            failed.map_or(Due::Never, |intent| Due::Now { fallback_for: Some(intent), replaces: None })
        }
        (None, Some(old)) if !executing => {
            let refused = brief.history.proposal(old).filter(|(_, proposed)| proposed.is_refused());
            refused.map_or(Due::Never, |(at, _)| Due::Now { fallback_for: None, replaces: Some(at) })
        }
        _ => Due::Never,
    }
}

fn open(brief: &Brief<'_>) -> Result<Move, RoleError> {
    let task = brief.plan.task();
    let mut constraints: Vec<Text<1, 4096>> = task.constraints.to_vec();
    for line in brief.bound {
        constraints.push(line.as_str().try_into()?);
    }
    let content = SessionContent {
        constraints: constraints.try_into()?,
        objective: task.objective.clone(),
        task: task.name.clone(),
    };
    let participants = brief.participants.to_vec().try_into()?;
    let facts = SessionInitialized { participants, policy: brief.demands };
    Ok(say(facts, Content::SessionInitialized(content)))
}

fn propose(
    unit: &Unit,
    fallback_for: Option<Sequence>,
    replaces: Option<Sequence>,
) -> Result<Move, RoleError> {
    let of_calls = unit.calls.iter().map(|call| &call.tool);
    let mut tools: Vec<Text<1, 256>> = of_calls.chain(&unit.tools).cloned().collect();
    tools.sort_unstable();
    tools.dedup();
    let content = ProposalContent {
        assumptions: unit.assumptions.clone(),
        expected_evidence: unit.expected_evidence.clone(),
        objective: unit.objective.clone(),
        required_tools: tools.try_into()?,
    };
    Ok(say(ProposalCreated { fallback_for, replaces }, Content::ProposalCreated(content)))
}
