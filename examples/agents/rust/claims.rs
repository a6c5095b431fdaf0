//! The second half of the executor: it claims what came out, answers challenges, and signs the final statement.

use std::{collections::BTreeSet, error::Error};

use demur_ledger::{
    content::{ClaimContent, FinalClaim, FinalStatementContent},
    event_type::Content,
    facts::{ClaimIssued, ClaimRevised, FinalStatementSigned},
    name::Sequence,
};
use demur_run::history::{Claimed, Ended};

use crate::{
    Executor,
    plan::{Call, Plan},
};

impl Executor {
    /// Claims what ended and was not claimed yet. A turn later, when the critic has looked, answers its challenges, and
    /// signs the final statement when there is nothing left to answer.
    pub(crate) fn claim(&mut self, plan: &Plan) -> Result<(), Box<dyn Error>> {
        let ended: Vec<_> = plan.calls.iter().filter_map(|call| Some((call, self.ended(call)?))).collect();
        let new: Vec<_> = ended
            .into_iter()
            .filter(|(call, ended)| {
                let text = claim_text(call, ended);
                !self.history.said.iter().any(|(said, _)| *said == text)
            })
            .collect();
        let weak = self.weak_claims();
        match (new.is_empty(), weak.is_empty()) {
            (false, _) => new.iter().try_for_each(|(call, ended)| self.issue(call, ended)),
            (true, false) => weak.into_iter().try_for_each(|(at, claimed)| self.revise(at, &claimed)),
            (true, true) if self.history.claims.is_empty() => Ok(()),
            (true, true) => self.finish(plan),
        }
    }

    /// Returns how a call ended, if it did.
    fn ended(&self, call: &Call) -> Option<Ended> {
        let (_, hash) = call.input().ok()?;
        let mut attempts = self.history.intents.values().rev();
        attempts.find(|intent| intent.input_hash == Some(hash)).and_then(|intent| intent.ended.clone())
    }

    fn issue(&mut self, call: &Call, ended: &Ended) -> Result<(), Box<dyn Error>> {
        // Only a failure is shown by what the tool was given, too.
        let input = self.history.artifacts.get(&call.input_name()).copied();
        let input = input.filter(|_| ended.failure.is_some());
        let evidence: Vec<Sequence> = input.into_iter().chain(ended.outputs.iter().copied()).collect();
        let facts = ClaimIssued {
            about_failure: ended.failure.is_some(),
            evidence: evidence.try_into()?,
            executions: vec![ended.at].try_into()?,
        };
        self.agent.say(facts, Content::ClaimIssued(content(&claim_text(call, ended))?))?;
        Ok(())
    }

    /// Returns the disputed claims that do not cite all there is yet.
    fn weak_claims(&self) -> Vec<(Sequence, Claimed)> {
        let disputed: BTreeSet<&Sequence> = self.history.challenges.values().collect();
        let weak = self.history.claims.iter().filter(|(at, claimed)| {
            let (everything, _) = self.everything(claimed.about_failure);
            disputed.contains(at) && claimed.evidence.len() < everything.len()
        });
        weak.map(|(at, claimed)| (*at, claimed.clone())).collect()
    }

    /// Says a disputed claim again, and cites everything that can be cited.
    fn revise(&mut self, replaces: Sequence, claimed: &Claimed) -> Result<(), Box<dyn Error>> {
        let (evidence, executions) = self.everything(claimed.about_failure);
        let facts = ClaimRevised {
            about_failure: claimed.about_failure,
            evidence: evidence.try_into()?,
            executions: executions.try_into()?,
            replaces,
        };
        self.agent.say(facts, Content::ClaimRevised(content(&claimed.text)?))?;
        Ok(())
    }

    /// Returns what the executions produced that a claim can be about, and those executions. What a tool was given, and
    /// what failed, counts for a claim about a failure alone; the outputs are enough here.
    fn everything(&self, about_failure: bool) -> (Vec<Sequence>, Vec<Sequence>) {
        let ended = self.history.intents.values().filter_map(|intent| intent.ended.as_ref());
        let ended: Vec<_> = ended.filter(|ended| about_failure || ended.failure.is_none()).collect();
        let outputs: BTreeSet<Sequence> = ended.iter().flat_map(|ended| ended.outputs.clone()).collect();
        let executions: BTreeSet<Sequence> = ended.iter().map(|ended| ended.at).collect();
        (outputs.into_iter().collect(), executions.into_iter().collect())
    }

    fn finish(&mut self, plan: &Plan) -> Result<(), Box<dyn Error>> {
        let claims: Vec<Sequence> = self.history.claims.keys().copied().collect();
        let said = self.history.claims.iter().map(|(claim, claimed)| {
            Ok(FinalClaim { claim: *claim, text: claimed.text.as_str().try_into()? })
        });
        let said = said.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
        let content =
            FinalStatementContent { claims: said.try_into()?, verdict: plan.verdict.as_str().try_into()? };
        let facts = FinalStatementSigned { claims: claims.try_into()? };
        self.agent.say(facts, Content::FinalStatementSigned(content))?;
        Ok(())
    }
}

/// Returns what is claimed about a call that ended.
fn claim_text(call: &Call, ended: &Ended) -> String {
    match ended.failure {
        None => call.claim.clone(),
        Some(_) => format!("The call {} failed.", call.name),
    }
}

fn content(text: &str) -> Result<ClaimContent, Box<dyn Error>> {
    Ok(ClaimContent { confidence: 90.try_into()?, text: text.try_into()? })
}
