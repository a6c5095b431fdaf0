//! What decisions want recorded, and writing it for everybody who waits: one call of the store, then whoever listens hears of
//! it, then whoever waits.

use std::{collections::BTreeMap, sync::Arc};

use demur_core::key::Fingerprint;
use demur_ledger::{
    entry::Entry,
    name::{CommandId, Position, Sequence, TraceId},
    registry::Registry,
    signed::{Head, Signed},
    state::Phase,
};
use demur_store::contract::{
    Append, Conflict, LeaseId, QuestionRow, Snapshot, StoreError, Swap, Write, WriteOutcome,
};

use super::{
    Sequencer, SequencerError,
    commit::{Ending, Slot, lock},
    queue::Queue,
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

/// What one decision wants recorded.
pub(super) struct Item {
    pub(super) trace: TraceId,
    /// The newest event it was chained to.
    pub(super) expected: Option<Position>,
    pub(super) entries: Vec<Entry>,
    /// The head after it, for whoever signs it.
    pub(super) head: Head,
    /// The signature, if the decider made it already.
    pub(super) signed: Option<Signed<Head>>,
    pub(super) phase: Option<Phase>,
    /// The questions it touched, as they stand after it.
    pub(super) questions: BTreeMap<Sequence, Option<QuestionRow>>,
    pub(super) snapshot: Option<Snapshot>,
    /// The records that change with it, or it does not happen.
    pub(super) swaps: Vec<Swap>,
    pub(super) waits: Waits,
    /// Whoever waits for it: one, until others are joined.
    pub(super) waiting: Vec<Waiting>,
}

/// How the caller of an item waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// On a thread, which can be told to write.
    OnAThread,
    /// Without a thread: it is woken, and finds one if it has to write.
    Unattended,
    /// Not yet, and so it cannot be told to write.
    Later,
}

/// Who waits for an item, and what has to be known when it ends.
pub(super) struct Waiting {
    /// The queue it was decided in; told when its pending state is void.
    pub(super) queue: Arc<Queue>,
    /// The registry after it, if it is of the registry.
    pub(super) registry: Option<Arc<Registry>>,
    /// The author's command, to be forgotten when it is no longer in flight.
    pub(super) command: Option<(Fingerprint, CommandId)>,
    pub(super) slot: Arc<Slot>,
}

/// Whoever waits is told, even if the thread that wrote for it panicked: nobody knows then what reached the disk.
impl Drop for Waiting {
    fn drop(&mut self) {
        if self.slot.abandon() {
            self.queue.void();
        }
    }
}

impl Item {
    /// Returns where its callers wait.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.waiting.iter().map(|waiting| &waiting.slot)
    }

    /// Returns the registry after it, if it is of the registry.
    pub(super) fn registry_after(&self) -> Option<&Registry> {
        self.waiting.last().and_then(|waiting| waiting.registry.as_deref())
    }

    /// Returns whether another item can be written with this one as one: of the same trace, and both ask for the same
    /// absences, if for any. What changes records stands alone, so that nobody else is refused for a record.
    pub(super) fn takes(&self, next: &Self) -> bool {
        let same = self.trace == next.trace && self.swaps == next.swaps;
        same && next.swaps.iter().all(Swap::is_absence)
    }

    /// Adds the next item of the same trace. If it was not chained to this one, the store refuses both, and everybody who
    /// waits decides again.
    pub(super) fn join(&mut self, next: Self) {
        self.entries.extend(next.entries);
        self.head = next.head;
        self.signed = next.signed;
        self.phase = next.phase;
        self.questions.extend(next.questions);
        self.snapshot = next.snapshot.or(self.snapshot.take());
        self.waiting.extend(next.waiting);
    }

    /// Returns what is to be written, its head signed by `sign` where its decider left that to the commit, because
    /// somebody was already behind it; and who waits for it. Where it cannot be signed, who waits is all there is.
    pub(super) fn into_write(
        mut self,
        writer: LeaseId,
        sign: impl FnOnce(Head, Option<&Registry>) -> Result<Signed<Head>, SequencerError>,
    ) -> Result<(Write, Vec<Waiting>), Vec<Waiting>> {
        let signed = self.signed.take().map_or_else(|| sign(self.head.clone(), self.registry_after()), Ok);
        let Self { trace, expected, entries, phase, snapshot, swaps, waiting, .. } = self;
        let Ok(head) = signed else { return Err(waiting) };
        let questions = self.questions.into_iter().collect();
        let append = Append { trace, expected, entries, head, phase, questions, snapshot };
        Ok((Write { writer, append: Some(append), swaps }, waiting))
    }
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
