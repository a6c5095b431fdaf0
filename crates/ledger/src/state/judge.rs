//! What events mean, held against the demands of the format (`docs/format.md` 10): the policy, the tools, the calls, the
//! evidence, the texts. What is not known is not judged.

use std::collections::BTreeSet;

use demur_core::hash::Digest;

use super::{
    Phase, State, Step,
    policy::ToolRules,
    tool::{Intent, Status},
};
use crate::{
    attribution,
    confirmation::{ConfirmationOutcome, call_digest},
    event_type::Facts,
    facts::{FinalStatementSigned, ToolExecutionStarted, ToolIntentSigned, VerificationStatus},
    meaning::{ArtifactDigests, IntendedCall, Meaning, MeaningError, PolicyMeaning, ToolDemands, digest},
    name::Sequence,
    role::Role,
};

impl State {
    /// Returns the demands that an event breaks whose order is right.
    pub(super) fn judge(&self, step: &Step<'_>) -> Vec<MeaningError> {
        let mut broken = attribution::judge(step, &self.questions, &self.confirmations);
        match (step.said.facts, step.known.meaning) {
            (Facts::PolicyRecorded(_), Some(Meaning::Policy(policy))) => {
                broken.extend(self.judge_policy(policy));
            }
            (Facts::ToolIntentSigned(facts), Some(Meaning::Intent(call))) => {
                self.judge_intent(facts, call, &mut broken);
            }
            (Facts::ToolExecutionStarted(facts), _) => {
                self.judge_start(facts, step.known.artifacts, &mut broken);
            }
            (Facts::ToolExecutionCompleted(facts), _) => {
                broken.extend(judge_outputs(facts.started, &facts.outputs));
            }
            (Facts::ToolExecutionFailed(facts), _) => {
                broken.extend(judge_outputs(facts.started, &facts.outputs));
            }
            (Facts::ClaimIssued(facts), _) => {
                let cited = Cited { evidence: &facts.evidence, executions: &facts.executions };
                broken.extend(self.judge_evidence(&cited, facts.about_failure, step.known.artifacts));
            }
            (Facts::ClaimRevised(facts), _) => {
                let cited = Cited { evidence: &facts.evidence, executions: &facts.executions };
                broken.extend(self.judge_evidence(&cited, facts.about_failure, step.known.artifacts));
            }
            (Facts::FinalStatementSigned(facts), Some(Meaning::Bundle(texts))) => {
                broken.extend(self.judge_bundle(facts, texts));
            }
            (Facts::VerificationRunCompleted(facts), Some(Meaning::Verdict(report))) => {
                broken.extend(self.judge_verdict(facts.status, report, step.known.artifacts));
            }
            (Facts::ConditionJudged(facts), _) => broken.extend(self.judge_judgement(facts)),
            (Facts::CheckStated(facts), _) => broken.extend(Self::judge_check(step, facts)),
            (Facts::QuestionAsked(_), _) => broken.extend(self.judge_asker(step.said.role)),
            (Facts::ConfirmationAsked(facts), _) => {
                broken.extend(self.judge_asker(step.said.role));
                let intent = facts.about.and_then(|about| self.intents.get(&about));
                let call = intent.and_then(|intent| intent.call.as_deref());
                broken.extend(call.and_then(|call| self.judge_words_of(step.said.role, call)));
                broken.extend(self.confirmations.judge(step, call));
            }
            (Facts::ConfirmationGiven(_) | Facts::ConfirmationRefused(_), _) => {
                broken.extend(self.confirmations.judge(step, None));
            }
            _ => {}
        }
        broken
    }

    fn judge_policy(&self, policy: &PolicyMeaning) -> Option<MeaningError> {
        let opened = self.policy.as_ref()?;
        let said = &policy.numbers;
        let field = [
            ("approval_from", opened.approval_from == said.approval_from),
            ("evidence_minimum", opened.evidence_minimum == said.evidence_minimum),
            ("fallback", opened.fallback == said.fallback),
            ("retry_limit", opened.retry_limit == said.retry_limit),
        ];
        let differs = field.into_iter().find(|(_, same)| !same);
        differs.map(|(field, _)| MeaningError::PolicyMismatch { field })
    }

    fn judge_intent(&self, facts: &ToolIntentSigned, call: &IntendedCall, broken: &mut Vec<MeaningError>) {
        let tool = digest(&call.tool);
        let proposed = self.proposals.get(&facts.proposal).and_then(|proposal| proposal.tools.as_ref());
        if proposed.is_some_and(|tools| tools.binary_search(&tool).is_err()) {
            let (proposal, tool) = (facts.proposal, call.tool.clone());
            broken.push(MeaningError::ToolNotProposed { proposal, tool });
        }
        let Some(ToolRules::Named(tools)) = self.recorded_policy.as_ref().map(|policy| &policy.tools) else {
            return;
        };
        match tools.get(&tool) {
            None => broken.push(MeaningError::ToolNotAllowed { tool: call.tool.clone() }),
            Some(ToolDemands { risk: floor, .. }) if facts.risk < *floor => {
                broken.push(MeaningError::RiskUnderstated {
                    tool: call.tool.clone(),
                    floor: *floor,
                    found: facts.risk,
                });
            }
            Some(_) => {}
        }
    }

    /// Returns what the policy demands of a call, where it names its tool.
    fn demands_of(&self, call: &IntendedCall) -> Option<&ToolDemands> {
        match self.recorded_policy.as_ref().map(|policy| &policy.tools) {
            Some(ToolRules::Named(tools)) => tools.get(&digest(&call.tool)),
            _ => None,
        }
    }

    fn wants_person(&self, call: &IntendedCall) -> bool {
        self.demands_of(call).is_some_and(|demands| demands.confirm)
    }

    /// Where the input says which program it starts, that is one the policy names for the tool.
    fn judge_program(
        &self,
        input: Option<Sequence>,
        call: &IntendedCall,
        artifacts: &ArtifactDigests,
    ) -> Option<MeaningError> {
        let (input, demands) = (input?, self.demands_of(call)?);
        let is_foreign = !demands.programs.contains(artifacts.program(input)?);
        is_foreign.then(|| MeaningError::ProgramNotAllowed { input, tool: call.tool.clone() })
    }

    /// Where the policy wants a person's yes, whoever wants to act does not choose the words that the person reads.
    fn judge_words_of(&self, role: Role, call: &IntendedCall) -> Option<MeaningError> {
        let is_judge = matches!(role, Role::Critic | Role::Desk);
        let foreign = || MeaningError::ConfirmationForeign { role, tool: call.tool.clone() };
        (!is_judge && self.wants_person(call)).then(foreign)
    }

    /// Where the policy says so, a person has confirmed the intent. What was asked about it and not given is found elsewhere.
    fn judge_person(&self, intent: Sequence, call: &IntendedCall) -> Option<MeaningError> {
        if !self.wants_person(call) {
            return None;
        }
        let outcome = self.confirmations.about(intent).map(|(_, asked)| asked.outcome());
        match outcome {
            Some(outcome) if outcome.is_yes_of_a_person() => None,
            Some(ConfirmationOutcome::Given(_)) | None => {
                Some(MeaningError::ToolUnconfirmed { intent, tool: call.tool.clone() })
            }
            Some(
                ConfirmationOutcome::Open | ConfirmationOutcome::Refused(_) | ConfirmationOutcome::Expired,
            ) => None,
        }
    }

    fn judge_start(
        &self,
        facts: &ToolExecutionStarted,
        artifacts: &ArtifactDigests,
        broken: &mut Vec<MeaningError>,
    ) {
        let intent = self.intents.get(&facts.intent);
        let call = intent.and_then(|intent| intent.call.as_deref());
        match (facts.input, call) {
            (None, _) => broken.push(MeaningError::InputMissing),
            (Some(input), Some(call)) if artifacts.find(input).is_some_and(|bytes| *bytes != call.input) => {
                broken.push(MeaningError::InputMismatch { intent: facts.intent, input });
            }
            (Some(_), _) => {}
        }
        let unshown = self.unshown(facts.intent);
        broken.extend(
            unshown.map(|condition| MeaningError::ConditionUnshown { intent: facts.intent, condition }),
        );
        let about = self.confirmations.about(facts.intent).map(|(at, _)| at);
        // Most runs have none, and then nothing is hashed.
        let digest = call.filter(|_| self.confirmations.iter().next().is_some()).and_then(call_digest);
        broken.extend(self.confirmations.judge_start(about, digest.as_ref()));
        let (Some(intent), Some(call)) = (intent, call) else { return };
        broken.extend(self.judge_program(facts.input, call, artifacts));
        broken.extend(self.judge_person(facts.intent, call));
        broken.extend(self.judge_block(intent, call));
        broken.extend(self.judge_retries(call));
        let question = self.questions.blocking(&call.tool, self.depends(facts.intent));
        broken
            .extend(question.map(|question| MeaningError::ToolBlocked { tool: call.tool.clone(), question }));
    }

    /// A blocked call starts only approved after that, and not by calling it less risky.
    fn judge_block(&self, intent: &Intent, call: &IntendedCall) -> Option<MeaningError> {
        let blocked = self.calls.blocked(&call.id)?;
        match intent.status {
            Status::Approved(at) if at > blocked.at && intent.risk >= blocked.risk => None,
            _ => Some(MeaningError::BlockedAgain { blocked: blocked.at, risk: blocked.risk }),
        }
    }

    /// A call is tried again as often as the policy allows, whatever its intents say they retry.
    fn judge_retries(&self, call: &IntendedCall) -> Option<MeaningError> {
        let limit = self.policy.as_ref()?.retry_limit.as_u64();
        let failed = self.calls.failed(&call.id);
        (failed > limit).then_some(MeaningError::RetryLimit { limit, failed })
    }

    /// A claim rests on what its executions produced; one about a failure also on what they were given.
    fn judge_evidence(
        &self,
        cited: &Cited<'_>,
        about_failure: bool,
        artifacts: &ArtifactDigests,
    ) -> Option<MeaningError> {
        let mut counts = BTreeSet::new();
        for ending in cited.executions.iter().filter_map(|execution| self.endings.find(*execution)) {
            counts.extend(ending.outputs);
            counts.extend(ending.input.filter(|_| about_failure));
        }
        if let Some(artifact) = cited.evidence.iter().find(|artifact| !counts.contains(artifact)) {
            let expected = if about_failure { "were given or produced" } else { "produced" };
            return Some(MeaningError::EvidenceForeign { artifact: *artifact, expected });
        }
        let known: Vec<_> = cited.evidence.iter().filter_map(|artifact| artifacts.find(*artifact)).collect();
        let unknown = cited.evidence.len() - known.len();
        // Bytes that are not disclosed may all be different.
        let found = known.into_iter().collect::<BTreeSet<_>>().len() + unknown;
        let minimum = self.policy.as_ref()?.evidence_minimum.as_u64();
        ((found as u64) < minimum).then_some(MeaningError::EvidenceAlike { minimum, found })
    }

    fn judge_bundle(&self, facts: &FinalStatementSigned, texts: &[Digest]) -> Option<MeaningError> {
        let differs = |(claim, text): &(&Sequence, &Digest)| {
            self.claims.get(claim).copied().flatten().is_some_and(|said| said != **text)
        };
        let found = facts.claims.iter().zip(texts).find(differs);
        found.map(|(claim, _)| MeaningError::BundleDiffers { claim: *claim })
    }

    /// A verdict is that of a report whose bytes everybody has.
    fn judge_verdict(
        &self,
        found: VerificationStatus,
        named: &Digest,
        artifacts: &ArtifactDigests,
    ) -> Option<MeaningError> {
        let is_named = |report: &&Sequence| artifacts.find(**report) == Some(named);
        let Some(report) = self.reports.iter().find(is_named).copied() else {
            // One whose bytes are not known may be the one.
            let all_known = self.reports.iter().all(|report| artifacts.find(*report).is_some());
            return all_known.then_some(MeaningError::ReportMissing);
        };
        artifacts.contradiction(report, found)
    }

    /// Once all was said only the auditor may want to know more.
    fn judge_asker(&self, role: Role) -> Option<MeaningError> {
        let is_late = self.phase == Phase::Auditing && role != Role::Auditor;
        is_late.then_some(MeaningError::SpokeAfterFinal { role })
    }
}

/// What an execution produced was not there before it started. Nor is it its input, which was.
fn judge_outputs(started: Sequence, outputs: &[Sequence]) -> Option<MeaningError> {
    let artifact = *outputs.iter().find(|output| **output < started)?;
    Some(MeaningError::OutputEarlier { artifact, started })
}

/// What a claim cites.
struct Cited<'a> {
    evidence: &'a [Sequence],
    executions: &'a [Sequence],
}
