//! One queue per active trace: its pending state, that is the recorded state and what was decided since but is not
//! on the disk yet. Commands to one trace are decided one after the other; traces do not wait for each other.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicUsize, Ordering},
    },
};

use demur_core::hash::Digest;
use demur_engine::state::State;
use demur_ledger::name::{Sequence, TraceId};

use super::commit::{Slot, lock};

/// The queue of one trace.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pending: Mutex<Option<Pending>>,
    /// How many callers are about to decide.
    arriving: AtomicUsize,
}

/// The state of a trace with all that was decided so far.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) state: State,
    /// Its newest event was recorded by a desk that crashed; nothing came after it yet.
    pub(super) interrupted: bool,
    /// The newest of what was decided here and may not be on the disk yet.
    pub(super) newest: Option<Arc<Slot>>,
    /// The hashes of the newest events, oldest first.
    recent: VecDeque<Digest>,
}

impl Queue {
    /// Waits for this caller's turn.
    pub(super) fn enter(&self) -> Turn<'_> {
        self.arriving.fetch_add(1, Ordering::Relaxed);
        let pending = lock(&self.pending);
        self.arriving.fetch_sub(1, Ordering::Relaxed);
        Turn { queue: self, pending }
    }

    /// Returns this caller's turn, if nobody else has it.
    pub(super) fn try_enter(&self) -> Option<Turn<'_>> {
        match self.pending.try_lock() {
            Ok(pending) => Some(Turn { queue: self, pending }),
            Err(TryLockError::Poisoned(poisoned)) => {
                Some(Turn { queue: self, pending: poisoned.into_inner() })
            }
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Drops the pending state: it holds something that was not recorded.
    pub(super) fn void(&self) {
        *lock(&self.pending) = None;
    }
}

/// The right to decide in one trace.
pub(super) struct Turn<'a> {
    queue: &'a Queue,
    pending: MutexGuard<'a, Option<Pending>>,
}

impl Turn<'_> {
    /// Returns the pending state, loading it where there is none.
    pub(super) fn pending<E>(
        &mut self,
        load: impl FnOnce() -> Result<Pending, E>,
    ) -> Result<&mut Pending, E> {
        if self.pending.is_none() {
            *self.pending = Some(load()?);
        }
        // Unwrap safety: it was none and was filled, or it was not none.
        Ok(self.pending.as_mut().expect("the pending state was just loaded"))
    }

    /// Returns whether the state is here and nothing has to be recorded before it goes on.
    pub(super) fn is_ready(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| !pending.interrupted)
    }

    /// Returns whether somebody waits to decide next, and so will have a newer head to sign.
    pub(super) fn is_followed(&self) -> bool {
        self.queue.arriving.load(Ordering::Relaxed) > 0
    }
}

impl Pending {
    /// Returns the state just loaded.
    pub(super) const fn new(state: State, interrupted: bool) -> Self {
        Self { state, interrupted, newest: None, recent: VecDeque::new() }
    }

    /// Remembers the hash of the newest event.
    pub(super) fn remember(&mut self, hash: Digest) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(hash);
    }

    /// Returns the hash of an event: where it is known, that it is not there, or that the store must be asked.
    pub(super) fn hash(&self, sequence: Sequence) -> Known {
        let Some(head) = self.state.tip().head() else { return Known::Absent };
        if sequence > head.sequence {
            return Known::Absent;
        }
        if sequence == head.sequence {
            return Known::Here(head.hash);
        }
        let back = head.sequence.number() - sequence.number();
        let place = usize::try_from(back + 1).ok().and_then(|back| self.recent.len().checked_sub(back));
        place.and_then(|place| self.recent.get(place)).map_or(Known::Stored, |hash| Known::Here(*hash))
    }
}

/// What is known of an event without asking the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
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
    /// Returns the queue of a trace.
    pub(super) fn of(&self, trace: TraceId) -> Arc<Queue> {
        let mut queues = lock(&self.queues);
        if let Some(queue) = queues.get(&trace) {
            return Arc::clone(queue);
        }
        if queues.len() >= MOST {
            // Whatever is not in use right now can be loaded again.
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        }
        Arc::clone(queues.entry(trace).or_default())
    }
}

/// How many hashes a queue remembers: authors have usually seen something recent.
const REMEMBERED: usize = 256;

/// How many traces are kept in memory.
const MOST: usize = 4096;
