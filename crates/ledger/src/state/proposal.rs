//! Proposals: created, reviewed, revised, fallen back to (LED-10, LED-20, LED-35).

use demur_core::hash::Digest;
use serde::{Deserialize, Serialize};

use super::{GuardError, Phase, State, tool::Status};
use crate::{
    facts::{ProposalCreated, ProposalDecision, ProposalReviewed},
    meaning::Meaning,
    name::Sequence,
};

/// A proposal that nothing has replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Proposal {
    pub(super) review: Review,
    /// The tools it asks for, by the digests of their names, ascending; none where they are not known.
    pub(super) tools: Option<Box<[Digest]>>,
}

/// What became of a proposal so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Review {
    /// Waits for its review.
    Pending,
    /// May execute once this many conditions are met.
    Approved {
        /// How many; 0 for an approval without conditions.
        conditions: u64,
    },
    /// Blocked or rejected: never executes, may be revised.
    Refused,
}

impl State {
    pub(super) fn guard_proposal(&self, facts: &ProposalCreated) -> Result<(), GuardError> {
        if self.recorded_policy.is_none() {
            return Err(GuardError::PolicyMissing);
        }
        if let Some(replaced) = facts.replaces
            && self.review(replaced) != Some(Review::Refused)
        {
            let expected = "a blocked or rejected proposal that nothing has replaced yet";
            return Err(GuardError::Reference { field: "replaces", sequence: replaced, expected });
        }
        match (self.phase, facts.fallback_for) {
            (Phase::Executing, None) => Err(GuardError::FallbackNeeded),
            (Phase::Executing, Some(intent)) => self.guard_fallback(intent),
            (_, None) => Ok(()),
            (_, Some(sequence)) => Err(GuardError::Reference {
                field: "fallback_for",
                sequence,
                expected: "null: a fallback is proposed while executing",
            }),
        }
    }

    fn guard_fallback(&self, intent: Sequence) -> Result<(), GuardError> {
        if !self.demands()?.fallback {
            return Err(GuardError::FallbackForbidden);
        }
        self.guard_no_open_execution()?;
        match self.intents.get(&intent) {
            Some(found) if found.status == Status::Failed => Ok(()),
            _ => Err(GuardError::Reference {
                field: "fallback_for",
                sequence: intent,
                expected: "an intent whose execution failed",
            }),
        }
    }

    pub(super) fn guard_review(&self, facts: &ProposalReviewed) -> Result<(), GuardError> {
        if self.review(facts.proposal) != Some(Review::Pending) {
            let expected = "a proposal that waits for its review";
            return Err(GuardError::Reference { field: "proposal", sequence: facts.proposal, expected });
        }
        let conditional = facts.decision == ProposalDecision::ConditionallyApproved;
        if conditional == (facts.conditions.as_u64() > 0) {
            Ok(())
        } else {
            Err(GuardError::ConditionCount { found: facts.conditions.as_u64() })
        }
    }

    /// Returns what became of a proposal.
    pub(super) fn review(&self, proposal: Sequence) -> Option<Review> {
        self.proposals.get(&proposal).map(|proposal| proposal.review)
    }

    pub(super) fn fold_proposal(&mut self, at: Sequence, facts: &ProposalCreated, meaning: Option<&Meaning>) {
        if let Some(replaced) = facts.replaces {
            self.proposals.remove(&replaced);
        }
        if let Some(intent) = facts.fallback_for {
            self.intents.remove(&intent);
        }
        let tools = match meaning {
            Some(Meaning::Proposal(tools)) => Some(tools.clone()),
            _ => None,
        };
        self.proposals.insert(at, Proposal { review: Review::Pending, tools });
    }

    pub(super) fn fold_review(&mut self, facts: &ProposalReviewed) {
        let Some(proposal) = self.proposals.get_mut(&facts.proposal) else { return };
        proposal.review = if facts.decision.approves() {
            Review::Approved { conditions: facts.conditions.as_u64() }
        } else {
            Review::Refused
        };
    }

    /// Returns whether a proposal other than this one waits for its review.
    pub(super) fn others_wait(&self, reviewed: Sequence) -> bool {
        self.proposals.iter().any(|(at, proposal)| *at != reviewed && proposal.review == Review::Pending)
    }

    /// Returns whether any proposal may execute.
    pub(super) fn any_approved(&self) -> bool {
        self.proposals.values().any(|proposal| matches!(proposal.review, Review::Approved { .. }))
    }
}
