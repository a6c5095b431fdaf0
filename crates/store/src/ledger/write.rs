//! Writing for everybody who waits: one call of the store, then whoever listens hears of it, then whoever waits.

use std::sync::{Arc, PoisonError};

use demur_engine::entry::Entry;
use demur_ledger::{name::TraceId, registry::Registry};

use super::{
    Ledger,
    commit::{Ending, lock},
    item::{Group, Item, Waiting},
};
use crate::contract::{Append, Conflict, Outcome, Store, StoreError};

/// Hears of everything that this ledger records.
///
/// Whatever another process, or an earlier use of the store, recorded is not heard of, nor what was recorded without
/// being confirmed: it is found with [`Store::changes`].
pub trait Listener: Send + Sync {
    /// Takes note of an append: the events of one trace that one commit added to it, in order.
    ///
    /// **Durable**: they are on the disk. **Once**: nothing is heard of twice, and nothing that was refused or failed.
    /// **In order**: appends to one trace are heard of in their order, one after the other. **In time**: whoever waits
    /// for one of them is told after this returns.
    ///
    /// The next commit waits for the return, so this must not block: it rings a bell or fills a queue. It may read the
    /// store, and it must not submit or record anything.
    fn recorded(&self, trace: TraceId, entries: &[Entry]);
}

impl<S: Store> Ledger<S> {
    /// Has somebody listen from now on.
    pub fn listen(&mut self, listener: Arc<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Commits what waits and tells everybody who waits for it.
    pub(super) fn write(&self, items: Vec<Item>) {
        let mut groups: Vec<Group> = Vec::new();
        for item in items {
            match groups.iter_mut().find(|group| group.trace == item.trace) {
                Some(group) => group.add(item),
                None => groups.push(Group::new(item)),
            }
        }
        let (groups, appends) = self.signed(groups);
        match self.commit(appends) {
            Ok(judged) => {
                for (group, (append, outcome)) in groups.into_iter().zip(judged) {
                    self.conclude(group, &append, outcome);
                }
            }
            Err(error) => {
                let ending = match error {
                    StoreError::Uncertain => Ending::Uncertain,
                    error => Ending::Failed(Arc::new(error)),
                };
                let waiting = groups.iter().flat_map(|group| &group.waiting);
                waiting.for_each(|waiting| self.tell(waiting, ending.clone()));
            }
        }
    }

    /// Returns the groups whose heads are signed, with what is to be appended. The desk's key may have changed since the
    /// others were decided: they are decided again.
    fn signed(&self, groups: Vec<Group>) -> (Vec<Group>, Vec<Append>) {
        let sign = |mut group: Group| {
            let Ok(append) = group.append(|head, after| self.sign_head(head, after)) else {
                let ending = Ending::Conflict(Conflict::Registry);
                group.waiting.iter().for_each(|waiting| self.tell(waiting, ending.clone()));
                return None;
            };
            Some((group, append))
        };
        groups.into_iter().filter_map(sign).unzip()
    }

    /// Appends; returns what was appended and what became of each.
    fn commit(&self, appends: Vec<Append>) -> Result<Vec<(Append, Outcome)>, StoreError> {
        if appends.is_empty() {
            return Ok(Vec::new());
        }
        let outcomes = self.store.append(&appends)?;
        if outcomes.len() != appends.len() {
            return Err(StoreError::Misuse { what: "it lost count of appends" });
        }
        let judged: Vec<_> = appends.into_iter().zip(outcomes).collect();
        let done = judged.iter().filter(|(_, outcome)| *outcome == Outcome::Done);
        let events = done.map(|(append, _)| append.entries.len()).sum();
        if events > 0 {
            self.counters.count_commit(events);
        }
        Ok(judged)
    }

    fn conclude(&self, mut group: Group, append: &Append, outcome: Outcome) {
        let ending = match outcome {
            Outcome::Refused(conflict) => Ending::Conflict(conflict),
            Outcome::Done => {
                // Whoever hears of a registry event finds it in the registry.
                let registries = group.waiting.iter_mut().filter_map(|waiting| waiting.registry.take());
                registries.for_each(|registry| self.adopt(registry));
                self.listeners.iter().for_each(|listener| listener.recorded(append.trace, &append.entries));
                Ending::Done
            }
        };
        group.waiting.iter().for_each(|waiting| self.tell(waiting, ending.clone()));
    }

    fn tell(&self, waiting: &Waiting, ending: Ending) {
        if !matches!(ending, Ending::Done) {
            waiting.queue.void();
        }
        if let Some(id) = waiting.command {
            lock(&self.in_flight).remove(&id);
        }
        waiting.slot.end(ending);
    }

    /// Goes on with a newer registry.
    pub(super) fn adopt(&self, registry: Arc<Registry>) {
        let mut current = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        if registry.head().sequence > current.head().sequence {
            *current = registry;
        }
    }
}
