//! Effects on other traces. There is never a transaction across traces: a reactor reads the log, says what an event
//! demands elsewhere, and derives the command id of the effect from the event that caused it. The uniqueness of
//! (author key, command id) then makes the effect happen once, however often the log is read again.

use demur_core::{
    hash::{Digest, Hasher, Purpose},
    id::Ulid,
};
use demur_ledger::{envelope::Event, event_type::Facts, name::CommandId};

/// Something that has to happen in another trace because of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The registry fixes the set of all traces, so that the run that just ended provably stood in the store.
    RecordCheckpoint,
}

/// Reads events and says what they demand elsewhere.
pub trait Reactor {
    /// Returns its name. It is part of the idempotency key and never changes.
    fn name(&self) -> &'static str;

    /// Returns what this event demands in another trace.
    fn react(&self, event: &Event) -> Option<Effect>;

    /// Returns the command id of the effect of this event.
    fn command(&self, source: &Digest) -> CommandId {
        let mut hasher = Hasher::new(Purpose::Effect);
        hasher.update(self.name().as_bytes());
        hasher.update(&[0]);
        hasher.update(source.as_bytes());
        let digest = hasher.finish();
        let mut number = [0; 16];
        number.copy_from_slice(&digest.as_bytes()[..16]);
        CommandId::from(Ulid::from_u128(u128::from_be_bytes(number)))
    }
}

/// Asks for a checkpoint whenever a run has ended, with a verdict or by the operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckpointAfterRun;

impl Reactor for CheckpointAfterRun {
    fn name(&self) -> &'static str {
        "checkpoint_after_run"
    }

    fn react(&self, event: &Event) -> Option<Effect> {
        match event.said().ok()?.facts {
            Facts::VerificationRunCompleted(_) | Facts::SessionAborted(_) => Some(Effect::RecordCheckpoint),
            _ => None,
        }
    }
}
