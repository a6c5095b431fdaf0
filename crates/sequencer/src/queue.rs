//! One queue per active trace, with its state twice: as recorded, and pending, that is with what was decided since but is
//! not on the disk yet. Commands to one trace are decided one after the other; traces do not wait for each other, and whoever
//! writes waits for nobody who decides: the recorded state moves on at the next turn.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use demur_core::hash::Digest;
use demur_engine::state::State;
use demur_ledger::{
    entry::Entry,
    meaning::{ArtifactDigests, Known},
    name::{Position, Sequence, TraceId},
};

use demur_store::contract::LeaseId;

use super::{
    commit::{Slot, lock},
    load::Loaded,
};

/// The queue of one trace.
#[derive(Debug, Default)]
pub(super) struct Queue {
    states: Mutex<Option<States>>,
    /// What was decided here and recorded since the last turn.
    recorded: Mutex<Vec<Entry>>,
    /// The store has something else than what was decided here.
    behind: AtomicBool,
    /// What is known of the trace here may hold words that were erased.
    outdated: AtomicBool,
    /// How many callers are about to decide.
    arriving: AtomicUsize,
}

/// The states of a trace.
#[derive(Debug)]
pub(super) struct States {
    /// With everything that is known to be on the disk.
    recorded: State,
    /// With all that was decided so far.
    pub(super) pending: State,
    /// Who wrote the newest recorded event, where that was read from the store.
    writer: Option<LeaseId>,
    /// The newest of what was decided here and may not be on the disk yet.
    pub(super) newest: Option<Arc<Slot>>,
    /// The hashes of the newest pending events, oldest first.
    recent: VecDeque<Digest>,
    /// The newest artifacts, pending ones among them.
    artifacts: ArtifactDigests,
}

/// What is remembered of the newest events: their hashes, the artifacts among them, and who wrote the last.
type Memory = (VecDeque<Digest>, ArtifactDigests, Option<LeaseId>);

impl Queue {
    /// Waits for this caller's turn.
    pub(super) fn enter(&self) -> Turn<'_> {
        self.arriving.fetch_add(1, Ordering::Relaxed);
        let states = lock(&self.states);
        self.arriving.fetch_sub(1, Ordering::Relaxed);
        Turn { queue: self, states }
    }

    /// Returns this caller's turn, if nobody else has it.
    pub(super) fn try_enter(&self) -> Option<Turn<'_>> {
        match self.states.try_lock() {
            Ok(states) => Some(Turn { queue: self, states }),
            Err(TryLockError::Poisoned(poisoned)) => {
                Some(Turn { queue: self, states: poisoned.into_inner() })
            }
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns whether somebody waits to decide next, and so will have a newer head to sign.
    pub(super) fn is_followed(&self) -> bool {
        self.arriving.load(Ordering::Relaxed) > 0
    }

    /// Takes note of events that were decided here and are on the disk now.
    pub(super) fn note(&self, entries: Vec<Entry>) {
        lock(&self.recorded).extend(entries);
    }

    /// Takes note that the store has something else than what was decided here: it was refused, or somebody else recorded
    /// more. Whoever decides next goes on from what is recorded.
    pub(super) fn void(&self) {
        self.behind.store(true, Ordering::Release);
    }
}

impl Queue {
    /// Takes note that words of the trace were erased. Whoever decides next reads all of it again, so that nothing here, and no
    /// snapshot that is made of it, keeps them.
    pub(super) fn forget(&self) {
        self.outdated.store(true, Ordering::Release);
    }
}

/// The right to decide in one trace.
pub(super) struct Turn<'a> {
    queue: &'a Queue,
    states: MutexGuard<'a, Option<States>>,
}

impl Turn<'_> {
    /// Returns the states. Where they are not here, or behind, `read` reads on from what is known to be recorded.
    pub(super) fn states<E>(
        &mut self,
        read: impl FnOnce(Option<State>) -> Result<Loaded, E>,
    ) -> Result<&mut States, E> {
        if !self.settle() {
            let known = self.states.take().map(States::into_recorded);
            let (recorded, rest) = known.map_or((None, <_>::default()), |(state, rest)| (Some(state), rest));
            *self.states = Some(States::new(read(recorded)?, rest));
        }
        // Unwrap safety: they are there where settling says so, and were filled otherwise.
        Ok(self.states.as_mut().expect("the states were just loaded"))
    }

    /// Moves the recorded state on. Returns whether the states are here and hold.
    fn settle(&mut self) -> bool {
        let is_behind = self.queue.behind.swap(false, Ordering::AcqRel);
        let recorded = mem::take(&mut *lock(&self.queue.recorded));
        if self.queue.outdated.swap(false, Ordering::AcqRel) {
            *self.states = None;
        }
        let Some(states) = &mut *self.states else { return false };
        let follows = recorded.iter().all(|entry| states.record(entry));
        if !states.go_on_from_recorded() {
            // None of them is known to be recorded.
            states.recent.clear();
            states.artifacts = ArtifactDigests::new();
            return false;
        }
        follows && !is_behind
    }

    /// Returns the states if they are here and hold; where there are none, those of a new trace with this id.
    pub(super) fn at_hand(&mut self, new: Option<TraceId>) -> Option<&mut States> {
        if !self.settle() {
            if self.states.is_some() {
                // Whoever may read the store reads on.
                self.queue.void();
                return None;
            }
            *self.states = Some(States::new(Loaded::of(State::new(new?)), <_>::default()));
        }
        self.states.as_mut()
    }

    /// Forgets the states of a trace that nothing opened here: it may be there all the same.
    pub(super) fn forget_if_new(&mut self) {
        self.states.take_if(|states| states.pending.tip().head().is_none());
    }

    /// Returns the newest event that is known to be recorded.
    pub(super) fn recorded(&mut self) -> Option<Position> {
        self.at_hand(None)?.recorded()
    }
}

impl States {
    /// Returns the states of what was just read. Hashes and the writer before it are known.
    fn new(loaded: Loaded, (mut recent, mut artifacts, writer): Memory) -> Self {
        let Loaded { state, recent: read, artifacts: found, writer: newest } = loaded;
        recent.extend(read);
        for (at, digest) in found {
            artifacts.push(at, digest);
        }
        let (pending, writer) = (state.clone(), newest.or(writer));
        let mut states = Self { recorded: state, pending, writer, newest: None, recent, artifacts };
        states.trim();
        states
    }

    /// Returns what is known to be recorded, and what is remembered of it.
    fn into_recorded(self) -> (State, Memory) {
        let Self { recorded, pending, mut recent, mut artifacts, writer, .. } = self;
        artifacts.forget_from(recorded.tip().next());
        let undone = pending.tip().next().number().saturating_sub(recorded.tip().next().number());
        let kept = recent.len().saturating_sub(usize::try_from(undone).unwrap_or(usize::MAX));
        recent.truncate(kept);
        (recorded, (recent, artifacts, writer))
    }

    /// Returns the newest artifacts.
    pub(super) const fn artifacts(&self) -> &ArtifactDigests {
        &self.artifacts
    }

    /// Returns the newest event that is known to be recorded.
    pub(super) fn recorded(&self) -> Option<Position> {
        self.recorded.tip().head()
    }

    /// Returns who wrote the newest event of a run that is open, where that was read from the store and nothing was decided
    /// here since.
    pub(super) fn interrupted_by(&self) -> Option<LeaseId> {
        let is_open = self.pending.phase().is_some_and(|phase| !phase.is_final());
        let is_newest = self.pending.tip().head() == self.recorded();
        self.writer.filter(|_| is_open && is_newest)
    }

    /// Folds a recorded event in. Returns whether it follows.
    fn record(&mut self, entry: &Entry) -> bool {
        let event = &entry.event;
        if event.position().sequence < self.recorded.tip().next() {
            // It was read from the store in the meantime.
            return true;
        }
        self.writer = None;
        // What it rests on was looked at when it was decided.
        let known = Known { meaning: entry.meaning.as_ref(), ..Known::NOTHING };
        self.recorded.apply(event, known).is_ok()
    }

    /// Returns whether what is pending goes on from what is recorded. It does not where the states were read again while
    /// something decided before was in line, and that is recorded now.
    fn go_on_from_recorded(&self) -> bool {
        self.recorded().is_none_or(|head| match self.hash(head.sequence) {
            HashLookup::Here(hash) => hash == head.hash,
            HashLookup::Absent => false,
            // So much was decided since that nobody remembers.
            HashLookup::Stored => true,
        })
    }

    /// Remembers the newest event.
    pub(super) fn remember(&mut self, entry: &Entry) {
        let Position { hash, sequence } = entry.event.position();
        self.recent.push_back(hash);
        if let Some(place) = &entry.artifact {
            self.artifacts.push(sequence, *place.address.as_digest());
        }
        self.trim();
    }

    fn trim(&mut self) {
        let more = self.recent.len().saturating_sub(MAX_RECENT_HASHES);
        self.recent.drain(..more);
        // Only what is on the disk can be looked up there.
        self.artifacts.keep_newest(MAX_RECENT_HASHES, self.recorded.tip().next());
    }

    /// Returns the hash of an event: where it is known, that it is not there, or that the store must be asked.
    pub(super) fn hash(&self, sequence: Sequence) -> HashLookup {
        let Some(head) = self.pending.tip().head() else { return HashLookup::Absent };
        if sequence > head.sequence {
            return HashLookup::Absent;
        }
        if sequence == head.sequence {
            return HashLookup::Here(head.hash);
        }
        let back = head.sequence.number() - sequence.number();
        let place = usize::try_from(back + 1).ok().and_then(|back| self.recent.len().checked_sub(back));
        place
            .and_then(|place| self.recent.get(place))
            .map_or(HashLookup::Stored, |hash| HashLookup::Here(*hash))
    }
}

/// What is known of an event without asking the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashLookup {
    /// Its hash.
    Here(Digest),
    /// There is none.
    Absent,
    /// It is older than what is remembered.
    Stored,
}

/// The queues of the traces in use.
#[derive(Debug, Default)]
pub(super) struct Queues {
    queues: Mutex<BTreeMap<TraceId, Arc<Queue>>>,
}

impl Queues {
    /// Returns the queue of a trace that is in use.
    pub(super) fn known(&self, trace: TraceId) -> Option<Arc<Queue>> {
        lock(&self.queues).get(&trace).cloned()
    }

    /// Returns the queue of a trace.
    pub(super) fn of(&self, trace: TraceId) -> Arc<Queue> {
        let mut queues = lock(&self.queues);
        if let Some(queue) = queues.get(&trace) {
            return Arc::clone(queue);
        }
        if queues.len() >= MAX_QUEUES {
            // Whatever is not in use right now can be loaded again.
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        }
        Arc::clone(queues.entry(trace).or_default())
    }
}

/// How many hashes a queue remembers: authors have usually seen something recent.
pub(super) const MAX_RECENT_HASHES: usize = 256;

/// How many traces are kept in memory.
const MAX_QUEUES: usize = 4096;
