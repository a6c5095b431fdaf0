//! The contract of a store: what every implementation promises, in the words of the engine (`docs/design/003`).
//! The behaviour suite in `tests/it/behaviour.rs` holds each of them to it.
//!
//! A store keeps two classes of data. The **ledger** (events, contents, places of artifacts) only ever grows;
//! nothing in this trait changes or deletes an event. Words beside an event are taken out by the commit of the event that
//! says so (`content_erased`), and by nothing else. What is derived from it (commands, key changes, phases, the
//! lists of questions and confirmations, participants of runs) is written in the same transaction and can be rebuilt from it at will.
//! **Operational** data (records, streams, leases, snapshots, failure flags) is backed up but is no part of the ledger;
//! secrets are not even backed up.

mod check;
mod confirmation;
mod cursor;
mod lease;
mod question;
mod reason;
mod record;
mod stream;

use std::ops::RangeInclusive;

use demur_core::{commitment::Commitment, hash::Digest, key::Fingerprint, time::Timestamp};
use demur_ledger::{
    content::Opening,
    entry::{Address, ArtifactPlace, Entry},
    event_type::TraceKind,
    facts::Participant,
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    newer::Newer,
    question::OutcomeKind,
    signed::{Head, Signed},
    state::Phase,
};

pub use self::{
    check::{StoreProblem, StoreProgress, StoreStep},
    confirmation::{ConfirmationFilter, ConfirmationRow, ConfirmationSummary, touched_confirmations},
    cursor::{Cursor, CursorError},
    lease::{Lease, LeaseId, Leases},
    question::{QuestionFilter, QuestionRow, QuestionSummary, touched_questions},
    record::{KeptRecord, RecordKey, RecordValue, Records, Swap, Version},
    stream::{
        Acknowledgement, ConsumerName, KeptPost, PAGE_BYTES, Post, PostName, StreamName, StreamPosition,
        Streams,
    },
};

pub(crate) use self::stream::MOST_SWEPT;

/// Where events are kept.
///
/// Every method may be called from any thread. Reads see all that was acknowledged before they began and never
/// block a commit. A method that returns an error has changed nothing that a later read would show, except that
/// after [`StoreError::Uncertain`] a commit may have happened as a whole.
pub trait Store: Records + Streams + Leases + Send + Sync {
    /// Writes to any number of traces, records and streams, in one transaction. The only way by which events, records and streams
    /// change.
    ///
    /// **Durable**: when this returns, every accepted write survives the end of the process and the loss of
    /// power. **Atomic**: each write is there as a whole (events, contents, derived rows, snapshot, swaps, posts) or not
    /// at all. **Judged one by one**: the result has one outcome per write, in order; a refused write does not
    /// hinder the others. A write is refused when
    /// - its lease is not alive, whether it appends events or only swaps records;
    /// - a record that it swaps is not what it was;
    /// - a post has the name of another one in its stream;
    /// - the head of its trace is not [`Append::expected`], its events do not follow that and each other, or it
    ///   would open a second registry;
    /// - an event's (author key, command) was used before in this store, also earlier in this call;
    /// - an event was decided under an older registry and its author's key has changed since, or the desk's key
    ///   under the head has; or that registry event is not in this store;
    /// - the bytes of an artifact it names are not in the store.
    ///
    /// **Erasing**: what an event of the write says is gone (`content_erased`) is gone with it: content, salts and places of
    /// artifacts, and every snapshot of the trace. [`Store::scrub`] removes what that leaves in files.
    ///
    /// An error means that nothing was written at all, or with [`StoreError::Uncertain`] that nobody knows.
    fn commit(&self, writes: &[Write]) -> Result<Vec<WriteOutcome>, StoreError>;

    /// Returns whether several processes can have the store open to write.
    fn is_shared(&self) -> bool;

    /// Refuses a store whose files were deleted, moved or replaced since it was opened: what is written to them is found by
    /// nobody. Every write looks for itself.
    fn expect_in_place(&self) -> Result<(), StoreError>;

    /// Returns what is wrong with what is kept, at most 1000 findings: events, what lies beside them, what is derived from
    /// them, and the structure that holds them. Nothing is changed. Appends go on meanwhile; what they add is not looked at.
    fn check(&self, progress: &mut dyn FnMut(StoreProgress)) -> Result<Vec<StoreProblem>, StoreError>;

    /// Returns what is known of a trace.
    fn trace(&self, trace: TraceId) -> Result<Option<TraceSummary>, StoreError>;

    /// Returns traces ordered by when they were opened, the newest first, beginning after `after`.
    fn traces(&self, after: Option<TraceId>, limit: usize) -> Result<Vec<TraceSummary>, StoreError>;

    /// Returns which traces have ids from the first to the last of a range, and of which kind they are, by ascending id.
    /// Nothing outside the range is read.
    fn traces_between(
        &self,
        ids: &RangeInclusive<TraceId>,
        limit: usize,
    ) -> Result<Vec<(TraceId, TraceKind)>, StoreError>;

    /// Returns the trace of the newest event that is not of the registry.
    fn newest(&self) -> Result<Option<TraceId>, StoreError>;

    /// Returns the registry's trace.
    fn registry(&self) -> Result<Option<TraceId>, StoreError>;

    /// Returns who takes part in a run and as what, by principal and role; nobody in other traces.
    fn participants(&self, trace: TraceId) -> Result<Vec<Participant>, StoreError>;

    /// Returns events of a trace from a place on, in order.
    fn events(&self, trace: TraceId, from: Sequence, limit: usize) -> Result<Vec<Stored>, StoreError>;

    /// Returns the hash of one event without reading its body.
    fn hash(&self, trace: TraceId, sequence: Sequence) -> Result<Option<Digest>, StoreError>;

    /// Returns the event that a key's command became.
    fn command(&self, key: &Fingerprint, command: CommandId) -> Result<Option<Performed>, StoreError>;

    /// Returns the least command of a key whose id begins with these 64 bits, and the event that it became. A door that
    /// makes them from an idempotency key finds what an earlier request of the same key became.
    fn command_beginning(
        &self,
        key: &Fingerprint,
        beginning: u64,
    ) -> Result<Option<(CommandId, Performed)>, StoreError>;

    /// Returns questions of all traces in the order in which they were asked, after a cursor; with
    /// [`QuestionFilter::newest_first`] the other way round, before it.
    ///
    /// **Current**: each stands as the newest event of its trace left it. **Stable**: a question keeps its cursor as
    /// long as it is there, so whoever goes on from the last cursor sees no question twice, and misses only what
    /// began to fit the filter behind the cursor. A gap that was put again is there under the new cursor only.
    fn questions(
        &self,
        filter: &QuestionFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<QuestionSummary>, StoreError>;

    /// Returns everybody who has a question open, or a gap of a plan of theirs, by principal. No more is read than one row of each who ever asked.
    fn open_holders(&self) -> Result<Vec<PrincipalId>, StoreError>;

    /// Returns the question that this event asked.
    fn question(&self, trace: TraceId, sequence: Sequence) -> Result<Option<QuestionSummary>, StoreError>;

    /// Returns how many questions have each outcome; outcomes that none has are left out.
    fn question_counts(&self) -> Result<Vec<(OutcomeKind, u64)>, StoreError>;

    /// Returns open questions whose deadline is at or before `now`, the earliest deadline first. What nothing can be
    /// recorded about any more is passed over: questions of runs that have ended and of traces marked as failed.
    fn due_questions(&self, now: Timestamp, limit: usize) -> Result<Vec<QuestionSummary>, StoreError>;

    /// Returns confirmations of all traces in the order in which they were asked for, as [`Store::questions`] does questions.
    fn confirmations(
        &self,
        filter: &ConfirmationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<ConfirmationSummary>, StoreError>;

    /// Returns the confirmation that this event asked for.
    fn confirmation(
        &self,
        trace: TraceId,
        sequence: Sequence,
    ) -> Result<Option<ConfirmationSummary>, StoreError>;

    /// Returns open confirmations whose deadline is at or before `now`, as [`Store::due_questions`] does questions.
    fn due_confirmations(&self, now: Timestamp, limit: usize)
    -> Result<Vec<ConfirmationSummary>, StoreError>;

    /// Returns the earliest deadline of what [`Store::due_questions`] and [`Store::due_confirmations`] return sooner or later.
    fn next_deadline(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Returns id and head of every trace that has events, by ascending id, as of one moment.
    fn heads(&self) -> Result<Vec<(TraceId, Position)>, StoreError> {
        self.heads_at(self.end()?)
    }

    /// Returns id and head of every trace as of a cursor, by ascending id. The same cursor gives the same heads, now
    /// and later.
    fn heads_at(&self, cursor: Cursor) -> Result<Vec<(TraceId, Position)>, StoreError>;

    /// Returns the cursor after the newest event.
    fn end(&self) -> Result<Cursor, StoreError>;

    /// Returns events of all traces in the order in which they were committed, after a cursor.
    ///
    /// **Order**: events of one trace come in their order. **Nothing appears behind a cursor** that was handed
    /// out: whoever goes on from the last cursor misses nothing and sees nothing twice.
    fn changes(&self, after: Cursor, limit: usize) -> Result<Vec<(Cursor, Stored)>, StoreError>;

    /// Keeps bytes and returns their address. Durable when it returns; the same bytes are kept once. Calls run in
    /// parallel and take no part in the transactions of events.
    fn put_artifact(&self, bytes: &[u8]) -> Result<Address, StoreError>;

    /// Returns kept bytes, if they are there and are what the address says.
    fn artifact(&self, address: &Address) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns the newest snapshot of a trace's state that this version of the code wrote. It may be old or missing; those
    /// of other versions are left alone.
    fn snapshot(&self, trace: TraceId, version: u32) -> Result<Option<Snapshot>, StoreError>;

    /// Marks a trace as failed for an integrity violation (LED-18). The first mark stays.
    fn mark_failed(&self, trace: TraceId, failure: &Failure) -> Result<(), StoreError>;

    /// Keeps a value that must not outlive its delivery, under the commitment that the event names which it belongs to,
    /// durably. Nobody else has the same commitment, so nobody replaces or forgets what somebody else kept. No backup holds
    /// it.
    fn keep_secret(&self, commitment: &Commitment, value: &[u8]) -> Result<(), StoreError>;

    /// Returns the value kept under a commitment.
    fn secret(&self, commitment: &Commitment) -> Result<Option<Vec<u8>>, StoreError>;

    /// Sees to it that nothing is left of what was erased: when this returns, no file of the store holds a byte of it. A commit
    /// that records an erasure has taken the words out already; this removes what they leave behind, and a store that is opened
    /// does the same. Bytes of an artifact stay while another event names them.
    fn scrub(&self) -> Result<(), StoreError>;

    /// Forgets the value kept under a commitment, durably: when this returns, no file of the store holds its bytes. Where
    /// there is none, nothing happens.
    fn forget_secret(&self, commitment: &Commitment) -> Result<(), StoreError>;
}

/// What is written as a whole or not at all.
#[derive(Clone, Debug)]
pub struct Write {
    /// The lease under which it is written.
    pub writer: LeaseId,
    /// New events of one trace.
    pub append: Option<Append>,
    /// Changes of records, each of another one.
    pub swaps: Vec<Swap>,
    /// What is posted with it, in this order.
    pub posts: Vec<Post>,
    /// What consumers need no more.
    pub acknowledged: Vec<Acknowledgement>,
}

impl Write {
    /// Returns the write of events alone.
    pub const fn of_events(writer: LeaseId, append: Append) -> Self {
        Self { writer, append: Some(append), swaps: Vec::new(), posts: Vec::new(), acknowledged: Vec::new() }
    }

    /// Returns the write of records alone.
    pub const fn of_records(writer: LeaseId, swaps: Vec<Swap>) -> Self {
        Self { writer, append: None, swaps, posts: Vec::new(), acknowledged: Vec::new() }
    }
}

/// New events of one trace.
#[derive(Clone, Debug)]
pub struct Append {
    /// The trace.
    pub trace: TraceId,
    /// The newest event the new ones were chained to; none when they open the trace.
    pub expected: Option<Position>,
    /// At least one, chained, beginning right after `expected`.
    pub entries: Vec<Entry>,
    /// The desk's signature on the last of them.
    pub head: Signed<Head>,
    /// Where the run stands after them; none in the registry.
    pub phase: Option<Phase>,
    /// The questions they touched, as [`touched_questions`] returns them.
    pub questions: Vec<(Sequence, Option<QuestionRow>)>,
    /// The confirmations they touched, as [`touched_confirmations`] returns them.
    pub confirmations: Vec<(Sequence, ConfirmationRow)>,
    /// The state after them, now and then.
    pub snapshot: Option<Snapshot>,
}

/// What became of one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It is recorded and durable.
    Done,
    /// It was refused and left no mark.
    Refused(Conflict),
}

/// Why a write was refused. Whoever decided it must look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Somebody else extended the trace.
    #[error("the trace has another head than expected")]
    Head,
    /// A command id was used before.
    #[error("a command id was used before by this key")]
    Command,
    /// A key changed after the registry event that the decision went by.
    #[error("the registry changed an author's key in the meantime")]
    Registry,
    /// An artifact is not there.
    #[error("an artifact is not in the store")]
    Artifact,
    /// Somebody else changed a record.
    #[error("a record is not what it was")]
    Record,
    /// Something was posted under this name before.
    #[error("the stream has a post of this name")]
    Post,
    /// The lease has ended or expired.
    #[error("the lease of the writer is not alive")]
    Lease,
}

/// A recorded event with what is kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The canonical bytes of the envelope.
    pub bytes: Vec<u8>,
    /// The hash under which it was recorded.
    pub hash: Digest,
    /// Its content.
    pub content: Kept<Opening>,
    /// Where its artifact is.
    pub artifact: Kept<ArtifactPlace>,
    /// The desk's signature, where this event was the newest of its trace after a commit.
    pub head: Option<Signed<Head>>,
    /// The lease under which it was written.
    pub writer: LeaseId,
}

/// What is kept beside an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept<T> {
    /// Nothing was ever there.
    Absent,
    /// It is there.
    Here(T),
    /// It was erased.
    Erased,
}

/// What the list of traces shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSummary {
    /// Its id.
    pub trace: TraceId,
    /// What kind it is.
    pub kind: TraceKind,
    /// The newest event.
    pub head: Position,
    /// When it was opened.
    pub opened: Timestamp,
    /// When the newest event was recorded.
    pub changed: Timestamp,
    /// Where the run stands.
    pub phase: Option<Phase>,
    /// Whether an integrity violation was found.
    pub failed: Option<Failure>,
}

/// An integrity violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where it was found, if at one event.
    pub sequence: Option<Sequence>,
    /// The verifier's code.
    pub code: String,
}

/// What a command became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The trace of the event.
    pub trace: TraceId,
    /// The canonical bytes of its envelope.
    pub bytes: Vec<u8>,
}

/// A state that saves reading a long trace from its beginning. Disposable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The newest event in it.
    pub head: Position,
    /// The version of the code that wrote it.
    pub version: u32,
    /// The state, in a form only that version knows.
    pub bytes: Vec<u8>,
}

/// A store that could not do its work. Blame: ours or the machine's, never the author's.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room on the disk. Nothing was written; it works again when there is room.
    #[error("no room is left on the disk: make room and try again, nothing acknowledged is lost")]
    Full,
    /// Another program holds the database.
    #[error("the database is locked by another program: close it and try again")]
    Locked,
    /// The folder or file cannot be written.
    #[error("the data folder is read-only: check who may write to it")]
    ReadOnly,
    /// Bytes in the database that cannot be right. Never repaired silently.
    #[error("the database is damaged: {what}; restore a backup, and keep the damaged files")]
    Corrupt {
        /// What was found.
        what: String,
    },
    /// Written by a later version of demur.
    #[error("the database has version {found}, this demur knows up to {known}: use a newer version of demur")]
    Newer {
        /// The version found.
        found: u32,
        /// The newest version this code knows.
        known: u32,
    },
    /// An event of one trace was written by a later version of demur. Nothing is wrong with it.
    #[error(
        "event {sequence} of trace {trace} has {newer}, which this demur does not know: use a newer version of demur"
    )]
    TraceNewer {
        /// The trace.
        trace: TraceId,
        /// The event.
        sequence: Sequence,
        /// What is not known here.
        newer: Newer,
    },
    /// An event of the registry was. Without the registry nothing can be checked.
    #[error(
        "event {sequence} of the registry has {newer}, which this demur does not know: use a newer version of demur"
    )]
    RegistryNewer {
        /// The event.
        sequence: Sequence,
        /// What is not known here.
        newer: Newer,
    },
    /// What is derived from events has a word of a later version of demur. Nothing is wrong with it.
    #[error(
        "the database has the {what} \"{word}\", which this demur does not know: use a newer version of demur"
    )]
    WordNewer {
        /// What the word stands for.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Written by an earlier build of demur.
    #[error(
        "the database has version {found} of an earlier build, this demur reads {known}: use another folder"
    )]
    Older {
        /// The version found.
        found: u32,
        /// The version this code knows.
        known: u32,
    },
    /// Not a database of ours.
    #[error("{what}")]
    Foreign {
        /// What was found.
        what: String,
    },
    /// Another process owns the folder.
    #[error("another demur owns this folder: it holds {lock}; nothing was changed, ask it or stop it")]
    Owned {
        /// The lock file.
        lock: String,
    },
    /// There is no store.
    #[error("expected a store, found no {path}: name a folder that has one")]
    Missing {
        /// What was looked for.
        path: String,
    },
    /// There is a store already.
    #[error("expected a folder without a store, found {path}: name another folder, nothing was changed")]
    Exists {
        /// What was found.
        path: String,
    },
    /// Ours: a call that breaks the contract.
    #[error("the store was called against its contract: {what}")]
    Misuse {
        /// Which rule was broken.
        what: &'static str,
    },
    /// A file of the store was deleted or replaced while it was open.
    #[error("{path} was deleted, moved or replaced while the server has it open: nothing more is recorded")]
    Gone {
        /// The file.
        path: String,
    },
    /// The lease of this process is dead: it may write nothing more.
    #[error("this process lost its right to write to the store: start it again")]
    LeaseLost,
    /// An earlier write was never confirmed. Nothing was written by this call.
    #[error("the disk did not confirm an earlier write: open the store again to see what is there")]
    Stopped,
    /// The sync failed after the commit began: the append may be there after a restart, or not.
    #[error("the disk did not confirm the write: whether it happened shows after a restart")]
    Uncertain,
    /// Anything else the machine said.
    #[error("the store could not {action}: {message}")]
    Trouble {
        /// What was being done.
        action: &'static str,
        /// What the machine said.
        message: String,
    },
}

/// The key of the record that a restored store has until its new epoch is recorded (`store_restored`): no event may come
/// before it. A sequencer that opens the store sees to it.
pub const RESTORED: &str = "restored";
