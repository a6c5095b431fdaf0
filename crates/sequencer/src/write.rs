//! Items: what decisions want recorded. The leader writes them for everybody in line, with one call of the store. Then the
//! listeners are told, then the callers.

use std::{collections::BTreeMap, sync::Arc};

use demur_core::key::Fingerprint;
use demur_ledger::{
    entry::Entry,
    erasure::is_erasure,
    name::{CommandId, Position, Sequence, TraceId},
    registry::Registry,
    signed::{Head, Signed},
    state::Phase,
};
use demur_store::contract::{
    Acknowledgement, Append, ConfirmationRow, Conflict, Post, QuestionRow, Snapshot, StoreError, Swap, Write,
    WriteOutcome,
};

use super::{
    Sequencer,
    commit::{Ending, Slot, lock},
    queue::Queue,
};

/// Is told of every event that this sequencer records.
///
/// Events of other processes are not told: [`Sequencer::follow`] finds them. Nor are those of an earlier use of the store, or
/// those that the disk did not confirm: `Store::changes` has them.
pub trait Listener: Send + Sync {
    /// Takes note of an append: the events of one trace that one commit added to it, in order.
    ///
    /// **Durable**: they are on the disk. **Once**: no append is told twice, and none that was refused or failed.
    /// **In order**: appends to one trace are told in their order, one after the other. **In time**: callers who wait for one
    /// of them are told after this returns.
    ///
    /// The next commit waits for the return, so this must not block: it wakes a task or fills a queue. It may read the store,
    /// and it must not submit or record anything.
    fn recorded(&self, trace: TraceId, entries: &[Entry]);
}

/// What is kept without an event, as a whole or not at all.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Records that change.
    pub swaps: Vec<Swap>,
    /// What is posted.
    pub posts: Vec<Post>,
    /// What consumers need no more.
    pub acknowledged: Vec<Acknowledgement>,
}

/// What one caller wants recorded: the events of a decision, changes beside them, or both.
pub(super) struct Item {
    /// The events; none where changes stand alone.
    pub(super) events: Option<NewEvents>,
    /// What changes with it, or it does not happen.
    pub(super) changes: Changes,
    pub(super) waits: Waits,
    /// The callers who wait for it: one, until other items are joined.
    pub(super) waiting: Vec<Waiting>,
}

/// The events that one decision wants recorded, and what follows from them.
pub(super) struct NewEvents {
    pub(super) trace: TraceId,
    /// The newest event it was chained to.
    pub(super) expected: Option<Position>,
    pub(super) entries: Vec<Entry>,
    /// The head after it.
    pub(super) head: Head,
    /// The head with its signature, if it is signed already.
    pub(super) signed: Option<Signed<Head>>,
    pub(super) phase: Option<Phase>,
    /// The confirmations it touched, as they stand after it.
    pub(super) confirmations: BTreeMap<Sequence, ConfirmationRow>,
    /// The questions it touched, as they stand after it.
    pub(super) questions: BTreeMap<Sequence, Option<QuestionRow>>,
    pub(super) snapshot: Option<Snapshot>,
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

/// A caller who waits for an item, and what ends with it.
pub(super) struct Waiting {
    /// The queue it was decided in, if it was; told when its pending state is void.
    pub(super) queue: Option<Arc<Queue>>,
    /// The registry after it, if it is of the registry.
    pub(super) registry: Option<Arc<Registry>>,
    /// The author's command, to be forgotten when it is no longer in flight.
    pub(super) command: Option<(Fingerprint, CommandId)>,
    pub(super) slot: Arc<Slot>,
}

/// A caller is told even if the thread that wrote for it panicked: it is uncertain then what reached the disk.
impl Drop for Waiting {
    fn drop(&mut self) {
        if self.slot.abandon() {
            self.void();
        }
    }
}

impl Waiting {
    /// Returns a caller who waits for changes alone.
    fn for_changes(slot: Arc<Slot>) -> Self {
        Self { queue: None, registry: None, command: None, slot }
    }

    fn void(&self) {
        if let Some(queue) = &self.queue {
            queue.void();
        }
    }
}

impl Item {
    /// Returns changes alone, whose caller waits on a thread.
    pub(super) fn of_changes(changes: Changes, slot: &Arc<Slot>) -> Self {
        let waiting = vec![Waiting::for_changes(Arc::clone(slot))];
        Self { events: None, changes, waits: Waits::OnAThread, waiting }
    }

    /// Returns where its callers wait.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.waiting.iter().map(|waiting| &waiting.slot)
    }

    /// Returns the registry after it, if it is of the registry.
    pub(super) fn registry_after(&self) -> Option<&Registry> {
        self.waiting.last().and_then(|waiting| waiting.registry.as_deref())
    }

    /// Returns the trace that its events are of, if it has any.
    fn trace(&self) -> Option<TraceId> {
        self.events.as_ref().map(|events| events.trace)
    }

    /// Returns whether another item can be joined to this one: both have events of the same trace, and ask for the same absences
    /// of records, if for any. An item that changes records or posts something stands alone, so that no other is refused for it.
    fn takes(&self, next: &Self) -> bool {
        let (own, others) = (&self.changes, &next.changes);
        let same = self.trace().is_some() && self.trace() == next.trace() && own.swaps == others.swaps;
        let posts_nothing = |changes: &Changes| changes.posts.is_empty() && changes.acknowledged.is_empty();
        same && posts_nothing(own) && posts_nothing(others) && others.swaps.iter().all(Swap::is_absence)
    }

    /// Adds the next item of the same trace. If it was not chained to this one, the store refuses both, and both are decided
    /// again.
    fn join(&mut self, next: Self) {
        if let (Some(events), Some(next)) = (&mut self.events, next.events) {
            events.join(next);
        }
        self.waiting.extend(next.waiting);
    }
}

impl NewEvents {
    fn append(self, head: Signed<Head>) -> Append {
        let Self { trace, expected, entries, phase, questions, confirmations, snapshot, .. } = self;
        let questions = questions.into_iter().collect();
        let confirmations = confirmations.into_iter().collect();
        Append { trace, expected, entries, head, phase, questions, confirmations, snapshot }
    }

    fn join(&mut self, next: Self) {
        self.entries.extend(next.entries);
        self.head = next.head;
        self.signed = next.signed;
        self.phase = next.phase;
        self.questions.extend(next.questions);
        self.confirmations.extend(next.confirmations);
        self.snapshot = next.snapshot.or(self.snapshot.take());
    }
}

impl Sequencer {
    /// Adds a listener, who is told of everything from now on.
    pub fn listen(&mut self, listener: Arc<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Commits items, and tells everybody who waits for them.
    pub(super) fn write(&self, items: Vec<Item>) {
        let mut joined: Vec<Item> = Vec::new();
        for item in items {
            // Only to the last item of its trace: that is the one it is chained to.
            match joined.iter_mut().rfind(|before| before.trace() == item.trace()) {
                Some(before) if before.takes(&item) => before.join(item),
                _ => joined.push(item),
            }
        }
        let (writes, waiting): (Vec<_>, Vec<_>) =
            joined.into_iter().filter_map(|item| self.write_of(item)).unzip();
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

    /// Returns the write of an item, and who waits for it. A head that its decider left unsigned, because another caller was
    /// behind it already, is signed here. If the desk's key has changed since, the item has to be decided again.
    fn write_of(&self, item: Item) -> Option<(Write, Vec<Waiting>)> {
        let (writer, registry) = (self.at_hand.lease, item.registry_after());
        let sign = |events: &NewEvents| match &events.signed {
            Some(signed) => Ok(signed.clone()),
            None => self.at_hand.sign_head(events.head.clone(), registry),
        };
        let Ok(head) = item.events.as_ref().map(sign).transpose() else {
            self.tell(&item.waiting, &Ending::Conflict(Conflict::Registry));
            return None;
        };
        let append = item.events.zip(head).map(|(events, head)| events.append(head));
        let Changes { swaps, posts, acknowledged } = item.changes;
        Some((Write { writer, append, swaps, posts, acknowledged }, item.waiting))
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
                // First: a listener who is told of a registry event finds it in the registry.
                let registries = waiting.iter_mut().filter_map(|waiting| waiting.registry.take());
                registries.for_each(|registry| self.at_hand.adopt(registry));
                if let Some(Append { trace, mut entries, .. }) = write.append {
                    self.listeners.iter().for_each(|listener| listener.recorded(trace, &entries));
                    for entry in &mut entries {
                        self.at_hand.words.keep(trace, entry);
                        // Its place in the chain and its meaning are enough from here on.
                        entry.opening = None;
                    }
                    if let Some(queue) = waiting.first().and_then(|waiting| waiting.queue.as_ref()) {
                        if entries.iter().any(|entry| is_erasure(&entry.event)) {
                            self.at_hand.words.forget(trace);
                            queue.forget();
                        }
                        queue.note(entries);
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
                waiting.void();
            }
            if let Some(id) = waiting.command {
                lock(&self.at_hand.in_flight).remove(&id);
            }
            waiting.slot.end(ending.clone());
        }
    }
}
