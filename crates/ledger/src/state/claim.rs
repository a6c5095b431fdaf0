//! Claims: issued, challenged, revised, resolved, retracted, bundled (LED-07, LED-13, LED-14, LED-24).

use demur_core::hash::Digest;

use super::{GuardError, State, tool::check_ascending};
use crate::{
    facts::{ClaimResolved, ClaimRevised, FinalStatementSigned},
    meaning::Meaning,
    name::Sequence,
};

impl State {
    pub(super) fn guard_claim(
        &self,
        evidence: &[Sequence],
        executions: &[Sequence],
        about_failure: bool,
    ) -> Result<(), GuardError> {
        self.guard_no_open_execution()?;
        check_ascending("evidence", evidence)?;
        check_ascending("executions", executions)?;
        let minimum = self.demands()?.evidence_minimum.as_u64();
        if (evidence.len() as u64) < minimum {
            return Err(GuardError::EvidenceMinimum { minimum, found: evidence.len() });
        }
        for artifact in evidence {
            self.guard_artifact("evidence", *artifact)?;
        }
        for execution in executions {
            self.guard_ended(*execution, about_failure)?;
        }
        Ok(())
    }

    /// A claim rests on completed executions; only one about a failure may rest on failed ones.
    fn guard_ended(&self, execution: Sequence, about_failure: bool) -> Result<(), GuardError> {
        let expected = match self.endings.find(execution) {
            Some(ending) if ending.completed || about_failure => return Ok(()),
            Some(_) => "a completed execution: only a claim about a failure may rest on a failed one",
            None => "an execution that has completed or failed",
        };
        Err(GuardError::Reference { field: "executions", sequence: execution, expected })
    }

    pub(super) fn guard_revision(&self, facts: &ClaimRevised) -> Result<(), GuardError> {
        self.guard_claim_in_play(facts.replaces)?;
        self.guard_claim(&facts.evidence, &facts.executions, facts.about_failure)
    }

    pub(super) fn guard_claim_in_play(&self, claim: Sequence) -> Result<(), GuardError> {
        if self.claims.contains_key(&claim) {
            Ok(())
        } else {
            let expected = "a claim that was neither replaced nor retracted";
            Err(GuardError::Reference { field: "claim", sequence: claim, expected })
        }
    }

    pub(super) fn guard_resolution(&self, facts: &ClaimResolved) -> Result<(), GuardError> {
        if self.challenges.contains_key(&facts.challenge) {
            Ok(())
        } else {
            let expected = "an open challenge";
            Err(GuardError::Reference { field: "challenge", sequence: facts.challenge, expected })
        }
    }

    /// The bundle holds every claim in play: a disputed one cannot be dropped in silence.
    pub(super) fn guard_final_statement(&self, facts: &FinalStatementSigned) -> Result<(), GuardError> {
        if facts.claims.iter().eq(self.claims.keys()) {
            Ok(())
        } else {
            Err(GuardError::BundleIncomplete { expected: self.claims.len(), found: facts.claims.len() })
        }
    }

    pub(super) fn fold_claim(&mut self, at: Sequence, meaning: Option<&Meaning>) {
        self.claims.insert(at, text(meaning));
    }

    /// Open challenges follow the claim to its revision: only the critic closes them.
    pub(super) fn fold_revision(&mut self, at: Sequence, replaced: Sequence, meaning: Option<&Meaning>) {
        self.claims.remove(&replaced);
        self.claims.insert(at, text(meaning));
        for claim in self.challenges.values_mut().filter(|claim| **claim == replaced) {
            *claim = at;
        }
    }

    pub(super) fn fold_retraction(&mut self, claim: Sequence) {
        self.claims.remove(&claim);
        self.challenges.retain(|_, challenged| *challenged != claim);
    }
}

fn text(meaning: Option<&Meaning>) -> Option<Digest> {
    match meaning {
        Some(Meaning::Claim(text)) => Some(*text),
        _ => None,
    }
}
