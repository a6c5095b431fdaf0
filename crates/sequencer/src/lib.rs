//! The sequencer: a store, the desk's key, and the queues through which commands become events
//! (`docs/design/003-engine-and-store.md`). Decisions are the engine's; keeping them is the store's; here is the
//! way between: check, decide against the pending state, sign the head, commit together, acknowledge.

mod attempt;
mod commit;
mod error;
mod export;
mod figures;
mod inclusion;
mod item;
mod key;
mod load;
mod queue;
mod react;
mod read;
mod reason;
mod registry;
mod series;
mod session;
mod system;
mod underway;
mod write;

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use demur_core::{
    hash::sha256,
    key::{Fingerprint, SecretKey},
    limit::Text,
    time::Timestamp,
};
use demur_engine::{
    Decision, Reply,
    command::{self, Command, Consequences, Submitted, Told},
    context::Context,
    decide, snapshot,
    state::State,
};
use demur_ledger::{
    author::Artifact,
    content::{QuestionContent, ReasonContent},
    desk::Desk,
    entry::Entry,
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    registry::Registry,
    signed::{Head, Receipt, Signed},
    statement::{Fresh, Submission, statement_hash},
};
use demur_store::contract::{
    Append, Conflict, Failure, Kept, LeaseId, Outcome, Snapshot, Store, StoreError, Swap, touched_questions,
};

pub use commit::CommitLeader;
pub use error::SequencerError;
pub use export::ExportProgress;
pub use figures::Figures;
pub use read::{read_event, read_performed};
pub use series::{Decided, Series};
pub use system::System;
pub use underway::{Progress, Underway};
pub use write::Listener;

use self::{
    attempt::{Attempt, EarlierEvent, Past, Step, command_id},
    commit::{Commits, Ending, Slot, lock},
    figures::Counters,
    item::{Item, Waiting, Waits},
    load::Keys,
    queue::{Known, Pending, Queue, Queues},
    session::Session,
    system::Draw,
};

/// A store in use by its one desk.
pub struct Sequencer {
    store: Arc<dyn Store>,
    desk: RwLock<SecretKey>,
    find_key: FindKey,
    /// The registry as recorded; what is decided pins its newest event.
    registry: RwLock<Arc<Registry>>,
    queues: Queues,
    commits: Arc<Commits>,
    /// Commands that are decided but not recorded yet.
    in_flight: Mutex<BTreeMap<(Fingerprint, CommandId), Arc<Slot>>>,
    /// Registry events take turns from reading the registry to being recorded.
    registry_turn: Mutex<()>,
    session: Session,
    /// What this use of the store writes under.
    lease: LeaseId,
    system: Box<dyn System>,
    listeners: Vec<Arc<dyn Listener>>,
    counters: Counters,
}

/// Finds the secret key that the desk of a registry signs with now.
pub type FindKey = Box<dyn Fn(&Registry) -> Option<SecretKey> + Send + Sync>;

/// A command that is recorded and durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The trace of its event.
    pub trace: TraceId,
    /// The event.
    pub position: Position,
    /// Whether it had been recorded before and nothing was recorded now.
    pub repeated: bool,
}

impl Sequencer {
    /// Returns the sequencer of an empty store, whose registry begins now.
    pub fn create(
        store: Arc<dyn Store>,
        key: SecretKey,
        name: &str,
        system: Box<dyn System>,
    ) -> Result<Self, SequencerError> {
        Self::create_keeping(store, key, name, system, |_| Ok(()))
    }

    /// Returns the sequencer of an empty store, whose registry begins once `keep` has kept the desk's key under its
    /// principal: a registry that nobody can sign for must never be recorded.
    pub fn create_keeping<E: From<SequencerError>>(
        store: Arc<dyn Store>,
        key: SecretKey,
        name: &str,
        system: Box<dyn System>,
        keep: impl FnOnce(PrincipalId) -> Result<(), E>,
    ) -> Result<Self, E> {
        if store.registry().map_err(SequencerError::from)?.is_some() {
            return Err(SequencerError::Created.into());
        }
        let (desk, first) = Desk::create(key.clone(), None, name, system.now(), &mut Draw(&*system))
            .map_err(SequencerError::from)?;
        keep(desk.registry().desk())?;
        let head = desk.head(desk.registry_chain()).map_err(SequencerError::from)?;
        let entry = Entry { event: first.event, opening: first.opening, artifact: None };
        let append = Append {
            trace: desk.registry_chain().trace(),
            expected: None,
            entries: vec![entry],
            head: head.ok_or(SequencerError::NotCreated)?,
            phase: None,
            questions: Vec::new(),
            snapshot: None,
            writer: begin_lease(&*store)?,
        };
        let writer = append.writer;
        let outcomes = store.commit(&[append.into()]).map_err(SequencerError::from)?;
        store.end_lease(writer).map_err(SequencerError::from)?;
        match outcomes.first() {
            Some(Outcome::Done) => Ok(Self::open(store, move |_| Some(key.clone()), system)?),
            _ => Err(SequencerError::Created.into()),
        }
    }

    /// Returns the sequencer of a store that has a registry. `find_key` returns the desk's secret key, now and whenever the
    /// registry has changed elsewhere.
    pub fn open(
        store: Arc<dyn Store>,
        find_key: impl Fn(&Registry) -> Option<SecretKey> + Send + Sync + 'static,
        system: Box<dyn System>,
    ) -> Result<Self, SequencerError> {
        let ledger = Self::with(store, Box::new(find_key), system, |store, now| {
            Ok((Session::begin(store, now)?, begin_lease(store)?))
        })?;
        ledger.note_restoration()?;
        Ok(ledger)
    }

    /// Returns the sequencer of a store for reading and exporting only: nothing is noted, whoever owns the store. What
    /// it is asked to record may be refused by the store.
    pub fn read(
        store: Arc<dyn Store>,
        find_key: impl Fn(&Registry) -> Option<SecretKey> + Send + Sync + 'static,
        system: Box<dyn System>,
    ) -> Result<Self, SequencerError> {
        Self::with(store, Box::new(find_key), system, |_, _| Ok((Session::default(), LeaseId::NONE)))
    }

    fn with(
        store: Arc<dyn Store>,
        find_key: FindKey,
        system: Box<dyn System>,
        begin: impl FnOnce(&dyn Store, Timestamp) -> Result<(Session, LeaseId), SequencerError>,
    ) -> Result<Self, SequencerError> {
        let registry = registry(&*store)?;
        let desk = find_key(&registry).ok_or(SequencerError::NoDeskKey)?;
        let at = registry.head().sequence;
        registry.desk_key(&desk.public().fingerprint(), at).map_err(|_| SequencerError::NoDeskKey)?;
        let (session, lease) = begin(&*store, system.now())?;
        Ok(Self {
            store,
            desk: RwLock::new(desk),
            find_key,
            registry: RwLock::new(Arc::new(registry)),
            queues: Queues::default(),
            commits: Arc::default(),
            in_flight: Mutex::default(),
            registry_turn: Mutex::default(),
            session,
            lease,
            system,
            listeners: Vec::new(),
            counters: Counters::default(),
        })
    }

    /// Ends the use in good order, so that the next one does not take it for a crash.
    pub fn close(self) -> Result<Arc<dyn Store>, SequencerError> {
        self.session.end(&*self.store)?;
        self.store.end_lease(self.lease)?;
        Ok(self.store)
    }

    /// Returns the store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the registry as recorded.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns what was done since the sequencer was opened.
    pub fn figures(&self) -> Figures {
        self.counters.read()
    }

    /// Records what an author said. When this returns, it is on the disk.
    pub fn submit(
        &self,
        submission: Submission,
        artifact: Option<&Artifact>,
    ) -> Result<Acknowledged, SequencerError> {
        let submitted = self.check(submission, artifact)?;
        if let (Some(_), Some(artifact)) = (submitted.artifact(), artifact) {
            self.store.put_artifact(&artifact.bytes)?;
        }
        let trace = submitted.checked().statement().trace;
        let of_the_registry = trace == self.registry().trace();
        let _turn = of_the_registry.then(|| lock(&self.registry_turn));
        self.perform(trace, &Command::Submit(Box::new(submitted)))
    }

    /// Records what the desk says itself, or what a person did.
    pub fn record(&self, trace: TraceId, told: Told) -> Result<Acknowledged, SequencerError> {
        self.perform(trace, &self.told(trace, told)?)
    }

    /// Returns the command that records what an author in this process said, with what the desk adds in the same commit.
    pub fn spoken(&self, fresh: Fresh, consequences: Consequences) -> Result<Command, SequencerError> {
        let submitted = Submitted::fresh(fresh, &self.registry());
        let submitted = submitted.inspect_err(|_| self.counters.count_refusal())?;
        Ok(Command::Submit(Box::new(submitted.with_consequences(consequences))))
    }

    /// Returns the command that records what the desk says itself, or what a person did.
    pub fn told(&self, trace: TraceId, told: Told) -> Result<Command, SequencerError> {
        self.store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
        Ok(Command::Record(Box::new(told)))
    }

    /// Checks the desk's stored signature on the newest event of a trace, which an export does not show: it has a
    /// newer one.
    pub fn check_head(&self, trace: TraceId) -> Result<(), SequencerError> {
        load::check_newest(&*self.store, trace, self.keys(&|| self.refresh()))
    }

    /// Returns the state of a trace as recorded, to be looked at.
    pub fn look(&self, trace: TraceId) -> Result<State, SequencerError> {
        load::load(&*self.store, trace, self.keys(&|| self.refresh()))
    }

    /// Marks a trace as failed, so that nothing is added to it any more (LED-18).
    pub fn mark_failed(&self, trace: TraceId, failure: &Failure) -> Result<(), SequencerError> {
        self.store.mark_failed(trace, failure)?;
        self.queues.of(trace).void();
        Ok(())
    }

    /// Ends a run on the operator's word.
    pub fn abort(&self, trace: TraceId, reason: Text<1, 16384>) -> Result<Acknowledged, SequencerError> {
        self.store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
        self.perform(trace, &Command::Abort(ReasonContent { reason }))
    }

    /// Returns the receipt of a recorded statement; none for what the desk itself recorded.
    pub fn receipt(&self, trace: TraceId, at: Sequence) -> Result<Option<Signed<Receipt>>, SequencerError> {
        let stored = self.store.events(trace, at, 1)?.pop().ok_or(SequencerError::TraceUnknown { trace })?;
        let event = read_event(trace, at, &stored)?;
        let Some(statement) = event.statement_bytes() else { return Ok(None) };
        let registry = self.registry();
        let document = Receipt {
            epoch: event.envelope().epoch,
            event: event.position(),
            registry: registry.head(),
            statement: statement_hash(statement),
            store: registry.store(),
            time: event.envelope().time,
            trace,
        };
        let at = document.registry.sequence;
        Ok(Some(self.sign(document, &registry, at)?))
    }

    /// Returns a submission once its signature holds.
    fn check(
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
    fn earlier(&self, command: &Command) -> Result<Option<EarlierEvent>, SequencerError> {
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
    fn settle<R>(&self, trace: TraceId, command: &Command, step: Step<R>) -> Result<Attempt, SequencerError> {
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
    fn recover(&self, trace: TraceId) -> Result<(), SequencerError> {
        self.attempt(trace, &Command::Recover(session::note()), &Past::Unknown, &[]).map(|_| ())
    }

    /// Decides, and puts what was decided in line while nobody else decides in this trace. Whoever waits for its own commit
    /// can be waited for by others; whoever has no thread waits for nothing here.
    fn enqueue<R>(
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
        let pending = turn.pending(|| self.load(trace))?;
        if mem::take(&mut pending.interrupted) {
            return Ok(Step::Interrupted);
        }
        if let Some(slot) = id.and_then(|id| lock(&self.in_flight).get(&id).cloned()) {
            return Ok(Step::InFlight(slot));
        }
        let registry = self.registry();
        let seen = self.seen(pending, command)?;
        let question = self.question(trace, command)?;
        let context = Context { registry: &registry, seen, question, earlier: past.earlier() };
        let now = self.system.now();
        let Decision { events, reply } =
            decide(&pending.state, &context, command.clone(), now, &mut Draw(&*self.system));
        // A retry of something recorded is refused for many reasons before anybody knows that it is one.
        if matches!((&reply, past, id), (Reply::Refused(_), Past::Unknown, Some(_))) {
            return Ok(Step::Over(Attempt::LookUp));
        }
        if events.is_empty() {
            return Ok(Step::Silent(reply, pending.newest.clone()));
        }
        let Some(mut item) = fold(&queue, pending, events, &registry) else {
            // The trace goes by a newer registry than ours, so another process wrote both.
            drop(turn);
            queue.void();
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
        match put(item, turn.is_followed()) {
            Ok(queued) => {
                turn.pending(|| self.load(trace))?.newest = Some(slot).filter(|_| waits != Waits::Later);
                Ok(Step::Queued(reply, queued))
            }
            Err((item, error)) => {
                // Letting go of the item voids the queue, which this turn still holds.
                drop(turn);
                drop(item);
                Err(error)
            }
        }
    }

    /// Returns the hash at the place a statement has seen.
    fn seen(
        &self,
        pending: &Pending,
        command: &Command,
    ) -> Result<Option<demur_core::hash::Digest>, StoreError> {
        let Command::Submit(submitted) = command else { return Ok(None) };
        let Some(seen) = submitted.checked().statement().seen else { return Ok(None) };
        match pending.hash(seen.sequence) {
            Known::Here(hash) => Ok(Some(hash)),
            Known::Absent => Ok(None),
            Known::Stored => self.store.hash(pending.state.tip().trace(), seen.sequence),
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

    fn keys<'a>(&self, refresh: &'a dyn Fn() -> Result<Arc<Registry>, SequencerError>) -> Keys<'a> {
        Keys { registry: self.registry(), refresh }
    }

    fn load(&self, trace: TraceId) -> Result<Pending, SequencerError> {
        if trace == self.registry().trace() {
            return Ok(Pending::new(load::load_registry(&*self.store)?, false));
        }
        let state = self.look(trace)?;
        let open = state.phase().is_some_and(|phase| !phase.is_final());
        let interrupted = open && self.session.was_interrupted(state.tip().time());
        Ok(Pending::new(state, interrupted))
    }
}

/// Begins a lease of a process that goes by no rules of its own.
fn begin_lease(store: &dyn Store) -> Result<LeaseId, SequencerError> {
    Ok(store.begin_lease(sha256(b""))?.id)
}

/// Returns the registry of a store, once all of it holds. No key is needed.
pub fn registry(store: &dyn Store) -> Result<Registry, SequencerError> {
    let state = load::load_registry(store)?;
    // A registry without its first event is no empty store.
    let damaged = SequencerError::Damaged {
        trace: state.tip().trace(),
        sequence: Sequence::FIRST,
        code: "CHAIN_BREAK",
    };
    state.registry().cloned().ok_or(damaged)
}

/// Folds decided events into the pending state and returns what is to be recorded; none if they do not follow,
/// because they were decided by an older registry than the trace has gone by already.
fn fold(queue: &Arc<Queue>, pending: &mut Pending, entries: Vec<Entry>, registry: &Registry) -> Option<Item> {
    let (trace, expected) = (pending.state.tip().trace(), pending.state.tip().head());
    for entry in &entries {
        pending.state.apply(&entry.event).ok()?;
        pending.remember(*entry.event.hash());
    }
    let after = pending.state.registry().map(|registry| Arc::new(registry.clone()));
    let head = pending.state.tip().head()?;
    let due = is_due(expected.map_or(0, |head| head.sequence.number()), head.sequence.number());
    let snapshot = if due { snapshot::to_bytes(&pending.state) } else { None };
    let questions = pending.state.questions().map(|questions| touched_questions(&entries, questions));
    Some(Item {
        trace,
        expected,
        entries,
        head: head_document(head, after.as_deref().unwrap_or(registry), trace),
        signed: None,
        phase: pending.state.phase(),
        questions: questions.unwrap_or_default(),
        snapshot: snapshot.map(|bytes| Snapshot { head, version: snapshot::VERSION, bytes }),
        swaps: Vec::new(),
        waits: Waits::OnAThread,
        waiting: Waiting { queue: Arc::clone(queue), registry: after, command: None, slot: Arc::default() },
    })
}

fn head_document(head: Position, registry: &Registry, trace: TraceId) -> Head {
    let newest = registry.head();
    let epoch = registry.epoch_at(newest.sequence);
    Head { epoch, head, registry: newest, store: registry.store(), trace }
}

/// Returns whether a command begins a trace, so that nothing of it has to be read.
fn opens(command: &Command) -> bool {
    matches!(command, Command::Submit(submitted) if submitted.checked().statement().seen.is_none())
}

/// Whether a snapshot is due between two places of a trace.
const fn is_due(before: u64, after: u64) -> bool {
    before / SNAPSHOT_EVERY != after / SNAPSHOT_EVERY
}

/// How often somebody else may come first before a caller is told to try later.
const ATTEMPTS: usize = 64;

/// How many events of a trace lie between two snapshots: reading so many is a small part of a restart.
const SNAPSHOT_EVERY: u64 = 4096;
