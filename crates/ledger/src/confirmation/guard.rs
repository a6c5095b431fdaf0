//! What may happen to a confirmation: who may say yes or no, when, and with what assurance.

use super::{Confirmation, ConfirmationError, ConfirmationOutcome, Confirmations};
use crate::{
    event_type::Facts,
    facts::{Assurance, ConfirmationAsked},
    name::{Position, PrincipalId, Sequence},
    question::{author, check_answerers, check_entitled, check_somebody},
    state::{GuardError, Step},
};

impl Confirmations {
    /// Checks that this may happen to the confirmations now; other events have no say here. `acts` says of a principal whether
    /// operations of this trace are its own.
    pub(crate) fn guard(
        &self,
        step: &Step<'_>,
        acts: impl Fn(PrincipalId) -> bool,
    ) -> Result<(), GuardError> {
        match step.said.facts {
            Facts::ConfirmationAsked(facts) => self.guard_ask(step, facts),
            Facts::ConfirmationGiven(facts) => {
                self.guard_reply(step, &facts.confirmation, facts.assurance, acts)
            }
            Facts::ConfirmationRefused(facts) => {
                self.guard_reply(step, &facts.confirmation, facts.assurance, acts)
            }
            Facts::ConfirmationExpired(facts) => Ok(self.guard_expiry(step, facts.confirmation)?),
            Facts::OperationStarted(facts) => match facts.confirmation {
                Some(confirmation) => Ok(self.known(confirmation).map(|_| ())?),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Checks that none is open: nothing is concluded while an operation waits for a yes.
    pub(crate) fn guard_conclusion(&self) -> Result<(), ConfirmationError> {
        let open: Vec<Sequence> = self.open().map(|(at, _)| at).collect();
        if open.is_empty() { Ok(()) } else { Err(ConfirmationError::StillOpen { confirmations: open }) }
    }

    fn guard_ask(&self, step: &Step<'_>, facts: &ConfirmationAsked) -> Result<(), GuardError> {
        if self.0.len() >= MAX_CONFIRMATIONS {
            return Err(ConfirmationError::TooMany { limit: MAX_CONFIRMATIONS }.into());
        }
        check_answerers(&facts.answerers)?;
        check_somebody(&facts.answerers, facts.assurance, Some(step.actor))?;
        if facts.deadline.is_some_and(|deadline| deadline <= step.time) {
            let (field, expected) = ("deadline", "a time to come");
            return Err(ConfirmationError::Form { field, expected }.into());
        }
        match facts.about.and_then(|intent| self.about(intent)) {
            // A no is final for its intent; another try is another intent.
            Some((confirmation, _)) => Err(ConfirmationError::AskedBefore { confirmation }.into()),
            None => Ok(()),
        }
    }

    /// Exactly one yes or no, by somebody entitled, in time, and never by whoever wants to act.
    fn guard_reply(
        &self,
        step: &Step<'_>,
        confirmation: &Position,
        claimed: Assurance,
        acts: impl Fn(PrincipalId) -> bool,
    ) -> Result<(), GuardError> {
        let at = confirmation.sequence;
        let asked = self.known(at)?;
        if asked.hash != confirmation.hash {
            return Err(ConfirmationError::Other { confirmation: at }.into());
        }
        asked.guard_open(at, step)?;
        if author(step).is_some_and(|principal| principal == asked.asker || acts(principal)) {
            return Err(ConfirmationError::OwnClient.into());
        }
        Ok(check_entitled(step, &asked.facts.answerers, asked.facts.assurance, claimed)?)
    }

    fn guard_expiry(&self, step: &Step<'_>, confirmation: Sequence) -> Result<(), ConfirmationError> {
        self.guard_closing(confirmation)?;
        let asked = self.known(confirmation)?;
        if asked.in_time(step.time) { Err(ConfirmationError::StillInTime { confirmation }) } else { Ok(()) }
    }

    /// After a plan was withdrawn or a run aborted the desk closes what is still open, whatever its deadline.
    pub(crate) fn guard_closing(&self, confirmation: Sequence) -> Result<(), ConfirmationError> {
        let asked = self.known(confirmation)?;
        match asked.outcome {
            ConfirmationOutcome::Open => Ok(()),
            _ => Err(asked.closed(confirmation)),
        }
    }

    fn known(&self, confirmation: Sequence) -> Result<&Confirmation, ConfirmationError> {
        self.0.get(&confirmation).ok_or(ConfirmationError::Unknown { confirmation })
    }
}

impl Confirmation {
    fn guard_open(&self, confirmation: Sequence, step: &Step<'_>) -> Result<(), ConfirmationError> {
        match (&self.outcome, self.facts.deadline) {
            (ConfirmationOutcome::Open, Some(deadline)) if step.time >= deadline => {
                Err(ConfirmationError::Expired { confirmation, deadline })
            }
            (ConfirmationOutcome::Open, _) => Ok(()),
            _ => Err(self.closed(confirmation)),
        }
    }

    fn closed(&self, confirmation: Sequence) -> ConfirmationError {
        let standing = self.outcome.standing();
        ConfirmationError::Closed { confirmation, standing, said: self.outcome.said() }
    }
}

/// How many confirmations one trace can have.
const MAX_CONFIRMATIONS: usize = 1024;
