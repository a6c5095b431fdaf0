//! What a sequencer has in memory, enough to decide most commands. No store can be reached from here: it is for threads that
//! must not wait for a disk.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use demur_core::key::{Fingerprint, SecretKey};
use demur_ledger::{
    name::{CommandId, Position, TraceId},
    registry::Registry,
};
use demur_store::contract::LeaseId;

use super::{
    commit::{Commits, Slot},
    figures::{Counters, Figures},
    queue::Queues,
    system::System,
    words::Words,
};

/// What a sequencer has in memory.
pub struct AtHand {
    pub(super) desk: RwLock<SecretKey>,
    /// The registry as recorded; decisions pin its newest event.
    registry: RwLock<Arc<Registry>>,
    pub(super) queues: Queues,
    pub(super) commits: Arc<Commits>,
    /// Commands that are decided but not recorded yet.
    pub(super) in_flight: Mutex<BTreeMap<(Fingerprint, CommandId), Arc<Slot>>>,
    /// The words of the newest questions.
    pub(super) words: Words,
    /// What this use of the store writes under.
    pub(super) lease: LeaseId,
    pub(super) system: Box<dyn System>,
    pub(super) counters: Counters,
}

impl AtHand {
    pub(super) fn new(desk: SecretKey, registry: Registry, lease: LeaseId, system: Box<dyn System>) -> Self {
        Self {
            desk: RwLock::new(desk),
            registry: RwLock::new(Arc::new(registry)),
            queues: Queues::default(),
            commits: Arc::default(),
            in_flight: Mutex::default(),
            words: Words::default(),
            lease,
            system,
            counters: Counters::default(),
        }
    }

    /// Returns the registry as recorded.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Goes on with a newer registry.
    pub(super) fn adopt(&self, registry: Arc<Registry>) {
        let mut current = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        if registry.head().sequence > current.head().sequence {
            *current = registry;
        }
    }

    /// Returns what was done since the sequencer was opened.
    pub fn figures(&self) -> Figures {
        self.counters.read()
    }

    /// Returns the newest recorded event of a trace, if it is known without a look at the store.
    pub fn head(&self, trace: TraceId) -> Option<Position> {
        self.queues.known(trace)?.try_enter()?.recorded()
    }
}
