//! Claims: what the outputs let the executor say once its calls have come to rest, the checks that show it, answers to
//! challenges, the conclusion.

use demur_core::{
    limit::{LimitError, Text, Whole},
    words::counted,
};
use demur_ledger::{
    content::{ClaimContent, FinalClaim, FinalStatementContent},
    event_type::{Content, Facts},
    facts::{CheckStated, Cited, ClaimIssued, ClaimRevised, FailureKind, FinalStatementSigned},
    name::Sequence,
    state::{MOST_CHECKS, Phase},
};

use super::{
    call::{End, Standing, approved, standing},
    statement::{Statement, statement},
};
use crate::{
    history::{Claimed, Ended},
    plan::{Occasion, Unit},
    role::{Brief, Look, Move, RoleError, ascending, input::name, say},
    task::{Call, Claim, Goal},
};

pub(super) fn next(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    if let Some(check) = check(brief, look)? {
        return Ok(Some(check));
    }
    if let Some(claim) = due(brief, look)? {
        return Ok(Some(claim));
    }
    if let Some(revision) = answer(brief, look)? {
        return Ok(Some(revision));
    }
    match brief.history.state().phase() {
        Phase::Claiming => conclude(brief, look).map(Some),
        // A call in reserve came to nothing: the claim is made again as it was, and stays disputed.
        _ => brief.history.challenges.values().next().map_or(Ok(None), |claim| restate(brief, *claim)),
    }
}

/// Returns the challenge of a claim that this call in reserve could support.
pub(super) fn wants(
    brief: &Brief<'_>,
    look: &mut dyn Look,
    (goal, call): (&Goal, &Call),
) -> Result<Option<Sequence>, RoleError> {
    for (challenge, at) in &brief.history.challenges {
        for claim in goal.claims.iter().filter(|claim| goal.basis(claim, true).any(|one| one == call)) {
            if is_said_at(brief, *at, statement(brief, look, (goal, claim), false)?.as_ref()) {
                return Ok(Some(*challenge));
            }
        }
    }
    Ok(None)
}

/// Returns whether the claim in play that this event made is this one.
fn is_said_at(brief: &Brief<'_>, at: Sequence, statement: Option<&Statement>) -> bool {
    let said = brief.history.claims.get(&at);
    said.zip(statement).is_some_and(|(said, statement)| {
        said.text == statement.text && said.executions == statement.executions
    })
}

/// Returns whether a claim was ever made.
fn is_said(brief: &Brief<'_>, text: &str, executions: &[Sequence]) -> bool {
    brief.history.said.contains(&(text.to_owned(), executions.to_vec()))
}

/// Returns the next check that shows a claim in play and was not stated yet.
fn check(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    if brief.history.checks.values().map(Vec::len).sum::<usize>() >= MOST_CHECKS {
        return Ok(None);
    }
    for (goal, claim) in brief.plan.task().claims() {
        for challenged in [false, true] {
            let Some(statement) = statement(brief, look, (goal, claim), challenged)? else { break };
            let mut made = brief.history.claims.keys();
            let Some(at) = made.find(|at| is_said_at(brief, **at, Some(&statement))) else { continue };
            let stated = brief.history.checks_about(*at);
            let is_stated = |artifact: &Sequence, check: &_| {
                stated.iter().any(|known| known.artifact == *artifact && known.check.as_ref() == Some(check))
            };
            let mut checks = statement.checks.into_iter();
            if let Some((artifact, check)) = checks.find(|(artifact, check)| !is_stated(artifact, check)) {
                let facts = CheckStated { about: *at, artifact, condition: None };
                return Ok(Some(say(facts, Content::CheckStated(check))));
            }
        }
    }
    Ok(None)
}

/// Returns whether the executor, if demur plays it, has a check to state before anybody judges its claims.
pub(in crate::role) fn owes_check(brief: &Brief<'_>, look: &mut dyn Look) -> Result<bool, RoleError> {
    let plays = !brief.plan.task().is_separate(demur_ledger::role::Role::Executor);
    Ok(plays && check(brief, look)?.is_some())
}

/// Returns the next claim of the task that can be made, or that something failed.
fn due(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    if brief.history.claims.len() >= MAX_CLAIMS {
        return Ok(None);
    }
    for (goal, claim) in brief.plan.task().claims() {
        let Some(made) = statement(brief, look, (goal, claim), false)? else { continue };
        if is_said(brief, &made.text, &made.executions) {
            continue;
        }
        if let Some(Grounds { evidence, executions }) = cited(brief, made.evidence, made.executions)? {
            let facts = ClaimIssued { about_failure: false, evidence, executions };
            let content = ClaimContent { confidence: claim.confidence, text: Text::cut(&made.text)? };
            return Ok(Some(say(facts, Content::ClaimIssued(content))));
        }
    }
    for (goal, call) in brief.plan.task().calls() {
        let Standing::Settled(End::Failed(_, ended)) = standing(brief, call) else { continue };
        let text = failure_text(brief, call, &ended);
        if approved(brief, call).is_none() || fell_back(brief, goal, call) {
            continue;
        }
        if let Some(Grounds { evidence, executions }) = failure_grounds(brief, call)?
            && !is_said(brief, &text, &executions)
        {
            let facts = ClaimIssued { about_failure: true, evidence, executions };
            let content = ClaimContent { confidence: Whole::of::<100>(), text: text.as_str().try_into()? };
            return Ok(Some(say(facts, Content::ClaimIssued(content))));
        }
    }
    Ok(None)
}

/// Returns the revision of a challenged claim for which a call in reserve completed.
fn answer(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    for replaces in brief.history.challenges.values().copied() {
        for (goal, claim) in brief.plan.task().claims() {
            if !is_said_at(brief, replaces, statement(brief, look, (goal, claim), false)?.as_ref()) {
                continue;
            }
            let Some(made) = statement(brief, look, (goal, claim), true)? else { continue };
            if let Some(Grounds { evidence, executions }) = cited(brief, made.evidence, made.executions)? {
                let facts = ClaimRevised { about_failure: false, evidence, executions, replaces };
                let content = ClaimContent { confidence: claim.confidence, text: Text::cut(&made.text)? };
                return Ok(Some(say(facts, Content::ClaimRevised(content))));
            }
        }
    }
    Ok(None)
}

fn restate(brief: &Brief<'_>, replaces: Sequence) -> Result<Option<Move>, RoleError> {
    let Some(claim) = brief.history.claims.get(&replaces) else { return Ok(None) };
    let Claimed { text, confidence, about_failure, evidence, executions } = claim.clone();
    let (evidence, executions) = (evidence.try_into()?, executions.try_into()?);
    let facts = ClaimRevised { about_failure, evidence, executions, replaces };
    let content = ClaimContent { confidence, text: text.as_str().try_into()? };
    Ok(Some(say(facts, Content::ClaimRevised(content))))
}

fn conclude(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Move, RoleError> {
    let history = brief.history;
    let claims: Vec<Sequence> = history.claims.keys().copied().collect();
    let bundle: Result<Vec<FinalClaim>, LimitError> = history
        .claims
        .iter()
        .map(|(claim, said)| Ok(FinalClaim { claim: *claim, text: said.text.as_str().try_into()? }))
        .collect();
    let left = left_undone(brief, look)?;
    let verdict = if left.is_empty() {
        "the task is done".to_owned()
    } else {
        format!("not everything was done: {}", left.join(", "))
    };
    let verdict: Text<1, 16384> = verdict.as_str().try_into()?;
    let facts = Facts::from(FinalStatementSigned { claims: claims.try_into()? });
    let content = FinalStatementContent { claims: bundle?.try_into()?, verdict };
    Ok(Move::Conclude(facts, Some(Content::FinalStatementSigned(content))))
}

/// Returns what a final statement must not keep to itself.
fn left_undone(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Vec<String>, RoleError> {
    let (task, history) = (brief.plan.task(), brief.history);
    let is_refused =
        |unit: &Unit| history.proposal(&unit.objective).is_some_and(|(_, proposed)| proposed.is_refused());
    let is_approved =
        |unit: &Unit| history.proposal(&unit.objective).is_some_and(|(_, proposed)| proposed.is_approved());
    let replaced = |unit: &Unit| {
        let another = |other: &&Unit| other.goal == unit.goal && other.occasion == Occasion::Refused;
        unit.occasion == Occasion::First && brief.plan.units().iter().filter(another).any(is_approved)
    };
    let refused = brief.plan.units().iter().filter(|unit| is_refused(unit) && !replaced(unit)).count();
    let failed = |(goal, call): &(&Goal, &Call)| {
        matches!(standing(brief, call), Standing::Settled(End::Failed(..))) && !fell_back(brief, goal, call)
    };
    let mut unsaid = 0;
    for (goal, claim) in task.claims() {
        let made = statement(brief, look, (goal, claim), false)?;
        unsaid += usize::from(!made.is_some_and(|made| is_said(brief, &made.text, &made.executions)));
    }
    let counts = [
        (refused, "refused proposal", ""),
        (history.intents.values().filter(|intent| intent.is_blocked()).count(), "blocked call", ""),
        (task.calls().filter(failed).count(), "failed call", ""),
        (unsaid, "claim", " that could not be made"),
        (history.challenges.len(), "open challenge", ""),
    ];
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    Ok(some.map(|(count, noun, rest)| format!("{}{rest}", counted(count, noun))).collect())
}

/// Returns whether something else was done in place of a call.
fn fell_back(brief: &Brief<'_>, goal: &Goal, call: &Call) -> bool {
    let instead = goal.fallback(&call.name);
    instead.is_some_and(|other| match standing(brief, other) {
        Standing::Settled(End::Completed(_)) => true,
        _ => fell_back(brief, goal, other),
    })
}

/// What a claim rests on: artifacts, and executions that have ended.
struct Grounds {
    evidence: Cited<0>,
    executions: Cited<1>,
}

/// Returns what a claim that a call failed cites: what its attempts were given, and what they wrote.
fn failure_grounds(brief: &Brief<'_>, call: &Call) -> Result<Option<Grounds>, RoleError> {
    let attempts: Vec<_> = attempts(brief, &call.name).collect();
    let outputs = attempts.iter().flat_map(|ended| ended.outputs.iter().copied());
    let evidence = outputs.chain(brief.history.artifacts.get(&name(&call.name)).copied()).collect();
    cited(brief, evidence, attempts.iter().map(|ended| ended.at).collect())
}

/// Returns what a claim cites; none where that is not enough, for the desk would refuse such a claim.
fn cited(
    brief: &Brief<'_>,
    evidence: Vec<Sequence>,
    executions: Vec<Sequence>,
) -> Result<Option<Grounds>, RoleError> {
    let (mut evidence, mut executions) = (ascending(evidence), ascending(executions));
    evidence.truncate(MAX_CITED);
    executions.truncate(MAX_CITED);
    if (brief.history.distinct(&evidence) as u64) < brief.policy.evidence_minimum.as_u64() {
        return Ok(None);
    }
    Ok(Some(Grounds { evidence: evidence.try_into()?, executions: executions.try_into()? }))
}

/// Returns whether a claim could be made but for the evidence that the policy wants.
pub(in crate::role) fn lacks_evidence(brief: &Brief<'_>, look: &mut dyn Look) -> bool {
    let lacks = |(goal, claim): (&Goal, &Claim)| {
        let made = statement(brief, look, (goal, claim), false).ok().flatten();
        made.filter(|made| !is_said(brief, &made.text, &made.executions)).is_some_and(|made| {
            cited(brief, made.evidence, made.executions).is_ok_and(|grounds| grounds.is_none())
        })
    };
    brief.plan.task().claims().any(lacks)
}

/// Returns how every attempt of a call ended so far.
fn attempts<'a>(brief: &Brief<'a>, call: &str) -> impl Iterator<Item = &'a Ended> {
    let history = brief.history;
    let attempts = brief.plan.input_hash(call).map_or(&[][..], |hash| history.attempts(hash));
    attempts.iter().filter_map(|at| history.intents.get(at)?.ended.as_ref())
}

fn failure_text(brief: &Brief<'_>, call: &Call, ended: &Ended) -> String {
    let too_long = format!("it took longer than {}, the policy's limits.time", brief.policy.limits.time);
    let how = match ended.failure {
        Some(FailureKind::Signal) => "a signal ended it",
        Some(FailureKind::Timeout) => too_long.as_str(),
        Some(FailureKind::Limit) => "it went over a limit",
        Some(FailureKind::NotStarted) => "it could not be started",
        Some(FailureKind::Lost) => "nobody knows how it ended",
        Some(FailureKind::Exit) | None => "it ended with an error",
    };
    format!("The call {} failed: {how}.", call.name)
}

/// How many artifacts a claim may cite.
const MAX_CITED: usize = 256;
/// How many claims a final statement can bundle; further failures stand in the record without a claim of their own.
const MAX_CLAIMS: usize = 256;
