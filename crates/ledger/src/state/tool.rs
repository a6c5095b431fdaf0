//! Tool calls: intent, review, start, end, retry (LED-06, LED-11, LED-21, LED-23, LED-27, LED-32).

use serde::{Deserialize, Serialize};

use super::{GuardError, Phase, State, proposal::Proposal};
use crate::{
    facts::{IntentDecision, Risk, ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned},
    name::Sequence,
    question::EXECUTE,
};

/// An intent in play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) status: Status,
    risk: Risk,
    proposal: Sequence,
    /// How many attempts came before.
    attempt: u64,
}

/// What became of an intent so far. A completed one is forgotten; a blocked one is kept to say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Status {
    Signed,
    Approved,
    Blocked,
    Started,
    Failed,
}

impl State {
    pub(super) fn guard_intent(&self, facts: &ToolIntentSigned) -> Result<(), GuardError> {
        if self.phase == Phase::Claiming && self.challenges.is_empty() {
            return Err(GuardError::ChallengeNeeded);
        }
        match self.proposals.get(&facts.proposal) {
            Some(Proposal::Approved { conditions }) => check_conditions(facts, *conditions)?,
            Some(_) => return Err(GuardError::ProposalNotApproved { proposal: facts.proposal }),
            None => {
                let expected = "an approved proposal";
                return Err(GuardError::Reference { field: "proposal", sequence: facts.proposal, expected });
            }
        }
        let Some(retried) = facts.retries else { return Ok(()) };
        let limit = self.demands()?.retry_limit.as_u64();
        match self.intents.get(&retried) {
            Some(intent) if intent.status == Status::Failed && intent.attempt >= limit => {
                Err(GuardError::RetryLimit { limit })
            }
            Some(intent) if intent.status == Status::Failed => Ok(()),
            _ => {
                let expected = "an intent whose execution failed and that was not tried again yet";
                Err(GuardError::Reference { field: "retries", sequence: retried, expected })
            }
        }
    }

    pub(super) fn guard_intent_review(&self, facts: &ToolIntentReviewed) -> Result<(), GuardError> {
        match self.intents.get(&facts.intent) {
            Some(intent) if matches!(intent.status, Status::Signed | Status::Approved) => Ok(()),
            _ => {
                let expected = "an intent that has neither started nor been blocked";
                Err(GuardError::Reference { field: "intent", sequence: facts.intent, expected })
            }
        }
    }

    pub(super) fn guard_start(&self, facts: &ToolExecutionStarted) -> Result<(), GuardError> {
        if let Some(input) = facts.input {
            self.guard_artifact("input", input)?;
        }
        let intent = self.intents.get(&facts.intent).ok_or(GuardError::Reference {
            field: "intent",
            sequence: facts.intent,
            expected: "an intent that was signed before",
        })?;
        match intent.status {
            Status::Approved => Ok(()),
            Status::Signed if intent.risk < self.demands()?.approval_from => Ok(()),
            Status::Signed => Err(GuardError::ApprovalMissing { intent: facts.intent }),
            Status::Blocked => Err(GuardError::IntentBlocked { intent: facts.intent }),
            Status::Started | Status::Failed => Err(GuardError::IntentUsed { intent: facts.intent }),
        }
    }

    /// No tool starts while a question is open that it depends on (LED-31).
    pub(super) fn guard_waiting(&self, facts: &ToolExecutionStarted) -> Result<(), GuardError> {
        let proposal = self.intents.get(&facts.intent).map(|intent| intent.proposal);
        let depends = |about| about == facts.intent || Some(about) == proposal;
        Ok(self.questions.guard_operation(EXECUTE, depends)?)
    }

    pub(super) fn guard_end(&self, started: Sequence, outputs: &[Sequence]) -> Result<(), GuardError> {
        let (_, has_input) = self.executions.get(&started).ok_or(GuardError::Reference {
            field: "started",
            sequence: started,
            expected: "an execution that has started and not ended",
        })?;
        check_ascending("outputs", outputs)?;
        for output in outputs {
            self.guard_artifact("outputs", *output)?;
        }
        if *has_input || !outputs.is_empty() { Ok(()) } else { Err(GuardError::NoArtifact { started }) }
    }

    pub(super) fn guard_artifact(&self, field: &'static str, sequence: Sequence) -> Result<(), GuardError> {
        if self.artifacts.contains(sequence) {
            Ok(())
        } else {
            Err(GuardError::Reference { field, sequence, expected: "a recorded artifact" })
        }
    }

    pub(super) fn guard_no_open_execution(&self) -> Result<(), GuardError> {
        match self.executions.keys().next() {
            Some(started) => Err(GuardError::ExecutionOpen { started: *started }),
            None => Ok(()),
        }
    }

    pub(super) fn fold_intent(&mut self, at: Sequence, facts: &ToolIntentSigned) {
        let before = facts.retries.and_then(|retried| self.intents.remove(&retried));
        let attempt = before.map_or(0, |intent| intent.attempt + 1);
        self.intents.insert(
            at,
            Intent { status: Status::Signed, risk: facts.risk, proposal: facts.proposal, attempt },
        );
    }

    pub(super) fn fold_intent_review(&mut self, facts: &ToolIntentReviewed) {
        if let Some(intent) = self.intents.get_mut(&facts.intent) {
            intent.status = match facts.decision {
                IntentDecision::Approved => Status::Approved,
                IntentDecision::Blocked => Status::Blocked,
            };
        }
    }

    pub(super) fn fold_start(&mut self, at: Sequence, facts: &ToolExecutionStarted) {
        if let Some(intent) = self.intents.get_mut(&facts.intent) {
            intent.status = Status::Started;
        }
        self.executions.insert(at, (facts.intent, facts.input.is_some()));
    }

    pub(super) fn fold_end(&mut self, at: Sequence, started: Sequence, completed: bool) {
        let Some((intent, _)) = self.executions.remove(&started) else { return };
        if completed {
            self.intents.remove(&intent);
            self.completed.insert(at);
        } else {
            if let Some(intent) = self.intents.get_mut(&intent) {
                intent.status = Status::Failed;
            }
            self.failed.insert(at);
        }
    }
}

/// Every condition of the approval must be named, and nothing else.
fn check_conditions(facts: &ToolIntentSigned, conditions: u64) -> Result<(), GuardError> {
    let met = facts.meets.iter().map(|number| number.as_u64());
    if met.eq(0..conditions) { Ok(()) } else { Err(GuardError::ConditionsUnmet { conditions }) }
}

/// References stand in order, each once, so that one set has one spelling.
pub(super) fn check_ascending(field: &'static str, cited: &[Sequence]) -> Result<(), GuardError> {
    if cited.is_sorted_by(|left, right| left < right) { Ok(()) } else { Err(GuardError::Ascending { field }) }
}
