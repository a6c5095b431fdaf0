//! What a store in memory holds, and the rules of the contract over it.

use std::{collections::BTreeMap, iter, ops::RangeInclusive};

use demur_core::{commitment::Commitment, hash::Digest, id::Ulid, key::Fingerprint, time::Timestamp};
use demur_ledger::{
    entry::Address,
    envelope::Event,
    erasure::is_erasure,
    event_type::TraceKind,
    facts::Participant,
    name::{CommandId, Position, Sequence, TraceId},
    signed::{Head, Signed},
    state::Phase,
};

use super::{
    confirmation::ConfirmationList, lease::LeaseTable, question::List, record::RecordTable,
    stream::StreamTable,
};
use crate::{
    contract::{
        Append, ConfirmationSummary, Conflict, Cursor, Failure, Kept, LeaseId, Performed, QuestionSummary,
        Snapshot, StoreError, Stored, TraceSummary, Write, WriteOutcome,
    },
    derived,
};

/// Everything.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    traces: BTreeMap<TraceId, Trace>,
    /// Traces in the order in which they were opened.
    opened: Vec<TraceId>,
    /// Every event in the order of commits; the cursor counts them.
    log: Vec<(TraceId, usize)>,
    registry: Option<TraceId>,
    commands: BTreeMap<(Fingerprint, CommandId), (TraceId, usize)>,
    key_changes: BTreeMap<Fingerprint, Sequence>,
    questions: List,
    confirmations: ConfirmationList,
    artifacts: BTreeMap<Address, Vec<u8>>,
    secrets: BTreeMap<Digest, Vec<u8>>,
    records: RecordTable,
    streams: StreamTable,
    leases: LeaseTable,
}

#[derive(Clone, Debug)]
struct Trace {
    kind: TraceKind,
    events: Vec<Stored>,
    opened: Timestamp,
    changed: Timestamp,
    phase: Option<Phase>,
    failed: Option<Failure>,
    /// The newest of each version.
    snapshots: BTreeMap<u32, Snapshot>,
}

impl Trace {
    fn new(kind: TraceKind, opened: Timestamp) -> Self {
        let (events, changed) = (Vec::new(), opened);
        Self { kind, events, opened, changed, phase: None, failed: None, snapshots: BTreeMap::new() }
    }

    fn head(&self) -> Option<Position> {
        let last = self.events.last()?;
        let sequence = u64::try_from(self.events.len() - 1).ok()?;
        Some(Position::new(Sequence::try_from(sequence).ok()?, last.hash))
    }
}

impl State {
    /// Judges and does writes. `chains` says of each whether its events follow each other.
    pub(super) fn commit(
        &mut self,
        writes: &[Write],
        chains: &[bool],
    ) -> Result<Vec<WriteOutcome>, StoreError> {
        let unknown = |append: &Append| {
            append.expected.is_none() && derived::opened_kind(&append.entries[0].event).is_none()
        };
        // Before anything is written: an error must leave no mark.
        if writes.iter().filter_map(|write| write.append.as_ref()).any(unknown) {
            return Err(StoreError::Misuse { what: "the first event of a trace does not open one" });
        }
        Ok(writes.iter().zip(chains).map(|(write, is_chain)| self.commit_one(write, *is_chain)).collect())
    }

    fn commit_one(&mut self, write: &Write, is_chain: bool) -> WriteOutcome {
        let Write { writer, append, swaps, posts, acknowledged } = write;
        if !self.leases.lives(*writer) {
            return WriteOutcome::Refused(Conflict::Lease);
        }
        let kind = |append: &Append| match self.traces.get(&append.trace) {
            Some(trace) => trace.kind,
            None => derived::opened_kind(&append.entries[0].event).unwrap_or(TraceKind::Run),
        };
        let append = append.as_ref().map(|append| (append, kind(append)));
        let refused = append.and_then(|(append, kind)| self.judge(append, kind, is_chain));
        let swapped = || (!self.records.hold(swaps)).then_some(Conflict::Record);
        let posted = || (!self.streams.are_new(posts)).then_some(Conflict::Post);
        if let Some(conflict) = refused.or_else(swapped).or_else(posted) {
            return WriteOutcome::Refused(conflict);
        }
        if let Some((append, kind)) = append {
            self.write(append, kind, *writer);
        }
        self.records.swap(swaps);
        self.streams.post(posts);
        self.streams.acknowledge(acknowledged);
        WriteOutcome::Done
    }

    fn judge(&self, append: &Append, kind: TraceKind, is_chain: bool) -> Option<Conflict> {
        let known = self.traces.get(&append.trace);
        let second_registry = known.is_none() && kind == TraceKind::Registry && self.registry.is_some();
        let head = known.and_then(Trace::head);
        if head != append.expected || !is_chain || second_registry {
            return Some(Conflict::Head);
        }
        let mut places = append.entries.iter().filter_map(|entry| entry.artifact);
        if places.any(|place| !self.artifacts.contains_key(&place.address)) {
            return Some(Conflict::Artifact);
        }
        if kind != TraceKind::Registry && self.registry_moved(append) {
            return Some(Conflict::Registry);
        }
        let commands: Vec<_> =
            append.entries.iter().filter_map(|entry| derived::command(&entry.event)).collect();
        let twice = (1..commands.len()).any(|index| commands[..index].contains(&commands[index]));
        let used = commands.iter().any(|command| self.commands.contains_key(command));
        (twice || used).then_some(Conflict::Command)
    }

    fn registry_moved(&self, append: &Append) -> bool {
        derived::pins(append).any(|(pin, key)| {
            let Some((pin, registry)) = pin.zip(self.registry) else { return true };
            let changed = key.and_then(|key| self.key_changes.get(&key));
            self.hash(registry, pin.sequence) != Some(pin.hash)
                || changed.is_some_and(|since| *since > pin.sequence)
        })
    }

    fn write(&mut self, append: &Append, kind: TraceKind, writer: LeaseId) {
        let opened = append.entries[0].event.envelope().time;
        if !self.traces.contains_key(&append.trace) {
            self.opened.push(append.trace);
        }
        if kind == TraceKind::Registry {
            self.registry = Some(append.trace);
        }
        let trace = self.traces.entry(append.trace).or_insert_with(|| Trace::new(kind, opened));
        for entry in &append.entries {
            let place = (append.trace, trace.events.len());
            self.log.push(place);
            if let Some(command) = derived::command(&entry.event) {
                self.commands.insert(command, place);
            }
            if kind == TraceKind::Registry {
                let at = entry.event.envelope().sequence;
                self.key_changes.extend(derived::changed_keys(&entry.event).into_iter().map(|key| (key, at)));
            }
            trace.changed = entry.event.envelope().time;
            trace.events.push(Stored {
                bytes: entry.event.bytes().to_vec(),
                hash: *entry.event.hash(),
                content: entry.opening.clone().map_or(Kept::Absent, Kept::Here),
                artifact: entry.artifact.map_or(Kept::Absent, Kept::Here),
                head: None,
                writer,
            });
        }
        finish(trace, append.head.clone(), append);
        let erased = append.entries.iter().any(|entry| is_erasure(&entry.event));
        self.write_questions(append);
        self.write_confirmations(append);
        if erased {
            self.take_out(append.trace);
        }
    }

    /// Takes everything out of a trace that its events say is gone.
    fn take_out(&mut self, trace: TraceId) {
        let Some(trace) = self.traces.get_mut(&trace) else { return };
        trace.snapshots.clear();
        let mut addresses = Vec::new();
        for event in derived::erased(trace.events.iter().map(|stored| &*stored.bytes)) {
            let place = event.index().and_then(|index| trace.events.get_mut(index));
            let Some(stored) = place else { continue };
            if matches!(stored.content, Kept::Here(_)) {
                stored.content = Kept::Erased;
            }
            if let Kept::Here(place) = stored.artifact {
                stored.artifact = Kept::Erased;
                addresses.push(place.address);
            }
        }
        let events = self.traces.values().flat_map(|trace| &trace.events);
        let is_named = |address: &Address| {
            events
                .clone()
                .any(|stored| matches!(stored.artifact, Kept::Here(place) if place.address == *address))
        };
        addresses.retain(|address| !is_named(address));
        for address in addresses {
            self.artifacts.remove(&address);
        }
    }

    fn write_confirmations(&mut self, append: &Append) {
        let Self { confirmations, log, .. } = self;
        let before = log.len() - append.entries.len();
        for (at, row) in &append.confirmations {
            let mut places = (1..).map(Cursor::from_number).skip(before).zip(&append.entries);
            confirmations.put((append.trace, *at), *row, || {
                let (cursor, entry) = places.find(|(_, entry)| entry.event.envelope().sequence == *at)?;
                Some((cursor, entry.event.envelope().time))
            });
        }
    }

    fn write_questions(&mut self, append: &Append) {
        // A question is new exactly when this append asked it; its events are the newest of the log.
        let Self { questions, log, .. } = self;
        let before = log.len() - append.entries.len();
        for (at, row) in &append.questions {
            let mut places = (1..).map(Cursor::from_number).skip(before).zip(&append.entries);
            questions.put((append.trace, *at), *row, || {
                let (cursor, entry) = places.find(|(_, entry)| entry.event.envelope().sequence == *at)?;
                Some((cursor, entry.event.envelope().time))
            });
        }
    }

    pub(super) fn summary(&self, id: TraceId) -> Option<TraceSummary> {
        let trace = self.traces.get(&id)?;
        Some(TraceSummary {
            trace: id,
            kind: trace.kind,
            head: trace.head()?,
            opened: trace.opened,
            changed: trace.changed,
            phase: trace.phase,
            failed: trace.failed.clone(),
        })
    }

    pub(super) fn summaries(&self, after: Option<TraceId>, limit: usize) -> Vec<TraceSummary> {
        let end = match after {
            None => self.opened.len(),
            Some(after) => self.opened.iter().position(|trace| *trace == after).unwrap_or(0),
        };
        self.opened[..end].iter().rev().filter_map(|trace| self.summary(*trace)).take(limit).collect()
    }

    pub(super) fn between(&self, ids: &RangeInclusive<TraceId>, limit: usize) -> Vec<(TraceId, TraceKind)> {
        // A range that ends before it begins is empty here, not a mistake.
        let found = self.traces.iter().filter(|(id, _)| ids.contains(id));
        found.take(limit).map(|(id, trace)| (*id, trace.kind)).collect()
    }

    pub(super) fn newest(&self) -> Option<TraceId> {
        self.log.iter().rev().map(|(trace, _)| *trace).find(|trace| Some(*trace) != self.registry)
    }

    pub(super) fn registry(&self) -> Option<TraceId> {
        self.registry
    }

    pub(super) fn events(&self, trace: TraceId, from: Sequence, limit: usize) -> Vec<Stored> {
        let Some(trace) = self.traces.get(&trace) else { return Vec::new() };
        let from = usize::try_from(from.number()).unwrap_or(usize::MAX);
        trace.events.iter().skip(from).take(limit).cloned().collect()
    }

    pub(super) fn hash(&self, trace: TraceId, sequence: Sequence) -> Option<Digest> {
        let index = usize::try_from(sequence.number()).ok()?;
        Some(self.traces.get(&trace)?.events.get(index)?.hash)
    }

    pub(super) fn command(&self, key: Fingerprint, command: CommandId) -> Option<Performed> {
        let (trace, index) = *self.commands.get(&(key, command))?;
        let bytes = self.traces.get(&trace)?.events.get(index)?.bytes.clone();
        Some(Performed { trace, bytes })
    }

    pub(super) fn command_beginning(
        &self,
        key: Fingerprint,
        beginning: u64,
    ) -> Option<(CommandId, Performed)> {
        let least = u128::from(beginning) << 64;
        let id = |number| (key, CommandId::from(Ulid::from_u128(number)));
        let mut found = self.commands.range(id(least)..=id(least | u128::from(u64::MAX)));
        let ((_, command), _) = found.next()?;
        Some((*command, self.command(key, *command)?))
    }

    pub(super) fn questions(&self) -> &List {
        &self.questions
    }

    /// Returns the questions whose deadline can be recorded as passed, by deadline.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Timestamp, QuestionSummary)> {
        self.questions.by_deadline(|trace| self.goes_on(trace))
    }

    pub(super) fn confirmations(&self) -> &ConfirmationList {
        &self.confirmations
    }

    /// Returns the confirmations whose deadline can be recorded as passed, by deadline.
    pub(super) fn unconfirmed(&self) -> impl Iterator<Item = (Timestamp, ConfirmationSummary)> {
        self.confirmations.by_deadline(|trace| self.goes_on(trace))
    }

    fn goes_on(&self, trace: TraceId) -> bool {
        let ended = |trace: &Trace| trace.failed.is_some() || trace.phase.is_some_and(Phase::is_final);
        self.traces.get(&trace).is_some_and(|trace| !ended(trace))
    }

    pub(super) fn heads_at(&self, cursor: Cursor) -> Vec<(TraceId, Position)> {
        let until = usize::try_from(cursor.number()).unwrap_or(usize::MAX);
        let mut lengths: BTreeMap<TraceId, usize> = BTreeMap::new();
        for (trace, index) in self.log.iter().take(until) {
            lengths.insert(*trace, index + 1);
        }
        let head = |(id, length): (TraceId, usize)| {
            let newest = self.traces.get(&id)?.events.get(length - 1)?;
            let sequence = Sequence::try_from(length as u64 - 1).ok()?;
            Some((id, Position::new(sequence, newest.hash)))
        };
        lengths.into_iter().filter_map(head).collect()
    }

    pub(super) fn end(&self) -> Cursor {
        Cursor::from_number(self.log.len() as u64)
    }

    pub(super) fn changes(&self, after: Cursor, limit: usize) -> Vec<(Cursor, Stored)> {
        let from = usize::try_from(after.number()).unwrap_or(usize::MAX);
        let changes = (1..).map(Cursor::from_number).zip(&self.log).skip(from).take(limit);
        changes
            .filter_map(|(cursor, (trace, index))| {
                Some((cursor, self.traces.get(trace)?.events.get(*index)?.clone()))
            })
            .collect()
    }

    /// Returns who takes part in a run, by principal and role.
    pub(super) fn participants(&self, trace: TraceId) -> Vec<Participant> {
        let first = self.traces.get(&trace).and_then(|trace| trace.events.first());
        let first = first.and_then(|stored| Event::parse(&stored.bytes).ok());
        let mut participants = first.as_ref().map(derived::participants).unwrap_or_default();
        participants.sort_unstable();
        participants
    }

    pub(super) fn records(&self) -> &RecordTable {
        &self.records
    }

    pub(super) fn streams(&self) -> &StreamTable {
        &self.streams
    }

    pub(super) fn streams_mut(&mut self) -> &mut StreamTable {
        &mut self.streams
    }

    pub(super) fn leases(&self) -> &LeaseTable {
        &self.leases
    }

    pub(super) fn leases_mut(&mut self) -> &mut LeaseTable {
        &mut self.leases
    }

    pub(super) fn put_artifact(&mut self, bytes: &[u8]) -> Address {
        let address = Address::of(bytes);
        self.artifacts.entry(address).or_insert_with(|| bytes.to_vec());
        address
    }

    /// Returns how many events there are.
    pub(super) fn length(&self) -> u64 {
        self.log.len() as u64
    }

    /// Returns the events of every trace, in order, each with its place.
    pub(super) fn all_events(
        &self,
    ) -> impl Iterator<Item = (TraceId, impl Iterator<Item = (Position, &Stored)>)> {
        self.traces.iter().map(|(id, trace)| {
            let places = iter::successors(Some(Sequence::FIRST), |sequence| Some(sequence.next()));
            let events = places.zip(&trace.events);
            (*id, events.map(|(sequence, stored)| (Position::new(sequence, stored.hash), stored)))
        })
    }

    pub(super) fn artifact(&self, address: &Address) -> Option<Vec<u8>> {
        self.artifacts.get(address).cloned()
    }

    pub(super) fn snapshot(&self, trace: TraceId, version: u32) -> Option<Snapshot> {
        self.traces.get(&trace)?.snapshots.get(&version).cloned()
    }

    pub(super) fn mark_failed(&mut self, trace: TraceId, failure: &Failure) -> Result<(), StoreError> {
        let unknown = StoreError::Misuse { what: "there is no such trace" };
        let trace = self.traces.get_mut(&trace).ok_or(unknown)?;
        trace.failed.get_or_insert_with(|| failure.clone());
        Ok(())
    }

    pub(super) fn keep_secret(&mut self, commitment: &Commitment, value: &[u8]) {
        self.secrets.insert(*commitment.as_digest(), value.to_vec());
    }

    pub(super) fn secret(&self, commitment: &Commitment) -> Option<Vec<u8>> {
        self.secrets.get(commitment.as_digest()).cloned()
    }

    pub(super) fn forget_secret(&mut self, commitment: &Commitment) {
        self.secrets.remove(commitment.as_digest());
    }
}

fn finish(trace: &mut Trace, head: Signed<Head>, append: &Append) {
    if let Some(last) = trace.events.last_mut() {
        last.head = Some(head);
    }
    trace.phase = append.phase.or(trace.phase);
    if let Some(snapshot) = &append.snapshot {
        trace.snapshots.insert(snapshot.version, snapshot.clone());
    }
}
