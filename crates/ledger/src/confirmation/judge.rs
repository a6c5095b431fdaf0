//! What confirmations demand of words: a yes is for one operation by its digest, and an operation for which one was asked starts
//! on a yes and on nothing else.

use demur_core::hash::Digest;

use super::{Confirmation, ConfirmationOutcome, ConfirmationStanding, Confirmations};
use crate::{
    content::{call_operation, operation_digest},
    erasure::Erasures,
    event_type::Facts,
    facts::OperationStarted,
    meaning::{IntendedCall, Meaning, MeaningError, OperationMeaning},
    name::Sequence,
    state::Step,
};

/// Returns the digest of the operation that a call of a run is: what a confirmation about its intent binds.
pub(crate) fn call_digest(call: &IntendedCall) -> Option<Digest> {
    operation_digest(&call_operation(&call.tool, &call.input)).ok()
}

impl Confirmations {
    /// Returns what an ask, a yes or a no breaks of the digest that it names, where the words are known. In a run `call` is that
    /// of the intent which the ask is about.
    pub(crate) fn judge(&self, step: &Step<'_>, call: Option<&IntendedCall>) -> Option<MeaningError> {
        match (step.said.facts, step.known.meaning?) {
            (Facts::ConfirmationAsked(_), Meaning::Operation(operation)) => Self::judge_ask(operation, call),
            (Facts::ConfirmationGiven(facts), Meaning::Digest(said)) => {
                self.judge_reply(facts.confirmation.sequence, said)
            }
            (Facts::ConfirmationRefused(facts), Meaning::Digest(said)) => {
                self.judge_reply(facts.confirmation.sequence, said)
            }
            _ => None,
        }
    }

    /// What is asked is the operation shown, and in a run the call of its intent.
    fn judge_ask(operation: &OperationMeaning, call: Option<&IntendedCall>) -> Option<MeaningError> {
        let other = MeaningError::ConfirmationMismatch { expected: "of the operation beside it" };
        if operation.said != operation.found {
            return Some(other);
        }
        let intended = call.and_then(call_digest)?;
        let expected = "of the tool and the input that its intent names";
        (intended != operation.found).then_some(MeaningError::ConfirmationMismatch { expected })
    }

    /// A yes or a no is about the operation that was asked about.
    fn judge_reply(&self, confirmation: Sequence, said: &Digest) -> Option<MeaningError> {
        let asked = self.0.get(&confirmation)?.digest?;
        let expected = "of the operation that was asked about";
        (asked != *said).then_some(MeaningError::ConfirmationMismatch { expected })
    }

    /// The words of a start tell the operation that it names.
    pub(crate) fn judge_operation(
        &self,
        facts: &OperationStarted,
        meaning: Option<&Meaning>,
        erasures: &Erasures,
        broken: &mut Vec<MeaningError>,
    ) {
        let found = match meaning {
            Some(Meaning::Operation(operation)) => {
                if operation.said != operation.found {
                    broken
                        .push(MeaningError::ConfirmationMismatch { expected: "of the operation beside it" });
                }
                Some(&operation.found)
            }
            // It may be any operation, also one that was refused.
            Some(Meaning::Untold) => {
                let newest = self.0.last_key_value();
                broken.extend(newest.map(|(at, _)| MeaningError::OperationUntold { confirmation: *at }));
                None
            }
            _ => None,
        };
        broken.extend(facts.confirmation.and_then(|at| self.judge_words(at, erasures)));
        broken.extend(self.judge_start(facts.confirmation, found));
    }

    /// A yes is worth something while somebody can tell to what. It goes by what is recorded as erased and by nothing that a
    /// process happens to remember, so that every reader finds the same.
    fn judge_words(&self, confirmation: Sequence, erasures: &Erasures) -> Option<MeaningError> {
        let said = self.0.get(&confirmation)?.outcome.said()?;
        let is_gone = erasures.contains(confirmation) && erasures.contains(said.at);
        is_gone.then_some(MeaningError::ConfirmationErased { confirmation })
    }

    /// An operation for which a confirmation was asked starts on one that was given for it and was not spent.
    pub(crate) fn judge_start(
        &self,
        confirmation: Option<Sequence>,
        digest: Option<&Digest>,
    ) -> Option<MeaningError> {
        if let Some(at) = confirmation {
            let asked = self.0.get(&at)?;
            let differs = asked.digest.as_ref().zip(digest).is_some_and(|(asked, found)| asked != found);
            let expected = "of the operation that was confirmed";
            let mismatch = differs.then_some(MeaningError::ConfirmationMismatch { expected });
            return unfit(at, asked).or(mismatch);
        }
        // The newest one tells most.
        let (at, asked) =
            self.0.iter().rev().find(|(_, asked)| digest.is_some() && asked.digest.as_ref() == digest)?;
        let unnamed =
            MeaningError::OperationUnconfirmed { confirmation: *at, standing: ConfirmationStanding::Given };
        Some(unfit(*at, asked).unwrap_or(unnamed))
    }
}

/// Returns why nothing may start on this one.
fn unfit(confirmation: Sequence, asked: &Confirmation) -> Option<MeaningError> {
    match (&asked.outcome, asked.starts.first()) {
        (ConfirmationOutcome::Given(_), None) => None,
        (ConfirmationOutcome::Given(_), Some(started)) => {
            Some(MeaningError::ConfirmationSpent { confirmation, started: *started })
        }
        (outcome, _) => {
            Some(MeaningError::OperationUnconfirmed { confirmation, standing: outcome.standing() })
        }
    }
}
