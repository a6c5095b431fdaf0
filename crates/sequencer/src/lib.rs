//! The sequencer: a store, the desk's key, and the queues through which commands become events
//! (`docs/design/003-engine-and-store.md`). Decisions are the engine's; keeping them is the store's; here is the
//! way between: check, decide against the pending state, sign the head, commit together, acknowledge.

mod at_hand;
mod commit;
mod decide;
mod error;
mod export;
mod figures;
mod follow;
mod inclusion;
mod key;
mod load;
mod perform;
mod queue;
mod react;
mod read;
mod reason;
mod registry;
mod series;
mod system;
mod underway;
mod words;
mod write;

use std::sync::{Arc, Mutex};

use demur_core::{hash::sha256, key::SecretKey, limit::Text, time::Timestamp};
use demur_engine::{
    command::{Command, Consequences, Saying},
    state::State,
};
use demur_ledger::{
    author::Artifact,
    content::{ErasureContent, ReasonContent},
    desk::Desk,
    entry::Entry,
    event_type::Content,
    facts::{Attribution, ContentErased, Door, Root},
    name::{Position, PrincipalId, Sequence, TraceId},
    registry::Registry,
    role::Role,
    signed::{Head, Receipt, Signed},
    statement::{Submission, statement_hash},
};
use demur_store::contract::{Append, Conflict, Failure, LeaseId, Store, Swap, Write, WriteOutcome};

pub use at_hand::AtHand;
pub use commit::CommitLeader;
pub use error::SequencerError;
pub use export::ExportProgress;
pub use figures::Figures;
pub use follow::Followed;
pub use inclusion::{RootMismatch, RootTrees, root_at};
pub use read::{read_event, read_performed};
pub use series::{Decided, Series};
pub use system::System;
pub use underway::{Progress, Underway};
pub use write::{Changes, Listener};

use self::{
    commit::{Ending, lock},
    system::Draw,
    write::Item,
};

/// A store in use by a desk.
pub struct Sequencer {
    store: Arc<dyn Store>,
    find_key: FindKey,
    /// Registry events take turns from reading the registry to being recorded.
    registry_turn: Mutex<()>,
    /// What was read and verified of the registry.
    registry_state: Mutex<Option<State>>,
    at_hand: Arc<AtHand>,
    listeners: Vec<Arc<dyn Listener>>,
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
        let entry = Entry { event: first.event, opening: first.opening, artifact: None, meaning: None };
        let append = Append {
            trace: desk.registry_chain().trace(),
            expected: None,
            entries: vec![entry],
            head: head.ok_or(SequencerError::NotCreated)?,
            phase: None,
            questions: Vec::new(),
            confirmations: Vec::new(),
            snapshot: None,
        };
        let writer = begin_lease(&*store)?;
        let committed = store.commit(&[Write::of_events(writer, append)]);
        // However that ended, nobody writes under this lease any more.
        let ended = store.end_lease(writer);
        let outcomes = committed.map_err(SequencerError::from)?;
        ended.map_err(SequencerError::from)?;
        match outcomes.first() {
            Some(WriteOutcome::Done) => Ok(Self::open(store, move |_| Some(key.clone()), system)?),
            // Another process was faster.
            Some(WriteOutcome::Refused(Conflict::Head | Conflict::Registry)) => {
                Err(SequencerError::Created.into())
            }
            Some(WriteOutcome::Refused(Conflict::Lease)) => Err(SequencerError::LeaseLost.into()),
            Some(WriteOutcome::Refused(
                Conflict::Command | Conflict::Artifact | Conflict::Record | Conflict::Post,
            ))
            | None => Err(SequencerError::NotCreated.into()),
        }
    }

    /// Returns the sequencer of a store that has a registry. `find_key` returns the desk's secret key, now and whenever the
    /// registry has changed elsewhere.
    pub fn open(
        store: Arc<dyn Store>,
        find_key: impl Fn(&Registry) -> Option<SecretKey> + Send + Sync + 'static,
        system: Box<dyn System>,
    ) -> Result<Self, SequencerError> {
        let sequencer = Self::with(store, Box::new(find_key), system, begin_lease)?;
        match sequencer.note_restoration() {
            Ok(()) => Ok(sequencer),
            Err(error) => {
                // Nobody uses what was not opened. Where this fails too, the lease ends by itself.
                let _ = sequencer.close();
                Err(error)
            }
        }
    }

    /// Returns the sequencer of a store for reading and exporting only: nothing is noted, whoever owns the store. What
    /// it is asked to record may be refused by the store.
    pub fn read(
        store: Arc<dyn Store>,
        find_key: impl Fn(&Registry) -> Option<SecretKey> + Send + Sync + 'static,
        system: Box<dyn System>,
    ) -> Result<Self, SequencerError> {
        Self::with(store, Box::new(find_key), system, |_| Ok(LeaseId::NONE))
    }

    fn with(
        store: Arc<dyn Store>,
        find_key: FindKey,
        system: Box<dyn System>,
        begin: impl FnOnce(&dyn Store) -> Result<LeaseId, SequencerError>,
    ) -> Result<Self, SequencerError> {
        let state = load::load_registry(&*store, None)?.state;
        let registry = registry_in(&state)?;
        let desk = find_key(&registry).ok_or(SequencerError::NoDeskKey)?;
        let at = registry.head().sequence;
        registry.desk_key(&desk.public().fingerprint(), at).map_err(|_| SequencerError::NoDeskKey)?;
        let lease = begin(&*store)?;
        let at_hand = Arc::new(AtHand::new(desk, registry, lease, system));
        let (registry_turn, registry_state) = (Mutex::default(), Mutex::new(Some(state)));
        Ok(Self { store, find_key, registry_turn, registry_state, at_hand, listeners: Vec::new() })
    }

    /// Ends the use in good order, so that the next one does not take it for a crash.
    pub fn close(self) -> Result<Arc<dyn Store>, SequencerError> {
        self.store.end_lease(self.at_hand.lease)?;
        Ok(self.store)
    }

    /// Says that this process still lives, and returns the time of the store. In a store that is shared, whoever does not say
    /// so in time loses the right to write.
    pub fn renew_lease(&self) -> Result<Timestamp, SequencerError> {
        Ok(self.store.renew_lease(self.at_hand.lease)?)
    }

    /// Returns what this use of the store writes under.
    pub fn lease(&self) -> LeaseId {
        self.at_hand.lease
    }

    /// Changes records without an event, all of them or none. They stand in line with everybody's events and share their commit, so
    /// a [`Listener`] must not call this.
    pub fn swap(&self, swaps: Vec<Swap>) -> Result<(), SequencerError> {
        self.change(Changes { swaps, ..Changes::default() })
    }

    /// Changes records and posts messages without an event, as [`Self::swap`] does. [`SequencerError::RecordChanged`] also where a
    /// stream has a post of the same name.
    pub fn change(&self, changes: Changes) -> Result<(), SequencerError> {
        let slot = Arc::default();
        let leader = self.at_hand.commits.put(Item::of_changes(changes, &slot));
        match self.at_hand.commits.wait(&slot, leader, &|items| self.write(items)) {
            Ending::Done => Ok(()),
            Ending::Conflict(Conflict::Lease) => Err(SequencerError::LeaseLost),
            Ending::Conflict(
                Conflict::Record
                | Conflict::Post
                | Conflict::Head
                | Conflict::Command
                | Conflict::Registry
                | Conflict::Artifact,
            ) => Err(SequencerError::RecordChanged),
            Ending::Failed(error) => Err(SequencerError::Commit(error)),
            Ending::Uncertain => Err(SequencerError::Uncertain),
        }
    }

    /// Returns the store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the store, for another reader of it.
    pub fn shared_store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Returns what is in memory, for whoever must not wait for the store.
    pub const fn at_hand(&self) -> &Arc<AtHand> {
        &self.at_hand
    }

    /// Returns the registry as recorded.
    pub fn registry(&self) -> Arc<Registry> {
        self.at_hand.registry()
    }

    /// Returns what was done since the sequencer was opened.
    pub fn figures(&self) -> Figures {
        self.at_hand.figures()
    }

    /// Records what an author said. When this returns, it is on the disk.
    pub fn submit(
        &self,
        submission: Submission,
        artifact: Option<&Artifact>,
    ) -> Result<Acknowledged, SequencerError> {
        self.submit_with(submission, artifact, &[])
    }

    /// Records what an author said together with changes of records, as [`Self::perform_with`] does.
    pub fn submit_with(
        &self,
        submission: Submission,
        artifact: Option<&Artifact>,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        self.submit_followed(submission, artifact, Consequences::default(), swaps)
    }

    /// Records what an author said, and in the same commit what the desk adds to it.
    pub fn submit_followed(
        &self,
        submission: Submission,
        artifact: Option<&Artifact>,
        rest: Consequences,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        let said = self.check(submission)?;
        let trace = said.statement().trace;
        let command = self.submission(said, artifact, rest)?;
        let of_the_registry = trace == self.registry().trace();
        let _turn = of_the_registry.then(|| lock(&self.registry_turn));
        if of_the_registry {
            self.pay_owed()?;
        }
        self.perform_with(trace, &command, swaps)
    }

    /// Records what the desk says itself, or what a person did, in a trace that is there, and what follows from it.
    pub fn record(
        &self,
        trace: TraceId,
        first: Saying,
        rest: Consequences,
    ) -> Result<Acknowledged, SequencerError> {
        self.record_with(trace, first, rest, &[])
    }

    /// Records what the desk says itself together with changes of records, as [`Self::perform_with`] does.
    pub fn record_with(
        &self,
        trace: TraceId,
        first: Saying,
        rest: Consequences,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        self.newest(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
        self.perform_with(trace, &Command::record(first, rest), swaps)
    }

    /// Returns the newest event of a trace; one that is not at hand is read.
    pub fn newest(&self, trace: TraceId) -> Result<Option<Position>, SequencerError> {
        match self.at_hand.head(trace) {
            Some(head) => Ok(Some(head)),
            None => Ok(self.store.trace(trace)?.map(|summary| summary.head)),
        }
    }

    /// Checks the desk's stored signature on the newest event of a trace, which an export does not show: it has a
    /// newer one.
    pub fn check_head(&self, trace: TraceId) -> Result<(), SequencerError> {
        load::check_newest(&*self.store, trace, self.keys(&|| self.refresh()))
    }

    /// Returns the state of a trace as recorded, to be looked at.
    pub fn look(&self, trace: TraceId) -> Result<State, SequencerError> {
        Ok(load::load(&*self.store, trace, None, &self.keys(&|| self.refresh()))?.state)
    }

    /// Marks a trace as failed, so that nothing is added to it any more (LED-18).
    pub fn mark_failed(&self, trace: TraceId, failure: &Failure) -> Result<(), SequencerError> {
        self.store.mark_failed(trace, failure)?;
        self.at_hand.queues.of(trace).void();
        Ok(())
    }

    /// Ends a run on the word of the operator, who is the user of this machine.
    pub fn abort(&self, trace: TraceId, reason: Text<1, 16384>) -> Result<Acknowledged, SequencerError> {
        self.abort_with(trace, Attribution::new(Door::Socket, Root::SameUser), reason, &[])
    }

    /// Ends a run on the operator's word together with changes of records, as [`Self::perform_with`] does.
    pub fn abort_with(
        &self,
        trace: TraceId,
        way: Attribution,
        reason: Text<1, 16384>,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        self.store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
        self.perform_with(trace, &Command::Abort(Box::new(way), ReasonContent { reason }), swaps)
    }

    /// Records that the words of an event are erased, and erases them. When this returns, no file of the store holds them.
    /// [`SequencerError::ErasureUnfinished`] says that they are erased, and that something may be left of them in a file.
    pub fn erase(
        &self,
        trace: TraceId,
        event: Sequence,
        why: Text<1, 4096>,
    ) -> Result<Acknowledged, SequencerError> {
        let first = Saying {
            role: Role::Desk,
            facts: ContentErased { event }.into(),
            content: Some(Content::ContentErased(ErasureContent { why })),
        };
        let acknowledged = {
            let of_the_registry = trace == self.registry().trace();
            let _turn = of_the_registry.then(|| lock(&self.registry_turn));
            self.record(trace, first, Consequences::default())?
        };
        self.scrub()?;
        Ok(acknowledged)
    }

    /// Removes what erased words have left behind in files.
    pub fn scrub(&self) -> Result<(), SequencerError> {
        self.store.scrub().map_err(|error| SequencerError::ErasureUnfinished(Arc::new(error)))
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
        Ok(Some(self.at_hand.sign(document, &registry, at)?))
    }
}

/// Begins a lease of a process that goes by no rules of its own.
fn begin_lease(store: &dyn Store) -> Result<LeaseId, SequencerError> {
    Ok(store.begin_lease(sha256(b""))?.id)
}

/// Returns the registry of a store, once all of it holds. No key is needed.
pub fn registry(store: &dyn Store) -> Result<Registry, SequencerError> {
    registry_in(&load::load_registry(store, None)?.state)
}

fn registry_in(state: &State) -> Result<Registry, SequencerError> {
    // A registry without its first event is no empty store.
    let damaged = SequencerError::Damaged {
        trace: state.tip().trace(),
        sequence: Sequence::FIRST,
        code: "CHAIN_BREAK",
    };
    state.registry().cloned().ok_or(damaged)
}

fn head_document(head: Position, registry: &Registry, trace: TraceId) -> Head {
    let newest = registry.head();
    let epoch = registry.epoch_at(newest.sequence);
    Head { epoch, head, registry: newest, store: registry.store(), trace }
}
