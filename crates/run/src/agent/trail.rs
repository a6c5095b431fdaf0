//! What a desk has shown of a trace so far, and whether the next of it follows (`docs/format.md` 1 and 5).

use demur_core::commitment::Commitment;
use demur_ledger::{
    envelope::{Disagreement, Event},
    name::{Position, Sequence, StoreId, TraceId},
};

use crate::line::{ShownArtifact, ShownEvent};

/// The end of the trace as an agent knows it.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    store: StoreId,
    trace: TraceId,
    head: Option<Position>,
    /// What the line after an event that records bytes has to open.
    due: Option<Commitment>,
}

impl Trail {
    /// Returns the trail before the first event.
    pub(super) const fn new(store: StoreId, trace: TraceId) -> Self {
        Self { store, trace, head: None, due: None }
    }

    /// Returns the newest event.
    pub(super) const fn head(&self) -> Option<Position> {
        self.head
    }

    /// Takes the next event, if it is the next.
    pub(super) fn follow(&mut self, shown: &ShownEvent) -> Result<(), TrailError> {
        let event = &shown.event;
        let envelope = event.envelope();
        self.check_settled()?;
        if (envelope.store, envelope.trace) != (Some(self.store), self.trace) {
            return Err(TrailError::OtherTrace { sequence: envelope.sequence });
        }
        let expected = self.head.map_or(Sequence::FIRST, |head| head.sequence.next());
        if (envelope.sequence, envelope.previous) != (expected, self.head.map(|head| head.hash)) {
            return Err(TrailError::Chain { expected, found: envelope.sequence });
        }
        if let Some(opening) = &shown.opening
            && Some(opening.commitment()) != envelope.content
        {
            return Err(TrailError::Opening { what: "content", sequence: envelope.sequence });
        }
        self.due = artifact_of(event)?;
        self.head = Some(event.position());
        Ok(())
    }

    /// Takes the artifact of the newest event, if it is that.
    pub(super) fn open(&mut self, shown: &ShownArtifact) -> Result<(), TrailError> {
        let sequence = shown.event;
        match self.due.take() {
            Some(due) if self.head.is_some_and(|head| head.sequence == sequence) => match &shown.artifact {
                Some(artifact) if artifact.commitment() != due => {
                    Err(TrailError::Opening { what: "artifact", sequence })
                }
                _ => Ok(()),
            },
            _ => Err(TrailError::ArtifactOutOfPlace { sequence }),
        }
    }

    /// Checks that the desk means the event that it showed last.
    pub(super) fn check_head(&self, head: Option<Position>) -> Result<(), TrailError> {
        self.check_settled()?;
        if head == self.head { Ok(()) } else { Err(TrailError::Head) }
    }

    fn check_settled(&self) -> Result<(), TrailError> {
        if self.due.is_none() { Ok(()) } else { Err(TrailError::ArtifactMissing) }
    }
}

fn artifact_of(event: &Event) -> Result<Option<Commitment>, TrailError> {
    Ok(event.agree()?.facts.recorded_bytes().copied())
}

/// A trace that does not hold: the desk is wrong, or lies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrailError {
    /// An event of another trace or store.
    #[error("expected an event of the trace that the desk named, found event {sequence} of another")]
    OtherTrace {
        /// Which.
        sequence: Sequence,
    },
    /// An event that does not follow the one before.
    #[error("expected event {expected} with the hash of the one before, found event {found} or another hash")]
    Chain {
        /// Which should come.
        expected: Sequence,
        /// Which came.
        found: Sequence,
    },
    /// Content or bytes that are not what was committed to.
    #[error("the {what} of event {sequence} does not open its commitment")]
    Opening {
        /// Content or artifact.
        what: &'static str,
        /// Of which event.
        sequence: Sequence,
    },
    /// An artifact that the event before does not record.
    #[error("expected an artifact right after the event that records it, found one of event {sequence}")]
    ArtifactOutOfPlace {
        /// Of which event.
        sequence: Sequence,
    },
    /// An event that records bytes, without them.
    #[error("expected the artifact of the event before, found another line")]
    ArtifactMissing,
    /// The desk names another newest event than it showed.
    #[error("expected the newest event in the turn, found another")]
    Head,
    /// An envelope that contradicts itself.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
}
