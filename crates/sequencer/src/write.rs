//! Writing for everybody who waits: one call of the store, then whoever listens hears of it, then whoever waits.

use std::sync::Arc;

use demur_ledger::{entry::Entry, name::TraceId, registry::Registry};
use demur_store::contract::{Append, Conflict, StoreError, Write, WriteOutcome};

use super::{
    Sequencer,
    commit::{Ending, lock},
    item::{Item, Waiting},
};

/// Hears of everything that this sequencer records.
///
/// Whatever another process recorded is not heard of: [`Sequencer::follow`] finds it. Nor is what an earlier use of the store
/// recorded, nor what was recorded without being confirmed: it is found with `Store::changes`.
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

impl Sequencer {
    /// Has somebody listen from now on.
    pub fn listen(&mut self, listener: Arc<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Commits what waits and tells everybody who waits for it.
    pub(super) fn write(&self, items: Vec<Item>) {
        let mut joined: Vec<Item> = Vec::new();
        for item in items {
            // Only to the last of its trace: what comes after it is chained to it.
            match joined.iter_mut().rfind(|before| before.trace == item.trace) {
                Some(before) if before.takes(&item) => before.join(item),
                _ => joined.push(item),
            }
        }
        let (writes, waiting): (Vec<_>, Vec<_>) =
            joined.into_iter().filter_map(|item| self.signed(item)).unzip();
        if writes.is_empty() {
            return;
        }
        let failed = |ending: Ending| waiting.iter().for_each(|waiting| self.tell(waiting, &ending));
        match self.store.commit(&writes) {
            Ok(outcomes) if outcomes.len() == writes.len() => {
                self.count(&writes, &outcomes);
                for ((write, waiting), outcome) in writes.into_iter().zip(waiting).zip(outcomes) {
                    self.conclude(write, waiting, outcome);
                }
            }
            Ok(_) => {
                failed(Ending::Failed(Arc::new(StoreError::Misuse { what: "it lost count of writes" })));
            }
            Err(StoreError::Uncertain) => failed(Ending::Uncertain),
            Err(error) => failed(Ending::Failed(Arc::new(error))),
        }
    }

    /// Returns what is to be written of an item, and who waits for it. The desk's key may have changed since it was
    /// decided: it is decided again then.
    fn signed(&self, item: Item) -> Option<(Write, Vec<Waiting>)> {
        let sign = |head, after: Option<&Registry>| self.at_hand.sign_head(head, after);
        let refused = |waiting: Vec<Waiting>| self.tell(&waiting, &Ending::Conflict(Conflict::Registry));
        item.into_write(self.at_hand.lease, sign).map_err(refused).ok()
    }

    fn count(&self, writes: &[Write], outcomes: &[WriteOutcome]) {
        let done = writes.iter().zip(outcomes).filter(|(_, outcome)| **outcome == WriteOutcome::Done);
        let appends = done.filter_map(|(write, _)| write.append.as_ref());
        let events = appends.map(|append| append.entries.len()).sum();
        if events > 0 {
            self.at_hand.counters.count_commit(events);
        }
    }

    fn conclude(&self, write: Write, mut waiting: Vec<Waiting>, outcome: WriteOutcome) {
        let ending = match outcome {
            WriteOutcome::Refused(conflict) => Ending::Conflict(conflict),
            WriteOutcome::Done => {
                // Whoever hears of a registry event finds it in the registry.
                let registries = waiting.iter_mut().filter_map(|waiting| waiting.registry.take());
                registries.for_each(|registry| self.at_hand.adopt(registry));
                if let Some(Append { trace, mut entries, .. }) = write.append {
                    self.listeners.iter().for_each(|listener| listener.recorded(trace, &entries));
                    for entry in &mut entries {
                        self.at_hand.words.keep(trace, entry);
                    }
                    if let Some(waiting) = waiting.first() {
                        waiting.queue.note(entries.into_iter().map(|entry| entry.event));
                    }
                }
                Ending::Done
            }
        };
        self.tell(&waiting, &ending);
    }

    fn tell(&self, waiting: &[Waiting], ending: &Ending) {
        for waiting in waiting {
            if !matches!(ending, Ending::Done) {
                waiting.queue.void();
            }
            if let Some(id) = waiting.command {
                lock(&self.at_hand.in_flight).remove(&id);
            }
            waiting.slot.end(ending.clone());
        }
    }
}
