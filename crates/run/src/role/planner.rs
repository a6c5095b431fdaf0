//! The planner: opens the run, makes proposals of the task's goals, each when its time has come, and proposes another way where
//! one was refused or failed (LED-10, LED-20, LED-35).

use demur_core::limit::{LimitError, Text};
use demur_ledger::{
    content::{ProposalContent, SessionContent},
    event_type::Content,
    facts::{ProposalCreated, SessionInitialized},
    name::Sequence,
    state::Phase,
};

use super::{Brief, Move, RoleError, executor, say};
use crate::{
    plan::{Occasion, Unit},
    task::{Call, Goal},
};

pub(super) fn next(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    let phase = brief.history.state().phase();
    if phase == Phase::Initialized {
        return open(brief).map(Some);
    }
    if !matches!(phase, Phase::Planning | Phase::Reviewing | Phase::Executing) {
        return Ok(None);
    }
    let unproposed = |unit: &&Unit| brief.history.proposal(&unit.objective).is_none();
    for unit in brief.plan.units().iter().filter(unproposed) {
        match due(brief, unit, phase) {
            Due::Now { fallback_for, replaces } => {
                return propose(brief, unit, fallback_for, replaces).map(Some);
            }
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
    match &unit.occasion {
        // Every goal is proposed before anything runs.
        Occasion::First if !executing => Due::Now { fallback_for: None, replaces: None },
        Occasion::Failed(call) if executing && brief.policy.fallback => {
            let failed = executor::failed_for_good(brief, call);
            failed.map_or(Due::Never, |intent| Due::Now { fallback_for: Some(intent), replaces: None })
        }
        Occasion::Refused if !executing => {
            let first = brief.plan.goal(unit).and_then(|goal| brief.history.proposal(&goal.objective));
            let refused = first.filter(|(_, proposed)| proposed.is_refused());
            refused.map_or(Due::Never, |(at, _)| Due::Now { fallback_for: None, replaces: Some(at) })
        }
        Occasion::First | Occasion::Failed(_) | Occasion::Refused => Due::Never,
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
    brief: &Brief<'_>,
    unit: &Unit,
    fallback_for: Option<Sequence>,
    replaces: Option<Sequence>,
) -> Result<Move, RoleError> {
    let goal = brief.plan.goal(unit).ok_or(RoleError::Unplanned)?;
    let calls: Vec<&Call> =
        goal.calls.iter().filter(|call| unit.calls.iter().any(|name| *name == *call.name)).collect();
    let of_calls = calls.iter().map(|call| &call.tool);
    let mut tools: Vec<Text<1, 256>> = of_calls.chain(&goal.tools).cloned().collect();
    tools.sort_unstable();
    tools.dedup();
    let content = ProposalContent {
        assumptions: assumptions(goal, &calls)?.try_into()?,
        expected_evidence: evidence(&calls)?.try_into()?,
        objective: unit.objective.clone(),
        required_tools: tools.try_into()?,
    };
    Ok(say(ProposalCreated { fallback_for, replaces }, Content::ProposalCreated(content)))
}

/// Returns what is taken for granted: what the task says, and that each value stands where the task looks for it.
fn assumptions(goal: &Goal, calls: &[&Call]) -> Result<Vec<Text<1, 4096>>, LimitError> {
    let places = calls.iter().flat_map(|call| call.shows.iter().map(move |(name, at)| (call, name, at)));
    let places = places.map(|(call, name, at)| {
        Text::cut(&format!("{name} can be read from what {} prints: {at}", call.name))
    });
    goal.assumptions.iter().cloned().map(Ok).chain(places).take(MAX_LINES).collect()
}

/// Returns what will show that it worked.
fn evidence(calls: &[&Call]) -> Result<Vec<Text<1, 4096>>, LimitError> {
    let line = |call: &&Call| {
        let command: Vec<&str> = call.command.iter().map(Text::as_str).collect();
        let when = if call.reserve { ", if a claim is challenged" } else { "" };
        Text::cut(&format!("what {} prints ({}){when}", call.name, command.join(" ")))
    };
    calls.iter().take(MAX_LINES).map(line).collect()
}

/// How many assumptions, or lines of expected evidence, a proposal has at most.
const MAX_LINES: usize = 64;
