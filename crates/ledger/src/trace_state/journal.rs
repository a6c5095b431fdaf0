//! The journal of a store: who signed in, when. Nothing waits in it, and it goes on for as long as its store.

use serde::{Deserialize, Serialize};

use crate::{
    attribution,
    confirmation::Confirmations,
    envelope::Event,
    erasure::Erasures,
    event_type::{Opens, TraceKind, TypeName},
    meaning::{Known, MeaningError},
    name::Position,
    question::Questions,
    state::{GuardError, Step},
};

/// The state of the journal. Its serialized form is for snapshots of the same version of the code only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    head: Option<Position>,
    erasures: Erasures,
}

impl Journal {
    /// Returns the last event folded in.
    pub const fn head(&self) -> Option<Position> {
        self.head
    }

    /// Returns what was erased.
    pub const fn erasures(&self) -> &Erasures {
        &self.erasures
    }

    /// Folds an event into the state. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event, known: Known<'_>) -> Result<(), GuardError> {
        let step = Step::of(event, known)?;
        self.check(&step)?;
        self.advance(&step, event.position());
        Ok(())
    }

    /// Folds an event into the state, whatever it means: returns the demands that it breaks. On an error nothing has changed.
    pub fn follow(&mut self, event: &Event, known: Known<'_>) -> Result<Vec<MeaningError>, GuardError> {
        let step = Step::of(event, known)?;
        self.check_order(&step)?;
        self.advance(&step, event.position());
        Ok(judge(&step))
    }

    /// Returns why this event may not happen now, if it may not. Changes nothing.
    pub fn check(&self, step: &Step<'_>) -> Result<(), GuardError> {
        self.check_order(step)?;
        judge(step).into_iter().next().map_or(Ok(()), |error| Err(GuardError::Meaning(error)))
    }

    fn check_order(&self, step: &Step<'_>) -> Result<(), GuardError> {
        let trace = TraceKind::Journal;
        let kind = match step.said.kind {
            TypeName::Known(kind) if kind.stands_in(trace) => *kind,
            other => return Err(GuardError::NotOfThisTrace { kind: other.clone(), trace }),
        };
        step.check(kind, self.head.map_or(0, |head| head.sequence.next().number()))?;
        match (kind.rule().opens, self.head) {
            (Opens::Always, None) | (Opens::Never, Some(_)) => {}
            (Opens::Always | Opens::Maybe, _) => {
                return Err(GuardError::OpenedAlready { kind, trace });
            }
            (Opens::Never, None) => return Err(GuardError::NotOpened),
        }
        Ok(self.erasures.guard(step.sequence, step.said.facts)?)
    }

    fn advance(&mut self, step: &Step<'_>, position: Position) {
        self.erasures.fold(step.sequence, step.said.facts);
        self.head = Some(position);
    }
}

/// Nobody asks here: an act is judged by its own way alone.
fn judge(step: &Step<'_>) -> Vec<MeaningError> {
    attribution::judge(step, &Questions::new(), &Confirmations::new())
}
