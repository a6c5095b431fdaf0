//! What one decision wants recorded, and how the items of one trace become one write.

use std::{collections::BTreeMap, sync::Arc};

use demur_core::key::Fingerprint;
use demur_ledger::{
    entry::Entry,
    name::{CommandId, Position, Sequence, TraceId},
    registry::Registry,
    signed::{Head, Signed},
    state::Phase,
};
use demur_store::contract::{Append, LeaseId, QuestionRow, Snapshot, Swap, Write};

use super::{commit::Slot, error::SequencerError, queue::Queue};

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
