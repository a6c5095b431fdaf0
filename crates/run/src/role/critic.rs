//! The critic: holds proposals, intents and claims against the policy and the recorded bytes, and gives its reasons (LED-10,
//! LED-11, LED-13, LED-23). What the policy does not allow is blocked.

mod condition;
mod confirmation;
mod doubt;
mod intent;

use demur_core::limit::Text;
use demur_ledger::{
    content::ProposalReviewContent,
    event_type::Content,
    facts::{IntentDecision, ProposalDecision, ProposalReviewed},
    state::Phase,
};

use super::{Brief, Look, Move, RoleError, say};
use crate::history::{Intended, Proposed};

pub(super) fn next(brief: &Brief<'_>, look: &mut dyn Look) -> Result<Option<Move>, RoleError> {
    match brief.history.state().phase() {
        Phase::Reviewing => review_proposal(brief),
        Phase::Executing => match intent::review(brief, look)? {
            Some(review) => Ok(Some(review)),
            None => review_proposal(brief),
        },
        Phase::Claiming => doubt::next(brief, look),
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
    let conditions = brief.policy.conditions_of(&proposed.tools).map(|condition| condition.text.clone());
    let conditions: Vec<Text<1, 4096>> = conditions.collect();
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
    let conditions = if decision.approves() { conditions } else { Vec::new() };
    let count = (conditions.len() as u64).try_into()?;
    let facts = ProposalReviewed { conditions: count, decision, proposal: *at };
    let (conditions, rationale) = (conditions.try_into()?, Text::cut(&rationale)?);
    Ok(Some(say(facts, Content::ProposalReviewed(ProposalReviewContent { conditions, rationale }))))
}

impl Proposed {
    /// Returns whether the critic refused it.
    pub fn is_refused(&self) -> bool {
        self.review.is_some_and(|(decision, _)| !decision.approves())
    }

    /// Returns whether the critic approved it.
    pub fn is_approved(&self) -> bool {
        self.review.is_some_and(|(decision, _)| decision.approves())
    }
}

impl Intended {
    /// Returns whether the critic blocked it.
    pub fn is_blocked(&self) -> bool {
        self.review == Some(IntentDecision::Blocked)
    }
}
