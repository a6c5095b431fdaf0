//! The store in memory, with faults on demand: the second implementation of the contract, and the only one that several
//! desks can share. For tests of what stands above a store (ONE-05).

mod check;
mod confirmation;
mod fault;
mod lease;
mod question;
mod record;
mod state;
mod stream;

use std::{
    fmt,
    ops::RangeInclusive,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use demur_core::{commitment::Commitment, hash::Digest, key::Fingerprint, time::Timestamp};
use demur_ledger::{
    entry::Address,
    event_type::TraceKind,
    facts::Participant,
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};

pub use self::fault::{Fault, Faults, Writing};
use self::state::State;
use crate::{
    contract::{
        ConfirmationFilter, ConfirmationSummary, ConsumerName, Cursor, Failure, KeptPost, KeptRecord, Lease,
        LeaseId, Leases, Performed, PostName, QuestionFilter, QuestionSummary, RecordKey, Records, Snapshot,
        Store, StoreError, StoreProblem, StoreProgress, Stored, StreamName, StreamPosition, Streams,
        TraceSummary, Write, WriteOutcome,
    },
    derived,
};

/// A store that forgets everything when it is dropped.
pub struct MemoryStore {
    inner: Mutex<Inner>,
    faults: Box<dyn Faults>,
    reads: AtomicU64,
    events_read: AtomicU64,
}

/// What a machine would hold.
#[derive(Default)]
struct Inner {
    /// What every read sees.
    state: State,
    /// What a power cut would leave, where that is less than what reads see.
    durable: Option<Box<State>>,
    /// Set when a write was not confirmed: nothing more is written until the store is opened again.
    stopped: bool,
}

impl MemoryStore {
    /// Returns an empty store in which nothing goes wrong.
    pub fn new() -> Self {
        Self::with_faults(|_| Fault::None)
    }

    /// Returns an empty store that asks before each write what goes wrong.
    pub fn with_faults(faults: impl Faults + 'static) -> Self {
        let (inner, faults) = (Mutex::new(Inner::default()), Box::new(faults));
        Self { inner, faults, reads: AtomicU64::new(0), events_read: AtomicU64::new(0) }
    }

    /// Returns how often something was read.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Returns how many events were read.
    pub fn events_read(&self) -> u64 {
        self.events_read.load(Ordering::Relaxed)
    }

    /// Returns an empty store that several processes share, with a clock of its own: leases expire unless they are renewed.
    pub fn shared(now: Timestamp) -> Self {
        let store = Self::new();
        store.lock().state.leases_mut().share(now);
        store
    }

    /// Lets time pass in a store that is shared.
    pub fn pass(&self, millis: u64) {
        self.lock().state.leases_mut().pass(millis);
    }

    /// Does what the end of the process and a new start do: everything that was written stays. Where nobody shares the
    /// store, every lease is dead.
    pub fn reopen(&self) {
        let mut inner = self.lock();
        inner.stopped = false;
        inner.state.leases_mut().reopen();
    }

    /// Does what a power cut and a new start do: what a lying sync acknowledged is gone.
    pub fn lose_power(&self) {
        let mut inner = self.lock();
        inner.stopped = false;
        if let Some(durable) = inner.durable.take() {
            inner.state = *durable;
        }
        inner.state.leases_mut().reopen();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Writes change a state only after everything that could fail.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a write as the fault for it says.
    fn write<T>(
        &self,
        write: Writing,
        work: impl FnOnce(&mut State) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut inner = self.lock();
        if inner.stopped {
            return Err(StoreError::Stopped);
        }
        let fault = self.faults.next(write);
        if let Fault::Before(error) = fault {
            inner.stopped = matches!(error, StoreError::Uncertain);
            return Err(error);
        }
        if matches!(fault, Fault::Lie) {
            if inner.durable.is_none() {
                inner.durable = Some(Box::new(inner.state.clone()));
            }
            return work(&mut inner.state);
        }
        let answer = work(&mut inner.state)?;
        // An honest sync takes what went before with it.
        inner.durable = None;
        match fault {
            Fault::After(error) => {
                inner.stopped = matches!(error, StoreError::Uncertain);
                Err(error)
            }
            _ => Ok(answer),
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "what the contract returns; this store always can")]
    fn read<T>(&self, query: impl FnOnce(&State) -> T) -> Result<T, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(query(&self.lock().state))
    }

    fn read_events<T>(&self, query: impl FnOnce(&State) -> Vec<T>) -> Result<Vec<T>, StoreError> {
        let events = self.read(query)?;
        self.events_read.fetch_add(events.len() as u64, Ordering::Relaxed);
        Ok(events)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MemoryStore(..)")
    }
}

impl Store for MemoryStore {
    fn commit(&self, writes: &[Write]) -> Result<Vec<WriteOutcome>, StoreError> {
        let chains = writes.iter().map(derived::check_write).collect::<Result<Vec<_>, _>>()?;
        self.write(Writing::Commit, |state| state.commit(writes, &chains))
    }

    fn is_shared(&self) -> bool {
        self.lock().state.leases().are_shared()
    }

    fn expect_in_place(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn check(&self, progress: &mut dyn FnMut(StoreProgress)) -> Result<Vec<StoreProblem>, StoreError> {
        // As of one moment: a copy is cheap where stores are small.
        self.lock().state.clone().check(progress)
    }

    fn trace(&self, trace: TraceId) -> Result<Option<TraceSummary>, StoreError> {
        self.read(|state| state.summary(trace))
    }

    fn traces(&self, after: Option<TraceId>, limit: usize) -> Result<Vec<TraceSummary>, StoreError> {
        self.read(|state| state.summaries(after, limit))
    }

    fn traces_between(
        &self,
        ids: &RangeInclusive<TraceId>,
        limit: usize,
    ) -> Result<Vec<(TraceId, TraceKind)>, StoreError> {
        self.read(|state| state.between(ids, limit))
    }

    fn newest(&self) -> Result<Option<TraceId>, StoreError> {
        self.read(State::newest)
    }

    fn registry(&self) -> Result<Option<TraceId>, StoreError> {
        self.read(State::registry)
    }

    fn participants(&self, trace: TraceId) -> Result<Vec<Participant>, StoreError> {
        self.read(|state| state.participants(trace))
    }

    fn events(&self, trace: TraceId, from: Sequence, limit: usize) -> Result<Vec<Stored>, StoreError> {
        self.read_events(|state| state.events(trace, from, limit))
    }

    fn hash(&self, trace: TraceId, sequence: Sequence) -> Result<Option<Digest>, StoreError> {
        self.read(|state| state.hash(trace, sequence))
    }

    fn command(&self, key: &Fingerprint, command: CommandId) -> Result<Option<Performed>, StoreError> {
        self.read(|state| state.command(*key, command))
    }

    fn command_beginning(
        &self,
        key: &Fingerprint,
        beginning: u64,
    ) -> Result<Option<(CommandId, Performed)>, StoreError> {
        self.read(|state| state.command_beginning(*key, beginning))
    }

    fn questions(
        &self,
        filter: &QuestionFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<QuestionSummary>, StoreError> {
        self.read(|state| state.questions().page(filter, after, limit))
    }

    fn open_holders(&self) -> Result<Vec<PrincipalId>, StoreError> {
        self.read(|state| state.questions().open_holders())
    }

    fn question(&self, trace: TraceId, sequence: Sequence) -> Result<Option<QuestionSummary>, StoreError> {
        self.read(|state| state.questions().find(trace, sequence))
    }

    fn question_counts(&self) -> Result<Vec<(OutcomeKind, u64)>, StoreError> {
        self.read(|state| state.questions().counts())
    }

    fn due_questions(&self, now: Timestamp, limit: usize) -> Result<Vec<QuestionSummary>, StoreError> {
        self.read(|state| {
            let waiting = state.waiting().take_while(|(deadline, _)| *deadline <= now);
            waiting.map(|(_, question)| question).take(limit).collect()
        })
    }

    fn confirmations(
        &self,
        filter: &ConfirmationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<ConfirmationSummary>, StoreError> {
        self.read(|state| state.confirmations().page(filter, after, limit))
    }

    fn confirmation(
        &self,
        trace: TraceId,
        sequence: Sequence,
    ) -> Result<Option<ConfirmationSummary>, StoreError> {
        self.read(|state| state.confirmations().find(trace, sequence))
    }

    fn due_confirmations(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ConfirmationSummary>, StoreError> {
        self.read(|state| {
            let waiting = state.unconfirmed().take_while(|(deadline, _)| *deadline <= now);
            waiting.map(|(_, confirmation)| confirmation).take(limit).collect()
        })
    }

    fn next_deadline(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(|state| {
            let questions = state.waiting().next().map(|(deadline, _)| deadline);
            let confirmations = state.unconfirmed().next().map(|(deadline, _)| deadline);
            questions.into_iter().chain(confirmations).min()
        })
    }

    fn heads_at(&self, cursor: Cursor) -> Result<Vec<(TraceId, Position)>, StoreError> {
        self.read(|state| state.heads_at(cursor))
    }

    fn end(&self) -> Result<Cursor, StoreError> {
        self.read(State::end)
    }

    fn changes(&self, after: Cursor, limit: usize) -> Result<Vec<(Cursor, Stored)>, StoreError> {
        self.read_events(|state| state.changes(after, limit))
    }

    fn put_artifact(&self, bytes: &[u8]) -> Result<Address, StoreError> {
        self.write(Writing::Artifact, |state| Ok(state.put_artifact(bytes)))
    }

    fn artifact(&self, address: &Address) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|state| state.artifact(address))
    }

    fn snapshot(&self, trace: TraceId, version: u32) -> Result<Option<Snapshot>, StoreError> {
        self.read(|state| state.snapshot(trace, version))
    }

    fn mark_failed(&self, trace: TraceId, failure: &Failure) -> Result<(), StoreError> {
        self.write(Writing::Operational, |state| state.mark_failed(trace, failure))
    }

    fn keep_secret(&self, commitment: &Commitment, value: &[u8]) -> Result<(), StoreError> {
        self.write(Writing::Operational, |state| {
            state.keep_secret(commitment, value);
            Ok(())
        })
    }

    fn secret(&self, commitment: &Commitment) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|state| state.secret(commitment))
    }

    fn forget_secret(&self, commitment: &Commitment) -> Result<(), StoreError> {
        self.write(Writing::Operational, |state| {
            state.forget_secret(commitment);
            Ok(())
        })
    }

    fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Records for MemoryStore {
    fn record(&self, key: &RecordKey) -> Result<Option<KeptRecord>, StoreError> {
        self.read(|state| state.records().find(key))
    }

    fn records(
        &self,
        prefix: &str,
        after: Option<&RecordKey>,
        limit: usize,
    ) -> Result<Vec<KeptRecord>, StoreError> {
        self.read(|state| state.records().page(prefix, after, limit))
    }

    fn due(&self, prefix: &str, now: Timestamp, limit: usize) -> Result<Vec<KeptRecord>, StoreError> {
        self.read(|state| state.records().due(prefix, now, limit))
    }
}

impl Streams for MemoryStore {
    fn posts(
        &self,
        stream: &StreamName,
        after: StreamPosition,
        limit: usize,
    ) -> Result<Vec<KeptPost>, StoreError> {
        self.read(|state| state.streams().page(stream, after, limit))
    }

    fn named_post(&self, stream: &StreamName, name: &PostName) -> Result<Option<StreamPosition>, StoreError> {
        self.read(|state| state.streams().named(stream, name))
    }

    fn newest_post(&self, stream: &StreamName) -> Result<StreamPosition, StoreError> {
        self.read(|state| state.streams().newest(stream))
    }

    fn acknowledged(
        &self,
        stream: &StreamName,
        consumer: &ConsumerName,
    ) -> Result<StreamPosition, StoreError> {
        self.read(|state| state.streams().acknowledged(stream, consumer))
    }

    fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write(Writing::Operational, |state| Ok(state.streams_mut().sweep(now)))
    }
}

impl Leases for MemoryStore {
    fn begin_lease(&self, rules: Digest) -> Result<Lease, StoreError> {
        self.write(Writing::Operational, |state| Ok(state.leases_mut().begin(rules)))
    }

    fn renew_lease(&self, lease: LeaseId) -> Result<Timestamp, StoreError> {
        self.write(Writing::Operational, |state| state.leases_mut().renew(lease))
    }

    fn end_lease(&self, lease: LeaseId) -> Result<(), StoreError> {
        self.write(Writing::Operational, |state| {
            state.leases_mut().end(lease);
            Ok(())
        })
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.read(|state| state.leases().all())
    }
}
