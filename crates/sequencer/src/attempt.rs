//! One attempt to have a command recorded: what can come of it, and what the command may have become before.

use std::sync::Arc;

use demur_engine::{Reply, context::Earlier};
use demur_ledger::{entry::Entry, envelope::Event, name::TraceId};
use demur_store::contract::Performed;

use super::{
    commit::{CommitLeader, Slot},
    error::SequencerError,
    read::read_performed,
};

/// What came of deciding.
pub(super) enum Step {
    /// It waits for a commit.
    Queued(Queued),
    /// The desk crashed after the newest event; that is recorded first.
    Interrupted,
    /// The trace goes by a newer registry than the one known here, so another process wrote both.
    Behind,
    /// Whoever is in flight with this command decides it; the look afterwards finds the result.
    InFlight(Arc<Slot>),
    /// Nothing is to be recorded. The answer may speak of something that is not on the disk yet, such as who was first:
    /// whoever gets it hears of it when it is.
    Silent(Reply, Option<Arc<Slot>>),
    /// Decide again, or look the command up.
    Over(Attempt),
}

/// What waits for a commit.
pub(super) struct Queued {
    /// What the caller is told after it.
    pub(super) reply: Reply,
    pub(super) slot: Arc<Slot>,
    /// The lead, if nobody has it.
    pub(super) leader: Option<CommitLeader>,
    /// What was decided, for a caller who has more to say first.
    pub(super) events: Vec<Entry>,
}

/// What came of one attempt.
pub(super) enum Attempt {
    /// This is the answer, and what it speaks of is on the disk.
    Settled(Reply),
    /// Something changed in the meantime.
    Again,
    /// The command may have been recorded before.
    LookUp,
}

/// What is known of what a command became before. Nearly every command is new, so the store is asked only when
/// something speaks for the contrary: a refusal, or the store's own refusal to record it.
pub(super) enum Past {
    Unknown,
    Known(Option<Box<EarlierEvent>>),
}

impl Past {
    pub(super) fn earlier(&self) -> Option<Earlier<'_>> {
        match self {
            Self::Known(Some(event)) => Some(event.as_earlier()),
            Self::Known(None) | Self::Unknown => None,
        }
    }
}

/// The event that a command became before.
pub(super) struct EarlierEvent {
    trace: TraceId,
    event: Event,
}

impl EarlierEvent {
    pub(super) fn parse(performed: &Performed) -> Result<Self, SequencerError> {
        Ok(Self { trace: performed.trace, event: read_performed(performed)? })
    }

    fn as_earlier(&self) -> Earlier<'_> {
        Earlier {
            statement: self.event.statement_bytes().unwrap_or_default(),
            trace: self.trace,
            position: self.event.position(),
        }
    }
}
