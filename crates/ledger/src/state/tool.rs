//! Tool calls: intent, review, start, end, retry (LED-06, LED-11, LED-21, LED-23, LED-27, LED-32).

use serde::{Deserialize, Serialize};

use super::{
    GuardError, Phase, State, calls::MAX_FAILED_CALLS, conditions::Conditions, endings::Ending,
    proposal::Review,
};
use crate::{
    facts::{IntentDecision, Risk, ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned},
    meaning::{IntendedCall, Meaning},
    name::Sequence,
    question::EXECUTE,
};

/// An intent in play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) status: Status,
    pub(super) risk: Risk,
    pub(super) proposal: Sequence,
    /// How many attempts came before.
    attempt: u64,
    /// What it is about, where that is known.
    pub(super) call: Option<Box<IntendedCall>>,
    /// Those of its proposal's approval.
    pub(super) conditions: Conditions,
}

/// An execution that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Execution {
    intent: Sequence,
    input: Option<Sequence>,
}

/// What became of an intent so far. A completed one is forgotten; a blocked one is kept to say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Status {
    Signed,
    /// By this review.
    Approved(Sequence),
    Blocked,
    Started,
    Failed,
}

impl State {
    pub(super) fn guard_intent(&self, facts: &ToolIntentSigned) -> Result<(), GuardError> {
        if self.phase == Phase::Claiming && self.challenges.is_empty() {
            return Err(GuardError::ChallengeNeeded);
        }
        match self.review(facts.proposal) {
            Some(Review::Approved { conditions }) => check_conditions(facts, conditions)?,
            Some(Review::Pending | Review::Refused) => {
                return Err(GuardError::ProposalNotApproved { proposal: facts.proposal });
            }
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
        self.guard_waits(facts.intent, "intent")
    }

    /// Checks that this intent has not been carried out, and still may be.
    pub(super) fn guard_waits(&self, sequence: Sequence, field: &'static str) -> Result<(), GuardError> {
        match self.intents.get(&sequence) {
            Some(intent) if matches!(intent.status, Status::Signed | Status::Approved(_)) => Ok(()),
            _ => {
                let expected = "an intent that has neither started nor been blocked";
                Err(GuardError::Reference { field, sequence, expected })
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
            Status::Approved(_) => {}
            Status::Signed if intent.risk < self.demands()?.approval_from => {}
            Status::Signed => return Err(GuardError::ApprovalMissing { intent: facts.intent }),
            Status::Blocked => return Err(GuardError::IntentBlocked { intent: facts.intent }),
            Status::Started | Status::Failed => {
                return Err(GuardError::IntentUsed { intent: facts.intent });
            }
        }
        match &intent.call {
            Some(call) if !self.calls.has_room(&call.id) => {
                Err(GuardError::TooMany { what: "failed calls", limit: MAX_FAILED_CALLS })
            }
            _ => Ok(()),
        }
    }

    /// No tool starts while a question is open that it depends on (LED-31).
    pub(super) fn guard_waiting(&self, facts: &ToolExecutionStarted) -> Result<(), GuardError> {
        Ok(self.questions.guard_operation(EXECUTE, self.depends(facts.intent))?)
    }

    /// Returns what an intent depends on: itself, and its proposal.
    pub(super) fn depends(&self, intent: Sequence) -> impl Fn(Sequence) -> bool {
        let proposal = self.intents.get(&intent).map(|intent| intent.proposal);
        move |about| about == intent || Some(about) == proposal
    }

    pub(super) fn guard_end(&self, started: Sequence, outputs: &[Sequence]) -> Result<(), GuardError> {
        let execution = self.executions.get(&started).ok_or(GuardError::Reference {
            field: "started",
            sequence: started,
            expected: "an execution that has started and not ended",
        })?;
        check_ascending("outputs", outputs)?;
        for output in outputs {
            self.guard_artifact("outputs", *output)?;
        }
        if execution.input.is_some() || !outputs.is_empty() {
            Ok(())
        } else {
            Err(GuardError::NoArtifact { started })
        }
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

    pub(super) fn fold_intent(&mut self, at: Sequence, facts: &ToolIntentSigned, meaning: Option<&Meaning>) {
        let before = facts.retries.and_then(|retried| self.intents.remove(&retried));
        let attempt = before.map_or(0, |intent| intent.attempt + 1);
        let call = match meaning {
            Some(Meaning::Intent(call)) => Some(call.clone()),
            _ => None,
        };
        let (status, risk, proposal) = (Status::Signed, facts.risk, facts.proposal);
        let conditions = Conditions::new(facts.meets.len() as u64);
        self.intents.insert(at, Intent { status, risk, proposal, attempt, call, conditions });
    }

    pub(super) fn fold_intent_review(&mut self, at: Sequence, facts: &ToolIntentReviewed) {
        let Some(intent) = self.intents.get_mut(&facts.intent) else { return };
        intent.status = match facts.decision {
            IntentDecision::Approved => Status::Approved(at),
            IntentDecision::Blocked => Status::Blocked,
        };
        if let (IntentDecision::Blocked, Some(call)) = (facts.decision, &intent.call) {
            self.calls.block(call.id, at, intent.risk);
        }
    }

    pub(super) fn fold_start(&mut self, at: Sequence, facts: &ToolExecutionStarted) {
        if let Some(intent) = self.intents.get_mut(&facts.intent) {
            intent.status = Status::Started;
        }
        self.executions.insert(at, Execution { intent: facts.intent, input: facts.input });
    }

    pub(super) fn fold_end(
        &mut self,
        at: Sequence,
        started: Sequence,
        completed: bool,
        outputs: &[Sequence],
    ) {
        let Some(Execution { intent, input }) = self.executions.remove(&started) else { return };
        let call = self.intents.get(&intent).and_then(|intent| intent.call.as_ref());
        if let Some(call) = call {
            self.calls.end(call.id, completed);
        }
        if completed {
            self.intents.remove(&intent);
        } else if let Some(intent) = self.intents.get_mut(&intent) {
            intent.status = Status::Failed;
        }
        self.endings.push(at, &Ending { completed, input, outputs: outputs.to_vec() });
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
