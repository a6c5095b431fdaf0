//! One trace as the verifier follows it: hashes, times, commands, heads. The same for registry and run.

use std::collections::BTreeMap;

use demur_core::{hash::Digest, id::Ulid, key::Fingerprint, time::Timestamp};

use super::{Code, finding::Found};
use crate::{
    envelope::{Envelope, Event},
    name::{Position, Sequence, TraceId},
    registry::Registry,
    signed::{Document, Head, Receipt, Signed},
    statement::statement_hash,
};

/// What is remembered of the events so far: about 56 bytes each.
#[derive(Debug)]
pub(super) struct Trail {
    trace: TraceId,
    hashes: Vec<Digest>,
    /// The command of each event, or anything where it has none.
    commands: Vec<Ulid>,
    /// The number of the key that gave it, or [`NOBODY`].
    authors: Vec<u32>,
    /// The numbers of the keys.
    keys: BTreeMap<Fingerprint, u32>,
    lines: Vec<u32>,
    time: Timestamp,
    pin: Sequence,
    /// Where another epoch begins, and which: there are few.
    epochs: Vec<(Sequence, u64)>,
    /// The newest event that a signed head named.
    head: Option<Sequence>,
    /// What receipts speak of: the hash of the statement and the time of the event.
    receipted: BTreeMap<Sequence, Option<(Digest, Timestamp)>>,
}

impl Trail {
    pub(super) fn new(trace: TraceId, receipts: &[Signed<Receipt>]) -> Self {
        Self {
            receipted: receipts.iter().map(|receipt| (receipt.document.event.sequence, None)).collect(),
            trace,
            hashes: Vec::new(),
            commands: Vec::new(),
            authors: Vec::new(),
            keys: BTreeMap::new(),
            lines: Vec::new(),
            time: Timestamp::MIN,
            pin: Sequence::FIRST,
            epochs: Vec::new(),
            head: None,
        }
    }

    pub(super) const fn trace(&self) -> TraceId {
        self.trace
    }

    pub(super) fn hashes(&self) -> &[Digest] {
        &self.hashes
    }

    /// Returns the hashes, and where each epoch begins.
    pub(super) fn into_parts(self) -> (Vec<Digest>, Vec<(Sequence, u64)>) {
        (self.hashes, self.epochs)
    }

    /// Returns the last event.
    pub(super) const fn pin(&self) -> Sequence {
        self.pin
    }

    /// Returns the last event.
    pub(super) fn last(&self) -> Option<Position> {
        self.hashes.last().map(|hash| Position::new(Sequence::at(self.hashes.len() - 1), *hash))
    }

    /// Returns the hash of the statement in an event that a receipt speaks of, and when it was recorded.
    pub(super) fn receipted(&self, at: Sequence) -> Option<(Digest, Timestamp)> {
        self.receipted.get(&at).copied().flatten()
    }

    /// Returns the place of the next event.
    pub(super) fn next(&self) -> Sequence {
        Sequence::at(self.hashes.len())
    }

    pub(super) fn holds(&self, position: &Position) -> bool {
        position.sequence.index().and_then(|index| self.hashes.get(index)) == Some(&position.hash)
    }

    /// Checks an event against those before it and goes on from it, whatever was found.
    pub(super) fn follow(&mut self, event: &Event, line: u64, found: &mut Vec<Found>) {
        let envelope = event.envelope();
        if envelope.trace != self.trace {
            found.push(Found::new(
                Code::StatementMismatch,
                "the event is of another trace than those around it",
            ));
        }
        if let Some(seen) = envelope.statement.as_ref().and_then(|statement| statement.seen)
            && seen.sequence < envelope.sequence
            && !self.holds(&seen)
        {
            let message =
                format!("the author had seen another event {} than the one in the file", seen.sequence);
            found.push(Found::new(Code::SeenInvalid, message));
        }
        let next = self.next();
        if envelope.sequence != next {
            let message = format!("expected event {next}, found event {}", envelope.sequence);
            found.push(Found::new(Code::ChainBreak, message));
        } else if envelope.previous != self.hashes.last().copied() {
            found.push(Found::new(Code::ChainBreak, "the event names another one before it"));
        }
        if envelope.time < self.time {
            let message = format!("{} comes after {}", envelope.time, self.time);
            found.push(Found::new(Code::TimeBackwards, message));
        }
        if let Some(pin) = envelope.registry {
            if pin.sequence < self.pin {
                let message = format!("position {} is pinned after {}", pin.sequence, self.pin);
                found.push(Found::new(Code::RegistryPin, message));
            }
            self.pin = self.pin.max(pin.sequence);
        }
        self.time = self.time.max(envelope.time);
        if let Some(awaited) = self.receipted.get_mut(&next) {
            *awaited = event.statement_bytes().map(|bytes| (statement_hash(bytes), envelope.time));
        }
        if self.epochs.last().is_none_or(|(_, epoch)| *epoch != envelope.epoch) {
            self.epochs.push((next, envelope.epoch));
        }
        self.hashes.push(*event.hash());
        self.remember_command(envelope);
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }

    /// Checks a signed head of this trace.
    pub(super) fn check_head(
        &mut self,
        signed: &Signed<Head>,
        registry: &Registry,
        signatures: bool,
    ) -> Result<(), Found> {
        let head = &signed.document;
        let invalid = |message: &str| Found::new(Code::HeadInvalid, message);
        if head.store != registry.store() || head.trace != self.trace {
            return Err(invalid("the head is of another store or trace"));
        }
        // It stands right after the newest event it was signed for; one moved here from elsewhere hides what came between.
        if Some(head.head) != self.last() {
            return Err(invalid("the head names another event than the one before it"));
        }
        check_desk(signed, &head.registry, head.epoch, registry, signatures)
            .map_err(|message| invalid(&format!("the head {message}")))?;
        self.head = self.head.max(Some(head.head.sequence));
        Ok(())
    }

    /// Checks that the last event stands under a signed head.
    pub(super) fn check_last_head(&self) -> Result<(), Found> {
        match (self.last(), self.head) {
            (Some(last), Some(head)) if last.sequence == head => Ok(()),
            _ => Err(Found::new(Code::HeadInvalid, "no signed head names the last event")),
        }
    }

    fn remember_command(&mut self, envelope: &Envelope) {
        let (command, author) = match (&envelope.statement, envelope.proof.key()) {
            (Some(statement), Some(key)) => {
                let next = u32::try_from(self.keys.len()).unwrap_or(NOBODY);
                (statement.command.as_ulid(), *self.keys.entry(key).or_insert(next))
            }
            _ => (Ulid::from_u128(0), NOBODY),
        };
        self.commands.push(command);
        self.authors.push(author);
    }

    /// Returns the events whose command stood before, with their lines.
    pub(super) fn repeated(&self) -> Vec<(Sequence, u64)> {
        let count = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
        let key = |index: &u32| (self.commands[*index as usize], self.authors[*index as usize]);
        let mut order: Vec<u32> = (0..count).filter(|index| key(index).1 != NOBODY).collect();
        // Commands carry their time and come nearly in order, which a stable sort makes use of.
        order.sort_by_key(key);
        let pairs = order.windows(2).filter(|pair| key(&pair[0]) == key(&pair[1]));
        let mut again: Vec<usize> = pairs.map(|pair| pair[1] as usize).collect();
        again.sort_unstable();
        again.into_iter().map(|index| (Sequence::at(index), self.lines[index].into())).collect()
    }
}

/// Checks that a desk key that may speak at `at` signed a document; says what is wrong.
pub(super) fn check_desk<T: Document>(
    signed: &Signed<T>,
    at: &Position,
    epoch: u64,
    registry: &Registry,
    signatures: bool,
) -> Result<(), String> {
    if !registry.holds(at) {
        return Err(format!("pins registry position {}, which is not there", at.sequence));
    }
    if registry.epoch_at(at.sequence) != epoch {
        return Err(format!("is of epoch {epoch}, which the registry does not have there"));
    }
    let record = registry
        .desk_key(&signed.proof.key, at.sequence)
        .map_err(|standing| format!("is not signed by the desk: {standing}"))?;
    if signatures {
        signed.verify(&record.public).map_err(|_| "has a signature that does not hold".to_owned())?;
    }
    Ok(())
}

/// Stands for the author of an event without a statement. No file has as many keys.
const NOBODY: u32 = u32::MAX;
