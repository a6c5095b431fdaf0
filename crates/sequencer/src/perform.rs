//! From a command to its place in the queue of its trace: checked, decided against the pending state, waited for.

use std::sync::Arc;

use demur_core::hash::Digest;
use demur_engine::{
    Decision, Reply,
    command::{self, Command, Submitted},
    context::Context,
    decide, snapshot,
    state::State,
};
use demur_ledger::{
    author::Artifact,
    content::{NoteContent, QuestionContent},
    entry::Entry,
    name::TraceId,
    registry::Registry,
    statement::Submission,
};
use demur_store::contract::{Conflict, Kept, Snapshot, StoreError, Swap, touched_questions};

use super::{
    Acknowledged, Sequencer, SequencerError,
    attempt::{Attempt, EarlierEvent, Past, Step, command_id},
    commit::{Ending, Slot, lock},
    head_document,
    item::{Item, Waiting, Waits},
    load::{self, Keys, Loaded},
    queue::{Known, Queue, States},
    system::Draw,
};

impl Sequencer {
    /// Returns a submission once its signature holds.
    pub(super) fn check(
        &self,
        submission: Submission,
        artifact: Option<&Artifact>,
    ) -> Result<Submitted, SequencerError> {
        // It may have been registered elsewhere.
        if self.registry().public_key(&submission.proof.key).is_none() {
            self.newest_registry()?;
        }
        let submitted = Submitted::new(submission, artifact, &self.registry());
        Ok(submitted.inspect_err(|_| self.counters.count_refusal())?)
    }

    /// Decides until what was decided is recorded, or refused. When this returns, it is on the disk. Commands of the registry
    /// take turns and go through [`Self::submit`].
    pub fn perform(&self, trace: TraceId, command: &Command) -> Result<Acknowledged, SequencerError> {
        self.perform_with(trace, command, &[])
    }

    /// Performs a command that changes records too: they change with its event or not at all, and not with a refusal that is
    /// recorded in its place. A record that is not what it was ends it with [`SequencerError::RecordChanged`].
    pub fn perform_with(
        &self,
        trace: TraceId,
        command: &Command,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        let _in_line = self.counters.stand_in_line();
        let mut past = Past::Unknown;
        for _ in 0..ATTEMPTS {
            match self.attempt(trace, command, &past, swaps)? {
                Attempt::Settled(Reply::Recorded(position)) => {
                    return Ok(Acknowledged { trace, position, repeated: false });
                }
                Attempt::Settled(Reply::Repeated { trace, position }) => {
                    return Ok(Acknowledged { trace, position, repeated: true });
                }
                Attempt::Settled(Reply::Refused(refusal)) => {
                    self.counters.count_refusal();
                    return Err(refusal.into());
                }
                Attempt::Settled(Reply::Moved) => return Err(SequencerError::Moved),
                Attempt::LookUp => past = Past::Known(self.earlier(command)?.map(Box::new)),
                Attempt::Again => {}
            }
        }
        Err(SequencerError::Contended)
    }

    /// Returns what a command became before.
    pub(super) fn earlier(&self, command: &Command) -> Result<Option<EarlierEvent>, SequencerError> {
        let Some((key, command)) = command_id(command) else { return Ok(None) };
        self.store.command(&key, command)?.as_ref().map(EarlierEvent::parse).transpose()
    }

    fn attempt(
        &self,
        trace: TraceId,
        command: &Command,
        past: &Past,
        swaps: &[Swap],
    ) -> Result<Attempt, SequencerError> {
        let put = |mut item: Item, is_followed: bool| {
            if !is_followed {
                match self.sign_head(item.head.clone(), item.waiting.registry.as_deref()) {
                    Ok(signed) => item.signed = Some(signed),
                    Err(error) => return Err((Box::new(item), error)),
                }
            }
            let slot = Arc::clone(&item.waiting.slot);
            Ok((slot, self.commits.put(item)))
        };
        let (reply, (slot, leader)) = match self.enqueue(trace, command, past, swaps, Waits::OnAThread, put) {
            Ok(Step::Queued(reply, queued)) => (reply, queued),
            Ok(step) => return self.settle(trace, command, step),
            // The desk's key changed after this was decided.
            Err(SequencerError::NoDeskKey) if self.has_key() => return Ok(Attempt::Again),
            Err(error) => return Err(error),
        };
        match self.commits.wait(&slot, leader, &|items| self.write(items)) {
            Ending::Done => Ok(Attempt::Settled(reply)),
            Ending::Conflict(Conflict::Registry) => self.refresh().map(|_| Attempt::Again),
            Ending::Conflict(Conflict::Command) => Ok(Attempt::LookUp),
            Ending::Conflict(Conflict::Record) => Err(SequencerError::RecordChanged),
            Ending::Conflict(Conflict::Lease) => Err(SequencerError::LeaseLost),
            Ending::Conflict(Conflict::Head | Conflict::Artifact) => Ok(Attempt::Again),
            Ending::Failed(error) => Err(SequencerError::Commit(error)),
            Ending::Uncertain => Err(SequencerError::Uncertain),
        }
    }

    /// Waits for what a step without a commit of its own depends on.
    pub(super) fn settle<R>(
        &self,
        trace: TraceId,
        command: &Command,
        step: Step<R>,
    ) -> Result<Attempt, SequencerError> {
        match step {
            Step::Queued(reply, _) => Ok(Attempt::Settled(reply)),
            Step::Interrupted => self.recover(trace).map(|()| Attempt::Again),
            Step::InFlight(slot) => {
                self.watch(&slot);
                self.forget(command, &slot);
                Ok(Attempt::LookUp)
            }
            Step::Silent(reply, newest) => match newest.map(|slot| self.watch(&slot)) {
                None | Some(Ending::Done) => Ok(Attempt::Settled(reply)),
                // What it speaks of never got there.
                Some(_) => Ok(Attempt::Again),
            },
            Step::Over(attempt) => Ok(attempt),
        }
    }

    fn watch(&self, slot: &Slot) -> Ending {
        self.commits.watch(slot, &|items| self.write(items))
    }

    /// Forgets a command in flight that has ended: whoever panicked on the way took no leave.
    fn forget(&self, command: &Command, slot: &Arc<Slot>) {
        let mut in_flight = lock(&self.in_flight);
        if let Some(id) = command_id(command)
            && in_flight.get(&id).is_some_and(|now| Arc::ptr_eq(now, slot))
        {
            in_flight.remove(&id);
        }
    }

    /// Records that the desk came back to a trace after a crash.
    pub(super) fn recover(&self, trace: TraceId) -> Result<(), SequencerError> {
        // Unwrap safety: a short text that is not empty.
        let note = RECOVERED.try_into().expect("a short text fits");
        self.attempt(trace, &Command::Recover(NoteContent { note }), &Past::Unknown, &[]).map(|_| ())
    }

    /// Returns whether the newest event of a run was written by a process that crashed, or slept for too long: what it was
    /// about to do then nobody knows (LED-22).
    pub(super) fn is_interrupted(&self, states: &States) -> Result<bool, StoreError> {
        let Some(writer) = states.interrupted_by().filter(|writer| *writer != self.lease) else {
            return Ok(false);
        };
        // A lease that ended in good order is not in the list.
        Ok(self.store.leases()?.iter().any(|lease| lease.id == writer && !lease.lives))
    }

    /// Decides, and puts what was decided in line while nobody else decides in this trace. Whoever waits for its own commit
    /// can be waited for by others; whoever has no thread waits for nothing here.
    pub(super) fn enqueue<R>(
        &self,
        trace: TraceId,
        command: &Command,
        past: &Past,
        swaps: &[Swap],
        waits: Waits,
        put: impl FnOnce(Item, bool) -> Result<R, (Box<Item>, SequencerError)>,
    ) -> Result<Step<R>, SequencerError> {
        let id = command_id(command);
        let queue = self.queues.of(trace);
        let mut turn = match waits {
            Waits::Unattended => match queue.try_enter() {
                Some(turn) if turn.is_ready() || opens(command) => turn,
                _ => return Ok(Step::Over(Attempt::Again)),
            },
            Waits::OnAThread | Waits::Later => queue.enter(),
        };
        let states = turn.states(|known| self.load(trace, known))?;
        match (self.is_interrupted(states)?, command) {
            (true, Command::Recover(_))
            | (false, Command::Submit(_) | Command::Abort(_) | Command::Record(_)) => {}
            (true, _) => return Ok(Step::Interrupted),
            // Somebody else said so.
            (false, Command::Recover(_)) => return Ok(Step::Over(Attempt::Again)),
        }
        if let Some(slot) = id.and_then(|id| lock(&self.in_flight).get(&id).cloned()) {
            return Ok(Step::InFlight(slot));
        }
        let registry = self.registry();
        let seen = self.seen(states, command)?;
        let question = self.question(trace, command)?;
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
        let Some(mut item) = fold(&queue, states, events, &registry) else {
            // The trace goes by a newer registry than ours, so another process wrote both.
            queue.void();
            drop(turn);
            self.refresh()?;
            return Ok(Step::Over(Attempt::Again));
        };
        item.waits = waits;
        if matches!(reply, Reply::Recorded(_)) {
            item.waiting.command = id;
            item.swaps = swaps.to_vec();
        }
        if let Some(id) = item.waiting.command {
            lock(&self.in_flight).insert(id, Arc::clone(&item.waiting.slot));
        }
        let slot = Arc::clone(&item.waiting.slot);
        states.newest = Some(slot).filter(|_| waits != Waits::Later);
        // Letting go of the item voids the queue.
        put(item, turn.is_followed()).map(|queued| Step::Queued(reply, queued)).map_err(|(item, error)| {
            drop(item);
            error
        })
    }

    /// Returns the hash at the place a statement has seen.
    fn seen(&self, states: &States, command: &Command) -> Result<Option<Digest>, StoreError> {
        let Command::Submit(submitted) = command else { return Ok(None) };
        let Some(seen) = submitted.checked().statement().seen else { return Ok(None) };
        match states.hash(seen.sequence) {
            Known::Here(hash) => Ok(Some(hash)),
            Known::Absent => Ok(None),
            Known::Stored => self.store.hash(states.pending.tip().trace(), seen.sequence),
        }
    }

    /// Returns the words of the question that a command answers. Whoever answers has seen it, so it is on the disk.
    fn question(
        &self,
        trace: TraceId,
        command: &Command,
    ) -> Result<Option<Box<QuestionContent>>, StoreError> {
        let Some(at) = command.answered() else { return Ok(None) };
        let stored = self.store.events(trace, at, 1)?.pop();
        Ok(stored.and_then(|stored| match stored.content {
            Kept::Here(opening) => command::question(&opening.bytes),
            Kept::Absent | Kept::Erased => None,
        }))
    }

    pub(super) fn keys<'a>(
        &self,
        refresh: &'a dyn Fn() -> Result<Arc<Registry>, SequencerError>,
    ) -> Keys<'a> {
        Keys { registry: self.registry(), refresh }
    }

    /// Reads a trace, from what is known of it on.
    pub(super) fn load(&self, trace: TraceId, known: Option<State>) -> Result<Loaded, SequencerError> {
        if trace == self.registry().trace() {
            return load::load_registry(&*self.store, known);
        }
        load::load(&*self.store, trace, known, &self.keys(&|| self.refresh()))
    }
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

/// Returns whether a command begins a trace, so that nothing of it has to be read.
fn opens(command: &Command) -> bool {
    matches!(command, Command::Submit(submitted) if submitted.checked().statement().seen.is_none())
}

/// Whether a snapshot is due between two places of a trace.
const fn is_due(before: u64, after: u64) -> bool {
    before / SNAPSHOT_EVERY != after / SNAPSHOT_EVERY
}

/// What the desk remarks when it comes back.
const RECOVERED: &str = "the desk came back after a crash; the trace is whole up to this event";

/// How often somebody else may come first before a caller is told to try later.
pub(super) const ATTEMPTS: usize = 64;

/// How many events of a trace lie between two snapshots: reading so many is a small part of a restart.
const SNAPSHOT_EVERY: u64 = 4096;
