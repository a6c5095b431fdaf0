//! What one decision wants recorded, and how the items of one trace become one append.

use std::{collections::BTreeMap, mem, sync::Arc};

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
    pub(super) questions: Vec<(Sequence, Option<QuestionRow>)>,
    pub(super) snapshot: Option<Snapshot>,
    /// The records that change with it, or it does not happen.
    pub(super) swaps: Vec<Swap>,
    pub(super) waits: Waits,
    pub(super) waiting: Waiting,
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

/// The items of one trace in one commit, in order.
pub(super) struct Group {
    pub(super) trace: TraceId,
    expected: Option<Position>,
    entries: Vec<Entry>,
    head: Head,
    signed: Option<Signed<Head>>,
    phase: Option<Phase>,
    questions: BTreeMap<Sequence, Option<QuestionRow>>,
    snapshot: Option<Snapshot>,
    swaps: Vec<Swap>,
    pub(super) waiting: Vec<Waiting>,
}

impl Group {
    /// Returns the group of one item.
    pub(super) fn new(item: Item) -> Self {
        let Item { trace, expected, entries, head, signed, phase, snapshot, swaps, .. } = item;
        let (questions, waiting) = (item.questions.into_iter().collect(), vec![item.waiting]);
        Self { trace, expected, entries, head, signed, phase, questions, snapshot, swaps, waiting }
    }

    /// Returns whether an item can be part of it: of the same trace, and both ask for the same absences, if for any. What
    /// changes records stands alone, so that nobody else is refused for a record.
    pub(super) fn takes(&self, item: &Item) -> bool {
        let same = self.trace == item.trace && self.swaps == item.swaps;
        same && item.swaps.iter().all(Swap::is_absence)
    }

    /// Adds the next item of the same trace. If it was not chained to the one before, the store refuses the whole
    /// group, and everybody in it decides again.
    pub(super) fn add(&mut self, item: Item) {
        self.entries.extend(item.entries);
        self.head = item.head;
        self.signed = item.signed;
        self.phase = item.phase;
        self.questions.extend(item.questions);
        self.snapshot = item.snapshot.or(self.snapshot.take());
        self.waiting.push(item.waiting);
    }

    /// Returns what is to be written, its head signed by `sign` where its decider left that to the commit, because
    /// somebody was already behind it.
    pub(super) fn write(
        &mut self,
        writer: LeaseId,
        sign: impl FnOnce(Head, Option<&Registry>) -> Result<Signed<Head>, SequencerError>,
    ) -> Result<Write, SequencerError> {
        let head = if let Some(signed) = self.signed.take() {
            signed
        } else {
            let after = self.waiting.last().and_then(|waiting| waiting.registry.as_deref());
            sign(self.head.clone(), after)?
        };
        let append = Append {
            trace: self.trace,
            expected: self.expected,
            entries: mem::take(&mut self.entries),
            head,
            phase: self.phase,
            questions: mem::take(&mut self.questions).into_iter().collect(),
            snapshot: self.snapshot.take(),
        };
        Ok(Write { writer, append: Some(append), swaps: mem::take(&mut self.swaps) })
    }
}
