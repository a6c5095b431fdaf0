//! Claims: what the task lets the executor say once its calls have come to rest, answers to challenges, the conclusion.

use demur_core::{
    limit::{LimitError, Text, Whole},
    words::counted,
};
use demur_ledger::{
    content::{ClaimContent, FinalClaim, FinalStatementContent},
    event_type::{Content, Facts},
    facts::{Cited, ClaimIssued, ClaimRevised, FailureKind, FinalStatementSigned},
    name::Sequence,
    state::Phase,
};

use super::call::{End, Standing, approved, standing};
use crate::{
    history::{Claimed, Ended},
    role::{Brief, Move, RoleError, ascending, input::name, say},
    task::{Call, Claim, ReplacementClaim, Unit},
};

pub(super) fn next(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    if let Some(claim) = due(brief)? {
        return Ok(Some(claim));
    }
    if let Some(revision) = answer(brief)? {
        return Ok(Some(revision));
    }
    match brief.history.state().phase() {
        Phase::Claiming => conclude(brief).map(Some),
        // A call in reserve came to nothing: the claim is made again as it was, and stays disputed.
        _ => brief.history.challenges.values().next().map_or(Ok(None), |claim| restate(brief, *claim)),
    }
}

/// Returns whether a challenged claim needs this call.
pub(super) fn wants(brief: &Brief<'_>, call: &Call) -> bool {
    challenged(brief).any(|(_, answer)| answer.calls.iter().any(|name| *name == *call.name.as_str()))
}

/// Returns the challenged claims that the task has an answer for, which was not given yet.
fn challenged<'a>(brief: &Brief<'a>) -> impl Iterator<Item = (Sequence, &'a ReplacementClaim)> {
    let history = brief.history;
    let answer = |at: Sequence, task: &'a [Claim]| {
        let text = history.claims.get(&at)?.text.as_str();
        let claim = task.iter().find(|claim| claim.text.as_str() == text)?;
        claim.if_challenged.as_ref().filter(|answer| !history.said.contains(answer.text.as_str()))
    };
    let task = &brief.plan.task().claims[..];
    history.challenges.values().filter_map(move |claim| Some((*claim, answer(*claim, task)?)))
}

/// Returns the next claim of the task that can be made, or that something failed.
fn due(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    if brief.history.claims.len() >= MOST_CLAIMS {
        return Ok(None);
    }
    let unsaid = |text: &str| !brief.history.said.contains(text);
    for claim in brief.plan.task().claims.iter().filter(|claim| unsaid(&claim.text)) {
        let ends = completed(brief, &claim.calls);
        if let Some(grounds) = ends.map_or(Ok(None), |ends| grounds(brief, &ends))? {
            let Grounds { evidence, executions } = grounds;
            let facts = ClaimIssued { about_failure: false, evidence, executions };
            let content = ClaimContent { confidence: claim.confidence, text: claim.text.clone() };
            return Ok(Some(say(facts, Content::ClaimIssued(content))));
        }
    }
    for (unit, call) in brief.plan.task().calls() {
        let Standing::Settled(End::Failed(_, ended)) = standing(brief, call) else { continue };
        let text = failure_text(brief, call, &ended);
        if approved(brief, unit).is_none() || !unsaid(&text) || fell_back(brief, call) {
            continue;
        }
        if let Some(grounds) = failure_grounds(brief, call)? {
            let Grounds { evidence, executions } = grounds;
            let facts = ClaimIssued { about_failure: true, evidence, executions };
            let content = ClaimContent { confidence: Whole::of::<100>(), text: text.as_str().try_into()? };
            return Ok(Some(say(facts, Content::ClaimIssued(content))));
        }
    }
    Ok(None)
}

/// Returns the revision of a challenged claim whose calls have all completed.
fn answer(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    for (replaces, answer) in challenged(brief) {
        let ends = completed(brief, &answer.calls);
        if let Some(grounds) = ends.map_or(Ok(None), |ends| grounds(brief, &ends))? {
            let Grounds { evidence, executions } = grounds;
            let facts = ClaimRevised { about_failure: false, evidence, executions, replaces };
            let content = ClaimContent { confidence: answer.confidence, text: answer.text.clone() };
            return Ok(Some(say(facts, Content::ClaimRevised(content))));
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

fn conclude(brief: &Brief<'_>) -> Result<Move, RoleError> {
    let history = brief.history;
    let claims: Vec<Sequence> = history.claims.keys().copied().collect();
    let bundle: Result<Vec<FinalClaim>, LimitError> = history
        .claims
        .iter()
        .map(|(claim, said)| Ok(FinalClaim { claim: *claim, text: said.text.as_str().try_into()? }))
        .collect();
    let left = left_undone(brief);
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
fn left_undone(brief: &Brief<'_>) -> Vec<String> {
    let (task, history) = (brief.plan.task(), brief.history);
    let refused =
        |unit: &&Unit| history.proposal(&unit.objective).is_some_and(|(_, proposed)| proposed.is_refused());
    let replaced = |unit: &&Unit| {
        let instead = |other: &Unit| other.replaces.as_deref() == Some(unit.objective.as_str());
        task.proposals.iter().any(|other| instead(other) && approved(brief, other).is_some())
    };
    let failed = |call: &Call| {
        matches!(standing(brief, call), Standing::Settled(End::Failed(..))) && !fell_back(brief, call)
    };
    let unsaid = task.claims.iter().filter(|claim| !history.said.contains(claim.text.as_str())).count();
    let counts = [
        (
            task.proposals.iter().filter(refused).filter(|unit| !replaced(unit)).count(),
            "refused proposal",
            "",
        ),
        (history.intents.values().filter(|intent| intent.is_blocked()).count(), "blocked call", ""),
        (task.calls().filter(|(_, call)| failed(call)).count(), "failed call", ""),
        (unsaid, "claim", " that could not be made"),
        (history.challenges.len(), "open challenge", ""),
    ];
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, noun, rest)| format!("{}{rest}", counted(count, noun))).collect()
}

/// Returns how these calls ended, if all of them completed.
fn completed(brief: &Brief<'_>, calls: &[String]) -> Option<Vec<Ended>> {
    let end = |name: &String| match standing(brief, brief.plan.task().call(name)?.1) {
        Standing::Settled(End::Completed(ended)) => Some(ended),
        _ => None,
    };
    calls.iter().map(end).collect()
}

/// Returns whether something else was done in place of a call.
fn fell_back(brief: &Brief<'_>, call: &Call) -> bool {
    let instead = |name: &String| *name == *call.name.as_str();
    brief.plan.task().proposals.iter().filter(|unit| unit.fallback_for.as_ref().is_some_and(instead)).any(
        |unit| {
            let calls: Vec<String> = unit.calls.iter().map(|call| call.name.to_string()).collect();
            completed(brief, &calls).is_some()
        },
    )
}

/// What a claim rests on: artifacts, and executions that have ended.
struct Grounds {
    evidence: Cited<0>,
    executions: Cited<1>,
}

/// Returns what a claim that these executions completed cites: what they wrote.
fn grounds(brief: &Brief<'_>, ends: &[Ended]) -> Result<Option<Grounds>, RoleError> {
    let evidence = ends.iter().flat_map(|ended| ended.outputs.iter().copied()).collect();
    cited(brief, evidence, ends.iter().map(|ended| ended.at).collect())
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
    evidence.truncate(MOST_CITED);
    executions.truncate(MOST_CITED);
    if (brief.history.distinct(&evidence) as u64) < brief.policy.evidence_minimum.as_u64() {
        return Ok(None);
    }
    Ok(Some(Grounds { evidence: evidence.try_into()?, executions: executions.try_into()? }))
}

/// Returns whether a claim could be made but for the evidence that the policy wants.
pub(in crate::role) fn lacks_evidence(brief: &Brief<'_>) -> bool {
    let unsaid =
        brief.plan.task().claims.iter().filter(|claim| !brief.history.said.contains(claim.text.as_str()));
    let mut ends = unsaid.filter_map(|claim| completed(brief, &claim.calls));
    ends.any(|ends| grounds(brief, &ends).is_ok_and(|grounds| grounds.is_none()))
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
const MOST_CITED: usize = 256;
/// How many claims a final statement can bundle; further failures stand in the record without a claim of their own.
const MOST_CLAIMS: usize = 256;
