//! One trace as the desk extends it: the hashes so far and the rules of the envelope around each new event
//! (`docs/format.md` 5).

use std::collections::BTreeSet;

use demur_core::{commitment::Commitment, hash::Digest, key::Fingerprint, time::Timestamp};

use crate::{
    envelope::{Envelope, Event, FORMAT, Record, SealError},
    name::{CommandId, Position, PrincipalId, Sequence, StoreId, TraceId},
    proof::Proof,
    statement::Statement,
};

/// A trace in memory, ready for its next event.
#[derive(Clone, Debug)]
pub struct Chain {
    trace: TraceId,
    hashes: Vec<Digest>,
    time: Timestamp,
    commands: BTreeSet<(Fingerprint, CommandId)>,
}

/// What the desk adds to an event besides its place.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The store; none only while it is being created.
    pub store: Option<StoreId>,
    /// The store's epoch.
    pub epoch: u64,
    /// The newest registry event.
    pub registry: Option<Position>,
    /// The desk's clock.
    pub now: Timestamp,
}

/// What an event carries: an author's statement, or the desk's own record.
#[derive(Clone, Debug)]
pub enum Body {
    /// A statement and its proof.
    Statement(Box<Statement>, Proof),
    /// The desk's word, with the commitment to its content.
    Record(Box<Record>, Option<Commitment>),
}

impl Chain {
    /// Returns a trace without events.
    pub const fn new(trace: TraceId) -> Self {
        Self { trace, hashes: Vec::new(), time: Timestamp::MIN, commands: BTreeSet::new() }
    }

    /// Returns the trace's id.
    pub const fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the newest event.
    pub fn head(&self) -> Option<Position> {
        self.hashes.last().map(|hash| Position::new(Sequence::at(self.hashes.len() - 1), *hash))
    }

    /// Returns the place of the next event.
    pub fn next(&self) -> Sequence {
        Sequence::at(self.hashes.len())
    }

    /// Returns whether this number and hash name an event of this trace.
    pub fn holds(&self, position: &Position) -> bool {
        let hash = position.sequence.index().and_then(|index| self.hashes.get(index));
        hash == Some(&position.hash)
    }

    /// Returns whether this key used this command id in this trace before.
    pub fn knows_command(&self, key: Fingerprint, command: CommandId) -> bool {
        self.commands.contains(&(key, command))
    }

    /// Returns the next event with this body; the trace has not changed until [`Chain::push`].
    pub fn envelop(&self, stamp: &Stamp, actor: PrincipalId, body: Body) -> Result<Event, SealError> {
        let (statement, proof, record, content) = match body {
            Body::Statement(statement, proof) => {
                let content = statement.content;
                (Some(*statement), proof, None, content)
            }
            Body::Record(record, content) => (None, Proof::None, Some(*record), content),
        };
        Event::seal(&Envelope {
            actor,
            content,
            epoch: stamp.epoch,
            format: FORMAT,
            previous: self.hashes.last().copied(),
            proof,
            record,
            registry: stamp.registry,
            sequence: self.next(),
            statement,
            store: stamp.store,
            // The clock may go back, the record does not.
            time: self.time.max(stamp.now),
            trace: self.trace,
        })
    }

    /// Takes an event made by [`Chain::envelop`] into the trace.
    pub fn push(&mut self, event: &Event) {
        let envelope = event.envelope();
        self.hashes.push(*event.hash());
        self.time = envelope.time;
        if let (Some(statement), Proof::Ed25519(proof)) = (&envelope.statement, &envelope.proof) {
            self.commands.insert((proof.key, statement.command));
        }
    }
}
