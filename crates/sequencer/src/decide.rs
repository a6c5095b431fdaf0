//! From a command to its place in line, without a look at the store: decided against the pending state, folded into it, put.

use std::sync::Arc;

use demur_core::hash::Digest;
use demur_engine::{Decision, Reply, command::Command, context::Context, decide, snapshot};
use demur_ledger::{content::QuestionContent, entry::Entry, name::TraceId, registry::Registry};
use demur_store::contract::{Snapshot, Swap, touched_questions};

use super::{
    SequencerError,
    at_hand::AtHand,
    attempt::{Attempt, Past, Step, command_id},
    commit::{CommitLeader, Slot, lock},
    head_document,
    item::{Item, Waiting, Waits},
    queue::{Known, Queue, States},
    system::Draw,
};

/// What somebody wants recorded.
pub(super) struct Wanted<'a> {
    pub(super) trace: TraceId,
    pub(super) command: &'a Command,
    /// What is known of what it became before.
    pub(super) past: &'a Past,
    /// The records that change with it.
    pub(super) swaps: &'a [Swap],
    pub(super) waits: Waits,
}

/// What a decision needs besides the state.
pub(super) struct LookedUp {
    /// The hash at the place that a statement has seen.
    pub(super) seen: Option<Digest>,
    /// The words of the question that is answered.
    pub(super) question: Option<Box<QuestionContent>>,
}

impl AtHand {
    /// Returns what the decision of a command needs, if nobody has to ask the store for it.
    pub(super) fn look_up(&self, states: &States, wanted: &Wanted<'_>) -> Option<LookedUp> {
        let seen = match seen(states, wanted.command) {
            Known::Here(hash) => Some(hash),
            Known::Absent => None,
            Known::Stored => return None,
        };
        let question = match wanted.command.answered() {
            Some(at) => Some(self.words.find(wanted.trace, at)?),
            None => None,
        };
        Some(LookedUp { seen, question })
    }

    /// Decides, and has what was decided put in line. The caller has its turn in the queue.
    pub(super) fn decide<R>(
        &self,
        wanted: &Wanted<'_>,
        queue: &Arc<Queue>,
        states: &mut States,
        looked_up: LookedUp,
        put: impl FnOnce(Item, bool) -> Result<R, SequencerError>,
    ) -> Result<Step<R>, SequencerError> {
        let Wanted { command, past, swaps, waits, .. } = *wanted;
        let id = command_id(command);
        if let Some(slot) = id.and_then(|id| lock(&self.in_flight).get(&id).cloned()) {
            return Ok(Step::InFlight(slot));
        }
        let registry = self.registry();
        let LookedUp { seen, question } = looked_up;
        let context = Context { registry: &registry, seen, question, earlier: past.earlier() };
        let now = self.system.now();
        let Decision { events, reply } =
            decide(&states.pending, &context, command.clone(), now, &mut Draw(&*self.system));
        // A retry of something recorded is refused for many reasons before anybody knows that it is one.
        if matches!((&reply, past, id), (Reply::Refused(_), Past::Unknown, Some(_))) {
            return Ok(Step::Over(Attempt::LookUp));
        }
        if events.is_empty() {
            return Ok(Step::Silent(reply, states.newest.clone()));
        }
        let Some(mut item) = fold(queue, states, events, &registry) else {
            queue.void();
            return Ok(Step::Behind);
        };
        item.waits = waits;
        let is_recorded = matches!(reply, Reply::Recorded(_));
        if is_recorded {
            item.waiting.command = id;
        }
        item.swaps = swaps.iter().filter(|swap| is_recorded || swap.is_absence()).cloned().collect();
        if let Some(id) = item.waiting.command {
            lock(&self.in_flight).insert(id, Arc::clone(&item.waiting.slot));
        }
        states.newest = Some(Arc::clone(&item.waiting.slot)).filter(|_| waits != Waits::Later);
        Ok(Step::Queued(reply, put(item, queue.is_followed())?))
    }

    /// Puts an item in line, its head signed unless somebody is behind it already. One that cannot be signed is let go, which
    /// voids its queue.
    pub(super) fn put(
        &self,
        mut item: Item,
        is_followed: bool,
    ) -> Result<(Arc<Slot>, Option<CommitLeader>), SequencerError> {
        if !is_followed {
            item.signed = Some(self.sign_head(item.head.clone(), item.waiting.registry.as_deref())?);
        }
        let slot = Arc::clone(&item.waiting.slot);
        Ok((slot, self.commits.put(item)))
    }
}

/// Returns what is known of the event at the place that a statement has seen.
pub(super) fn seen(states: &States, command: &Command) -> Known {
    let Command::Submit(submitted) = command else { return Known::Absent };
    submitted.checked().statement().seen.map_or(Known::Absent, |seen| states.hash(seen.sequence))
}

/// Folds decided events into the pending state and returns what is to be recorded; none if they do not follow,
/// because they were decided by an older registry than the trace has gone by already.
fn fold(queue: &Arc<Queue>, states: &mut States, entries: Vec<Entry>, registry: &Registry) -> Option<Item> {
    let (trace, expected) = (states.pending.tip().trace(), states.pending.tip().head());
    for entry in &entries {
        states.pending.apply(&entry.event).ok()?;
        states.remember(*entry.event.hash());
    }
    let pending = &states.pending;
    let after = pending.registry().map(|registry| Arc::new(registry.clone()));
    let head = pending.tip().head()?;
    let due = is_due(expected.map_or(0, |head| head.sequence.number()), head.sequence.number());
    let snapshot = if due { snapshot::to_bytes(pending) } else { None };
    let questions = pending.questions().map(|questions| touched_questions(&entries, questions));
    Some(Item {
        trace,
        expected,
        entries,
        head: head_document(head, after.as_deref().unwrap_or(registry), trace),
        signed: None,
        phase: pending.phase(),
        questions: questions.unwrap_or_default(),
        snapshot: snapshot.map(|bytes| Snapshot { head, version: snapshot::VERSION, bytes }),
        swaps: Vec::new(),
        waits: Waits::OnAThread,
        waiting: Waiting { queue: Arc::clone(queue), registry: after, command: None, slot: Arc::default() },
    })
}

/// Whether a snapshot is due between two places of a trace.
const fn is_due(before: u64, after: u64) -> bool {
    before / SNAPSHOT_EVERY != after / SNAPSHOT_EVERY
}

/// How many events of a trace lie between two snapshots: reading so many is a small part of a restart.
const SNAPSHOT_EVERY: u64 = 4096;
