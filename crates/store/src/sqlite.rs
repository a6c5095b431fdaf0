//! The store in one folder: a SQLite database for events, files for artifacts, a lock for the owner
//! (`docs/design/003`).
//!
//! One connection writes, behind a lock; others read and never make it wait. A commit is in the write-ahead log
//! and synced when `commit` returns. Once the disk has failed to confirm a commit nothing more is written until
//! the store is opened again: a sync that failed once may lie the next time.

mod backup;
mod check;
mod checkpoint;
mod column;
mod commit;
mod confirmation;
mod connection;
mod derive;
mod erase;
mod files;
mod lease;
mod lost;
mod participant;
mod places;
mod question;
mod read;
mod record;
mod schema;
mod secret;
mod stream;
mod trouble;

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use demur_core::{commitment::Commitment, hash::Digest, key::Fingerprint, time::Timestamp};
use demur_ledger::{
    entry::Address,
    event_type::TraceKind,
    facts::Participant,
    name::{CommandId, Position, PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

pub use self::{backup::Restored, lost::LostArtifact, schema::VERSION};
use self::{
    checkpoint::Checkpointer,
    column::{number, ulid},
    commit::{Judging, Precheck},
    connection::Readers,
    files::OpenFiles,
    lease::Living,
    secret::Secrets,
};
use crate::{
    artifacts::Artifacts,
    clock,
    contract::{
        ConfirmationFilter, ConfirmationSummary, ConsumerName, Cursor, Failure, KeptPost, KeptRecord, Lease,
        LeaseId, Leases, Performed, PostName, QuestionFilter, QuestionSummary, RecordKey, Records, Snapshot,
        Store, StoreError, StoreProblem, StoreProgress, Stored, StreamName, StreamPosition, Streams,
        TraceSummary, Write, WriteOutcome,
    },
    derived,
    folder::{Folder, Lock},
};

/// A store in a folder.
#[derive(Debug)]
pub struct SqliteStore {
    // Fields are dropped in this order: the thread, then the readers, then the writer, which empties the log,
    // and the right to the folder last.
    _checkpointer: Option<Checkpointer>,
    readers: Readers,
    writer: Option<Writer>,
    secrets: Secrets,
    artifacts: Artifacts,
    /// Held while files of artifacts are removed, and shared while a commit counts on them.
    removing: RwLock<()>,
    folder: Folder,
    _lock: Option<Lock>,
}

/// The connection that writes.
#[derive(Debug)]
struct Writer {
    connection: Arc<Mutex<Connection>>,
    /// Set when the disk did not confirm a commit.
    stopped: AtomicBool,
    living: Living,
    files: OpenFiles,
}

impl SqliteStore {
    /// Creates a store in a folder that has none, and opens it as its owner.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = Folder::at(path);
        folder.create()?;
        let lock = folder.lock()?;
        folder.expect_no_store()?;
        let new = folder.begin_database()?;
        let mut connection = connection::writer(&new).map_err(trouble::of("create the database"))?;
        schema::create(&mut connection)?;
        // Before it has its name: whoever opens it only to read could not finish the switch after a crash.
        connection::use_log(&connection).map_err(trouble::of("create the database"))?;
        close(connection)?;
        folder.finish_database()?;
        Self::own(folder, lock)
    }

    /// Opens a store as its owner: this process alone may write to it until it is dropped.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let store = Self::open_to_mend(path)?;
        store
            .readers
            .read("read the index of events", places::hold)?
            .then_some(store)
            .ok_or_else(places::damage)
    }

    /// Opens a store as its owner although events may be hidden in it: to check and to rebuild it, never to append.
    pub fn open_to_mend(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = Folder::at(path);
        folder.expect_store()?;
        let lock = folder.lock()?;
        Self::own(folder, lock)
    }

    /// Opens a store for reading only, whoever owns it. Reads see what the owner has committed; whatever would
    /// write is refused.
    pub fn open_read_only(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = Folder::at(path);
        folder.expect_store()?;
        let database = folder.database();
        schema::inspect(&database)?;
        let readers = Readers::new(database.clone());
        let connection = connection::reader(&database).map_err(trouble::of("open the database"))?;
        schema::expect(&connection, &database)?;
        if !places::hold(&connection).map_err(trouble::of("read the index of events"))? {
            return Err(places::damage());
        }
        let artifacts = Artifacts::at(folder.artifacts());
        let secrets = Secrets::in_folder(folder.clone());
        let removing = RwLock::new(());
        Ok(Self {
            _checkpointer: None,
            readers,
            writer: None,
            secrets,
            artifacts,
            removing,
            folder,
            _lock: None,
        })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn own(folder: Folder, lock: Lock) -> Result<Self, StoreError> {
        let database = folder.database();
        schema::inspect(&database)?;
        let opening = || trouble::of("open the database");
        let connection = connection::writer(&database).map_err(opening())?;
        if connection::is_read_only(&connection).map_err(opening())? {
            return Err(StoreError::ReadOnly);
        }
        schema::expect(&connection, &database)?;
        if !connection::use_log(&connection).map_err(opening())? {
            return Err(crate::folder::trouble("open the database", &"its file system has no shared memory"));
        }
        let artifacts = Artifacts::at(folder.artifacts());
        artifacts.prepare()?;
        let connection = Arc::new(Mutex::new(connection));
        let checkpointer = Checkpointer::start(&database, &connection).map_err(opening())?;
        // SQLite has opened the log, too: it has read from the database.
        let files = OpenFiles::of([database.clone(), folder.log()]);
        let (stopped, living) = (AtomicBool::new(false), Living::default());
        let store = Self {
            _checkpointer: Some(checkpointer),
            readers: Readers::new(database),
            writer: Some(Writer { connection, stopped, living, files }),
            secrets: Secrets::in_folder(folder.clone()),
            artifacts,
            removing: RwLock::new(()),
            folder,
            _lock: Some(lock),
        };
        // A process that crashed may have left something of what it erased.
        store.scrub()?;
        Ok(store)
    }

    /// Runs work in a write transaction. An error rolls everything back.
    fn write<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        let mut connection = writer.lock();
        writer.expect_running()?;
        writer.files.expect_in_place()?;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(trouble::of(action))?;
        let answer = work(&transaction)?;
        transaction.commit().map_err(|error| {
            let error = trouble::of_commit(action)(error);
            if matches!(error, StoreError::Uncertain) {
                writer.stopped.store(true, Ordering::Release);
            }
            error
        })?;
        // Deleted while it was written to: whether anybody finds it again is not known.
        if writer.files.expect_in_place().is_err() {
            return Err(StoreError::Uncertain);
        }
        Ok(answer)
    }

    /// Removes the files of artifacts that were erased and that no event names. Nobody counts on one meanwhile.
    fn remove_leftovers(&self) -> Result<(), StoreError> {
        let _alone = self.removing.write().unwrap_or_else(PoisonError::into_inner);
        let left = self.readers.read("look for erased artifacts", erase::leftovers)?;
        for address in left {
            self.write("remove an artifact", |transaction| {
                let removing = || trouble::of("remove an artifact");
                if !erase::is_named(transaction, &address).map_err(removing())? {
                    self.artifacts.remove(&address)?;
                }
                erase::settle(transaction, &address).map_err(removing())
            })?;
        }
        Ok(())
    }

    /// Returns the secrets, if this is the owner and nothing stands against writing.
    fn own_secrets(&self) -> Result<&Secrets, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        writer.expect_running()?;
        writer.files.expect_in_place()?;
        Ok(&self.secrets)
    }

    /// Returns the conflicts of a write that need no database: a lease that is dead, events that are no chain, artifacts that are
    /// missing. Checked before the transaction: no file is removed meanwhile, and a lease is ended by its own process.
    fn precheck(&self, write: &Write) -> Result<Precheck, StoreError> {
        let broken = !derived::check_write(write)?;
        let living = &self.writer.as_ref().ok_or(StoreError::ReadOnly)?.living;
        let mut precheck = Precheck { dead: !living.has(write.writer), broken, missing: false };
        let entries = write.append.iter().flat_map(|append| &append.entries);
        for place in entries.filter_map(|entry| entry.artifact) {
            precheck.missing |= !self.artifacts.has(&place.address)?;
        }
        Ok(precheck)
    }
}

impl Writer {
    fn expect_running(&self) -> Result<(), StoreError> {
        if self.stopped.load(Ordering::Acquire) { Err(StoreError::Stopped) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic while the connection was in use rolled its transaction back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for SqliteStore {
    fn commit(&self, writes: &[Write]) -> Result<Vec<WriteOutcome>, StoreError> {
        let _kept = self.removing.read().unwrap_or_else(PoisonError::into_inner);
        let prechecks = writes.iter().map(|write| self.precheck(write)).collect::<Result<Vec<_>, _>>()?;
        self.write("commit", |transaction| {
            let mut judging = Judging::begin(transaction).map_err(trouble::of("commit"))?;
            writes.iter().zip(prechecks).map(|(write, precheck)| judging.commit(write, precheck)).collect()
        })
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn expect_in_place(&self) -> Result<(), StoreError> {
        self.writer.as_ref().map_or(Ok(()), |writer| writer.files.expect_in_place())
    }

    fn check(&self, progress: &mut dyn FnMut(StoreProgress)) -> Result<Vec<StoreProblem>, StoreError> {
        check::check(self, progress)
    }

    fn trace(&self, trace: TraceId) -> Result<Option<TraceSummary>, StoreError> {
        self.readers.read("read a trace", |connection| read::trace(connection, trace))
    }

    fn traces(&self, after: Option<TraceId>, limit: usize) -> Result<Vec<TraceSummary>, StoreError> {
        self.readers.read("list traces", |connection| read::traces(connection, after, limit))
    }

    fn traces_between(
        &self,
        ids: &RangeInclusive<TraceId>,
        limit: usize,
    ) -> Result<Vec<(TraceId, TraceKind)>, StoreError> {
        self.readers.read("find traces", |connection| read::traces_between(connection, ids, limit))
    }

    fn newest(&self) -> Result<Option<TraceId>, StoreError> {
        self.readers.read("find the newest trace", read::newest)
    }

    fn registry(&self) -> Result<Option<TraceId>, StoreError> {
        self.readers.read("find the registry", read::registry)
    }

    fn participants(&self, trace: TraceId) -> Result<Vec<Participant>, StoreError> {
        self.readers.read("read participants", |connection| participant::all(connection, trace))
    }

    fn events(&self, trace: TraceId, from: Sequence, limit: usize) -> Result<Vec<Stored>, StoreError> {
        self.readers.read("read events", |connection| read::events(connection, trace, from, limit))
    }

    fn hash(&self, trace: TraceId, sequence: Sequence) -> Result<Option<Digest>, StoreError> {
        self.readers.read("read a hash", |connection| read::hash(connection, trace, sequence))
    }

    fn command(&self, key: &Fingerprint, command: CommandId) -> Result<Option<Performed>, StoreError> {
        self.readers.read("look up a command", |connection| read::command(connection, key, command))
    }

    fn command_beginning(
        &self,
        key: &Fingerprint,
        beginning: u64,
    ) -> Result<Option<(CommandId, Performed)>, StoreError> {
        self.readers
            .read("look up a command", |connection| read::command_beginning(connection, key, beginning))
    }

    fn questions(
        &self,
        filter: &QuestionFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<QuestionSummary>, StoreError> {
        self.readers.read("list questions", |connection| question::page(connection, filter, after, limit))
    }

    fn open_holders(&self) -> Result<Vec<PrincipalId>, StoreError> {
        self.readers.read("find who asks", question::open_holders)
    }

    fn question(&self, trace: TraceId, sequence: Sequence) -> Result<Option<QuestionSummary>, StoreError> {
        self.readers.read("read a question", |connection| question::question(connection, trace, sequence))
    }

    fn question_counts(&self) -> Result<Vec<(OutcomeKind, u64)>, StoreError> {
        self.readers.read("count questions", question::counts)
    }

    fn due_questions(&self, now: Timestamp, limit: usize) -> Result<Vec<QuestionSummary>, StoreError> {
        self.readers.read("find due questions", |connection| question::due(connection, now, limit))
    }

    fn confirmations(
        &self,
        filter: &ConfirmationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<ConfirmationSummary>, StoreError> {
        let page = |connection: &Connection| confirmation::page(connection, filter, after, limit);
        self.readers.read("list confirmations", page)
    }

    fn confirmation(
        &self,
        trace: TraceId,
        sequence: Sequence,
    ) -> Result<Option<ConfirmationSummary>, StoreError> {
        let one = |connection: &Connection| confirmation::confirmation(connection, trace, sequence);
        self.readers.read("read a confirmation", one)
    }

    fn due_confirmations(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ConfirmationSummary>, StoreError> {
        self.readers.read("find due confirmations", |connection| confirmation::due(connection, now, limit))
    }

    fn next_deadline(&self) -> Result<Option<Timestamp>, StoreError> {
        let questions = self.readers.read("find the next deadline", question::next_deadline)?;
        let confirmations = self.readers.read("find the next deadline", confirmation::next_deadline)?;
        Ok(questions.into_iter().chain(confirmations).min())
    }

    fn heads_at(&self, cursor: Cursor) -> Result<Vec<(TraceId, Position)>, StoreError> {
        self.readers.read("read the heads", |connection| read::heads_at(connection, cursor))
    }

    fn end(&self) -> Result<Cursor, StoreError> {
        self.readers.read("find the newest event", read::end)
    }

    fn changes(&self, after: Cursor, limit: usize) -> Result<Vec<(Cursor, Stored)>, StoreError> {
        self.readers.read("read changes", |connection| read::changes(connection, after, limit))
    }

    fn put_artifact(&self, bytes: &[u8]) -> Result<Address, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        writer.expect_running()?;
        self.artifacts.put(bytes)
    }

    fn artifact(&self, address: &Address) -> Result<Option<Vec<u8>>, StoreError> {
        self.artifacts.read(address)
    }

    fn snapshot(&self, trace: TraceId, version: u32) -> Result<Option<Snapshot>, StoreError> {
        self.readers.read("read a snapshot", |connection| read::snapshot(connection, trace, version))
    }

    fn mark_failed(&self, trace: TraceId, failure: &Failure) -> Result<(), StoreError> {
        self.write("mark a trace", |transaction| {
            let sequence = failure.sequence.map(|sequence| number(sequence.number()));
            let marked = transaction
                .prepare_cached(
                    "INSERT INTO failures (trace, sequence, code)
                     SELECT id, ?2, ?3 FROM traces WHERE trace = ?1
                     ON CONFLICT (trace) DO UPDATE SET code = code", // counts as a row, and changes nothing
                )
                .and_then(|mut statement| {
                    statement.execute(params![ulid(trace.as_ulid()), sequence, failure.code])
                })
                .map_err(trouble::of("mark a trace"))?;
            if marked == 0 { Err(StoreError::Misuse { what: "there is no such trace" }) } else { Ok(()) }
        })
    }

    fn keep_secret(&self, commitment: &Commitment, value: &[u8]) -> Result<(), StoreError> {
        self.own_secrets()?.keep(commitment, value)
    }

    fn secret(&self, commitment: &Commitment) -> Result<Option<Vec<u8>>, StoreError> {
        self.secrets.read(commitment)
    }

    fn forget_secret(&self, commitment: &Commitment) -> Result<(), StoreError> {
        self.own_secrets()?.forget(commitment)
    }

    fn scrub(&self) -> Result<(), StoreError> {
        self.remove_leftovers()?;
        self.writer.as_ref().map_or(Ok(()), |writer| checkpoint::empty_log(&writer.lock()))
    }
}

impl Records for SqliteStore {
    fn record(&self, key: &RecordKey) -> Result<Option<KeptRecord>, StoreError> {
        self.readers.read("read a record", |connection| record::record(connection, key))
    }

    fn records(
        &self,
        prefix: &str,
        after: Option<&RecordKey>,
        limit: usize,
    ) -> Result<Vec<KeptRecord>, StoreError> {
        self.readers.read("list records", |connection| record::page(connection, prefix, after, limit))
    }

    fn due(&self, prefix: &str, now: Timestamp, limit: usize) -> Result<Vec<KeptRecord>, StoreError> {
        self.readers.read("find due records", |connection| record::due(connection, prefix, now, limit))
    }
}

impl Streams for SqliteStore {
    fn posts(
        &self,
        name: &StreamName,
        after: StreamPosition,
        limit: usize,
    ) -> Result<Vec<KeptPost>, StoreError> {
        self.readers.read("read posts", |connection| stream::page(connection, name, after, limit))
    }

    fn named_post(&self, name: &StreamName, post: &PostName) -> Result<Option<StreamPosition>, StoreError> {
        self.readers.read("look for a post", |connection| stream::named(connection, name, post))
    }

    fn newest_post(&self, name: &StreamName) -> Result<StreamPosition, StoreError> {
        self.readers.read("find the newest post", |connection| stream::newest(connection, name))
    }

    fn acknowledged(&self, name: &StreamName, consumer: &ConsumerName) -> Result<StreamPosition, StoreError> {
        self.readers
            .read("read what is acknowledged", |connection| stream::acknowledged(connection, name, consumer))
    }

    fn sweep(&self, now: Timestamp) -> Result<u64, StoreError> {
        let sweeping = || trouble::of("remove old posts");
        // Most of the time there is nothing, and nothing is written.
        if !self.readers.read("look for old posts", |connection| stream::is_due(connection, now))? {
            return Ok(0);
        }
        self.write("remove old posts", |transaction| stream::sweep(transaction, now).map_err(sweeping()))
    }
}

impl Leases for SqliteStore {
    fn begin_lease(&self, rules: Digest) -> Result<Lease, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        let lease = self.write("begin a lease", |transaction| {
            lease::begin(transaction, rules, clock::now()).map_err(trouble::of("begin a lease"))
        })?;
        writer.living.add(lease.id);
        Ok(lease)
    }

    fn renew_lease(&self, lease: LeaseId) -> Result<Timestamp, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        writer.living.has(lease).then(clock::now).ok_or(StoreError::LeaseLost)
    }

    fn end_lease(&self, lease: LeaseId) -> Result<(), StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        // A dead one stays: its process crashed, whatever anybody says now.
        if !writer.living.has(lease) {
            return Ok(());
        }
        // First on the disk: a lease that could not be ended still lives, and can be ended again.
        self.write("end a lease", |transaction| {
            lease::end(transaction, lease).map_err(trouble::of("end a lease"))
        })?;
        writer.living.remove(lease);
        Ok(())
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        let nobody = Living::default();
        let living = self.writer.as_ref().map_or(&nobody, |writer| &writer.living);
        self.readers.read("list leases", |connection| lease::all(connection, living))
    }
}

fn close(connection: Connection) -> Result<(), StoreError> {
    connection.close().map_err(|(_, error)| trouble::of("close the database")(error))
}
