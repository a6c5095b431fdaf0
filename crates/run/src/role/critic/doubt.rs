//! Claims: the critic reads the evidence they cite. Too little of it, none that a program can check, a check that is false and
//! outputs that contradict each other are reasons to challenge one (LED-13, LED-24, LED-39).

use demur_core::limit::{Text, Whole};
use demur_ledger::{
    content::{CheckValue, ReasonContent},
    event_type::Content,
    facts::{ClaimChallenged, ClaimResolved},
    name::Sequence,
};

use crate::{
    history::Claimed,
    role::{Brief, Look, Move, RoleError, executor, say},
};

/// Returns what the critic says about the claims next.
pub(super) fn next(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    // A claim is judged together with the checks that come with it.
    if executor::owes_check(brief, look)? {
        return Ok(None);
    }
    let history = brief.history;
    for (challenge, at) in &history.challenges {
        let Some(claim) = history.claims.get(at) else { continue };
        if objection(brief, look, (*at, claim))?.is_none() {
            let reason =
                "nothing speaks against it any more: it cites enough evidence, and what it is shown by holds";
            let content = ReasonContent { reason: reason.try_into()? };
            let facts = ClaimResolved { challenge: *challenge };
            return Ok(Some(say(facts, Content::ClaimResolved(content))));
        }
    }
    for (at, claim) in &history.claims {
        if history.challenges.values().any(|challenged| challenged == at) {
            continue;
        }
        if let Some(reason) = objection(brief, look, (*at, claim))? {
            let content = ReasonContent { reason: Text::cut(&reason)? };
            return Ok(Some(say(ClaimChallenged { claim: *at }, Content::ClaimChallenged(content))));
        }
    }
    Ok(None)
}

/// Returns what speaks against a claim.
fn objection(
    brief: &Brief<'_>,
    look: &mut dyn Look,
    (at, claim): (Sequence, &Claimed),
) -> Result<Option<String>, RoleError> {
    let found = brief.history.distinct(&claim.evidence) as u64;
    if let Some(least) = brief.policy.challenge_below.map(Whole::as_u64).filter(|least| *least > found) {
        return Ok(Some(format!(
            "the policy asks for {least} artifacts with different bytes as evidence, and it cites {found}"
        )));
    }
    let stated = brief.history.checks_about(at);
    if let Some(wrong) = stated.iter().find(|stated| stated.holds == Some(false)) {
        let check = wrong.check.as_ref().map_or_else(String::new, |check| format!(": {check}"));
        return Ok(Some(format!("check #{} is false of artifact #{}{check}", wrong.at, wrong.artifact)));
    }
    if brief.policy.challenge_unchecked && !claim.about_failure && stated.is_empty() {
        return Ok(Some("the policy asks for a check of each claim, and this one is words only".to_owned()));
    }
    contradiction(brief, look, claim)
}

/// Returns what the cited outputs contradict each other about.
fn contradiction(
    brief: &Brief<'_>,
    look: &mut dyn Look,
    claim: &Claimed,
) -> Result<Option<String>, RoleError> {
    for goal in &brief.plan.task().goals {
        let mut seen: Vec<(&str, Sequence, CheckValue)> = Vec::new();
        for call in &goal.calls {
            let Some(artifact) = executor::stdout(brief, call).filter(|at| claim.evidence.contains(at))
            else {
                continue;
            };
            for (name, at) in &call.shows {
                let executor::Shown::Value(value) = executor::value(brief, look, (artifact, name), at)?
                else {
                    continue;
                };
                let differs = |(known, _, other): &&(&str, Sequence, CheckValue)| {
                    *known == name.as_str() && !executor::same(other, &value)
                };
                if let Some((_, other, first)) = seen.iter().find(differs) {
                    let (one, two) = (executor::words(first), executor::words(&value));
                    return Ok(Some(format!(
                        "the evidence contradicts itself about {name}: {one} in #{other}, {two} in #{artifact}"
                    )));
                }
                seen.push((name, artifact, value));
            }
        }
    }
    Ok(None)
}
