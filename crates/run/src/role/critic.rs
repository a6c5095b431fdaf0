//! The critic: holds proposals, intents and claims against the policy, and gives its reasons (LED-10, LED-11, LED-13,
//! LED-23). What the policy does not allow is blocked.

use demur_core::{
    canonical,
    hash::sha256,
    limit::{Limits, Text},
};
use demur_ledger::{
    content::{ProposalReviewContent, RationaleContent, ReasonContent},
    event_type::Content,
    facts::{
        ClaimChallenged, ClaimResolved, ConditionJudged, IntentDecision, ProposalDecision, ProposalReviewed,
        ToolIntentReviewed,
    },
    name::Sequence,
    state::Phase,
};

use super::{Brief, Input, Move, RoleError, input, say};
use crate::{
    history::{Claimed, Intended, Proposed},
    policy::Policy,
};

/// Lets the critic look at recorded bytes.
pub trait Look {
    /// Returns the bytes of a recorded artifact, if they are there; or why nobody can tell.
    fn artifact(&mut self, at: Sequence) -> Result<Option<Vec<u8>>, String>;
}

pub(super) fn next(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    match brief.history.state().phase() {
        Phase::Reviewing => review_proposal(brief),
        Phase::Executing => match review_intent(brief, look)? {
            Some(review) => Ok(Some(review)),
            None => match judge_condition(brief, look)? {
                Some(judgement) => Ok(Some(judgement)),
                None => review_proposal(brief),
            },
        },
        Phase::Claiming => doubt(brief),
        _ => Ok(None),
    }
}

fn review_proposal(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    let unknown = |proposed: &Proposed| -> Vec<String> {
        proposed.tools.iter().filter(|tool| !brief.policy.tools.contains_key(*tool)).cloned().collect()
    };
    let waiting = || brief.history.proposals.iter().filter(|(_, proposed)| proposed.review.is_none());
    // Once something is approved nothing can be revised: what is refused comes first.
    let refused = waiting().find(|(_, proposed)| !unknown(proposed).is_empty());
    let Some((at, proposed)) = refused.or_else(|| waiting().next()) else { return Ok(None) };
    let unknown = unknown(proposed);
    let conditions = brief.policy.conditions.clone();
    let (decision, rationale) = if !unknown.is_empty() {
        (ProposalDecision::Blocked, format!("the policy does not name the tool {}", unknown.join(", ")))
    } else if conditions.is_empty() {
        (ProposalDecision::Approved, "the policy names every tool it needs".to_owned())
    } else {
        (
            ProposalDecision::ConditionallyApproved,
            "the policy names every tool it needs, on conditions".to_owned(),
        )
    };
    let conditions = if decision.approves() { conditions } else { Vec::new().try_into()? };
    let count = (conditions.len() as u64).try_into()?;
    let facts = ProposalReviewed { conditions: count, decision, proposal: *at };
    let rationale = Text::cut(&rationale)?;
    Ok(Some(say(facts, Content::ProposalReviewed(ProposalReviewContent { conditions, rationale }))))
}

fn review_intent(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    let waiting = |(_, intent): &(&Sequence, &Intended)| intent.review.is_none() && intent.started.is_none();
    for (at, intent) in brief.history.intents.iter().filter(waiting) {
        let (decision, rationale) = match objection(brief, intent, look)? {
            Some(objection) => (IntentDecision::Blocked, objection),
            None if intent.risk >= brief.demands.approval_from => {
                let words = "the input is recorded, and the policy allows this tool, program and risk";
                (IntentDecision::Approved, words.to_owned())
            }
            None => continue,
        };
        let facts = ToolIntentReviewed { decision, intent: *at };
        let rationale = Text::cut(&rationale)?;
        return Ok(Some(say(facts, Content::ToolIntentReviewed(RationaleContent { rationale }))));
    }
    Ok(None)
}

/// Judges the next condition of an intent that nothing speaks against, by the input that it names: demur reads the words of a
/// condition no further than its policy goes.
fn judge_condition(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    for (at, condition) in brief.history.unshown() {
        let Some(intent) = brief.history.intents.get(&at) else { continue };
        if intent.review.is_none() && intent.risk >= brief.demands.approval_from {
            continue;
        }
        if let Some((input, _)) = recorded_input(brief, intent, look)? {
            let (condition, evidence) = (condition.try_into()?, vec![input].try_into()?);
            let facts = ConditionJudged { condition, evidence, holds: true, intent: at };
            return Ok(Some(say(facts, None)));
        }
    }
    Ok(None)
}

/// Returns what speaks against an intent.
fn objection(brief: &Brief<'_>, intent: &Intended, look: &mut dyn Look) -> Result<Option<String>, RoleError> {
    let policy = brief.policy;
    if let Some(from) = policy.block_from.filter(|from| intent.risk >= *from) {
        return Ok(Some(format!("the policy blocks calls from {} risk on", from.as_str())));
    }
    let Some(tool) = policy.tools.get(&intent.tool) else {
        return Ok(Some(format!("the policy does not name the tool {}", intent.tool)));
    };
    if intent.risk < tool.risk {
        let (least, said) = (tool.risk.as_str(), intent.risk.as_str());
        let message =
            format!("the policy puts {} at {least} risk at least, the intent says {said}", intent.tool);
        return Ok(Some(message));
    }
    let Some((_, Some(found))) = recorded_input(brief, intent, look)? else {
        return Ok(Some("no recorded input has the hash that the intent names".to_owned()));
    };
    let program = found.command.first().map_or("", String::as_str);
    let allowed = match &tool.programs[..] {
        [] => program == intent.tool,
        programs => programs.iter().any(|one| one.as_str() == program),
    };
    Ok((!allowed).then(|| format!("the policy does not let {} start the program {program:?}", intent.tool)))
}

/// Returns the recorded input that an intent names by its hash: where it is, and what it says if it can be read.
fn recorded_input(
    brief: &Brief<'_>,
    intent: &Intended,
    look: &mut dyn Look,
) -> Result<Option<(Sequence, Option<Input>)>, RoleError> {
    let Some(hash) = intent.input_hash else { return Ok(None) };
    // What the task says is known without looking; what another executor recorded is not.
    // What the task says need not be looked at again once it is recorded.
    if let Some((call, bytes)) = brief.plan.input_with(&hash)
        && let Some(at) = brief.history.artifacts.get(&input::name(call))
    {
        return Ok(Some((*at, canonical::from_canonical(bytes, &Limits::LINE).ok())));
    }
    // An executor records the input just before it says what it intends.
    for at in brief.history.recorded.iter().rev().take(64) {
        if let Some(bytes) =
            look.artifact(*at).map_err(RoleError::Look)?.filter(|bytes| sha256(bytes) == hash)
        {
            return Ok(Some((*at, canonical::from_canonical(&bytes, &Limits::LINE).ok())));
        }
    }
    Ok(None)
}

fn doubt(brief: &Brief<'_>) -> Result<Option<Move>, RoleError> {
    let history = brief.history;
    for (challenge, claim) in &history.challenges {
        let answered = history.claims.get(claim).is_some_and(|claim| doubtful(brief.policy, claim).is_none());
        if answered {
            let content = ReasonContent { reason: "it now cites enough evidence".try_into()? };
            let facts = ClaimResolved { challenge: *challenge };
            return Ok(Some(say(facts, Content::ClaimResolved(content))));
        }
    }
    for (at, claim) in &history.claims {
        let challenged = history.challenges.values().any(|challenged| challenged == at);
        if let Some(reason) = doubtful(brief.policy, claim).filter(|_| !challenged) {
            let content = ReasonContent { reason: reason.as_str().try_into()? };
            return Ok(Some(say(ClaimChallenged { claim: *at }, Content::ClaimChallenged(content))));
        }
    }
    Ok(None)
}

/// Returns what is weak about a claim.
fn doubtful(policy: &Policy, claim: &Claimed) -> Option<String> {
    let (least, found) = (policy.challenge_below?.as_u64(), claim.evidence.len());
    (least > found as u64)
        .then(|| format!("the policy asks for {least} artifacts as evidence, and it cites {found}"))
}

impl Proposed {
    /// Returns whether the critic refused it.
    pub fn is_refused(&self) -> bool {
        self.review.is_some_and(|(decision, _)| !decision.approves())
    }
}

impl Intended {
    /// Returns whether the critic blocked it.
    pub fn is_blocked(&self) -> bool {
        self.review == Some(IntentDecision::Blocked)
    }
}
