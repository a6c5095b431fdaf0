//! Writing for everybody who waits: one call of the store, then whoever listens hears of it, then whoever waits.

use std::sync::Arc;

use demur_ledger::{entry::Entry, name::TraceId};
use demur_store::contract::{Append, Conflict, StoreError, Write, WriteOutcome};

use super::{
    Sequencer,
    commit::{Ending, lock},
    item::{Group, Item, Waiting},
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
        let mut groups: Vec<Group> = Vec::new();
        for item in items {
            // Only the last group of its trace: what comes after it is chained to it.
            match groups.iter_mut().rfind(|group| group.trace == item.trace) {
                Some(group) if group.takes(&item) => group.add(item),
                _ => groups.push(Group::new(item)),
            }
        }
        let (groups, writes) = self.signed(groups);
        match self.commit(writes) {
            Ok(judged) => {
                for (group, (write, outcome)) in groups.into_iter().zip(judged) {
                    self.conclude(group, write, outcome);
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

    /// Returns the groups whose heads are signed, with what is to be written. The desk's key may have changed since the
    /// others were decided: they are decided again.
    fn signed(&self, groups: Vec<Group>) -> (Vec<Group>, Vec<Write>) {
        let sign = |mut group: Group| {
            let Ok(write) =
                group.write(self.at_hand.lease, |head, after| self.at_hand.sign_head(head, after))
            else {
                let ending = Ending::Conflict(Conflict::Registry);
                group.waiting.iter().for_each(|waiting| self.tell(waiting, ending.clone()));
                return None;
            };
            Some((group, write))
        };
        groups.into_iter().filter_map(sign).unzip()
    }

    /// Writes; returns what was written and what became of each.
    fn commit(&self, writes: Vec<Write>) -> Result<Vec<(Write, WriteOutcome)>, StoreError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let outcomes = self.store.commit(&writes)?;
        if outcomes.len() != writes.len() {
            return Err(StoreError::Misuse { what: "it lost count of writes" });
        }
        let judged: Vec<_> = writes.into_iter().zip(outcomes).collect();
        let done = judged.iter().filter(|(_, outcome)| *outcome == WriteOutcome::Done);
        let appends = done.filter_map(|(write, _)| write.append.as_ref());
        let events = appends.map(|append| append.entries.len()).sum();
        if events > 0 {
            self.at_hand.counters.count_commit(events);
        }
        Ok(judged)
    }

    fn conclude(&self, mut group: Group, write: Write, outcome: WriteOutcome) {
        let ending = match outcome {
            WriteOutcome::Refused(conflict) => Ending::Conflict(conflict),
            WriteOutcome::Done => {
                // Whoever hears of a registry event finds it in the registry.
                let registries = group.waiting.iter_mut().filter_map(|waiting| waiting.registry.take());
                registries.for_each(|registry| self.at_hand.adopt(registry));
                if let Some(Append { trace, mut entries, .. }) = write.append {
                    self.listeners.iter().for_each(|listener| listener.recorded(trace, &entries));
                    for entry in &mut entries {
                        self.at_hand.words.keep(trace, entry);
                    }
                    if let Some(waiting) = group.waiting.first() {
                        waiting.queue.note(entries.into_iter().map(|entry| entry.event));
                    }
                }
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
            lock(&self.at_hand.in_flight).remove(&id);
        }
        waiting.slot.end(ending);
    }
}
