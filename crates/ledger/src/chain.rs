//! One trace as the desk extends it. [`Tip`] is all that the next event needs; [`Chain`] also remembers what came before.

use std::collections::BTreeSet;

use demur_core::{hash::Digest, key::Fingerprint, time::Timestamp};

use crate::{
    envelope::Event,
    name::{CommandId, Position, Sequence, TraceId},
};

/// The end of a trace, ready for its next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    trace: TraceId,
    head: Option<Position>,
    time: Timestamp,
}

/// A trace in memory: its end and every hash and command before it.
#[derive(Clone, Debug)]
pub struct Chain {
    tip: Tip,
    hashes: Vec<Digest>,
    commands: BTreeSet<(Fingerprint, CommandId)>,
}

impl Tip {
    /// Returns the end of a trace without events.
    pub const fn new(trace: TraceId) -> Self {
        Self { trace, head: None, time: Timestamp::MIN }
    }

    /// Returns the end of a trace whose newest event is this one.
    pub const fn after(event: &Event) -> Self {
        let envelope = event.envelope();
        Self { trace: envelope.trace, head: Some(event.position()), time: envelope.time }
    }

    /// Returns the trace's id.
    pub const fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the newest event.
    pub const fn head(&self) -> Option<Position> {
        self.head
    }

    /// Returns when the newest event was recorded.
    pub const fn time(&self) -> Timestamp {
        self.time
    }

    /// Returns the time that the next event carries. The clock may go back, the record does not.
    pub fn time_at(&self, now: Timestamp) -> Timestamp {
        self.time.max(now)
    }

    /// Returns the place of the next event.
    pub const fn next(&self) -> Sequence {
        match self.head {
            Some(head) => head.sequence.next(),
            None => Sequence::FIRST,
        }
    }
}

impl Chain {
    /// Returns a trace without events.
    pub const fn new(trace: TraceId) -> Self {
        Self { tip: Tip::new(trace), hashes: Vec::new(), commands: BTreeSet::new() }
    }

    /// Returns the end of the trace.
    pub const fn tip(&self) -> &Tip {
        &self.tip
    }

    /// Returns the trace's id.
    pub const fn trace(&self) -> TraceId {
        self.tip.trace
    }

    /// Returns the newest event.
    pub const fn head(&self) -> Option<Position> {
        self.tip.head
    }

    /// Returns the hash of an event of this trace.
    pub fn hash(&self, sequence: Sequence) -> Option<Digest> {
        sequence.index().and_then(|index| self.hashes.get(index)).copied()
    }

    /// Returns whether this key used this command id in this trace before.
    pub fn knows_command(&self, key: Fingerprint, command: CommandId) -> bool {
        self.commands.contains(&(key, command))
    }

    /// Takes an event made by [`Tip::envelop`] into the trace.
    pub fn push(&mut self, event: &Event) {
        let envelope = event.envelope();
        self.tip = Tip::after(event);
        self.hashes.push(*event.hash());
        if let (Some(statement), Some(key)) = (&envelope.statement, envelope.proof.key()) {
            self.commands.insert((key, statement.command));
        }
    }
}
