//! `check`: everything that can be wrong with the files of a store, found without changing any of them.
//! Signatures are the verifier's business.

use std::fmt;

use demur_core::commitment::Commitment;
use demur_ledger::{
    envelope::{Event, event_hash},
    event_type::Facts,
    name::{Position, Sequence, TraceId},
    newer::{Newer, NewerEvent, Reading},
};
use rusqlite::{Connection, Result as SqlResult, params};

use super::{
    SqliteStore, column, connection,
    derive::{self, Misfit, Raw, Refill, TABLES},
    places, trouble,
};
use crate::contract::{Kept, StoreError, Stored};

/// Something wrong in the files of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The structure of the database.
    Database {
        /// What SQLite says.
        message: String,
    },
    /// An event or what is kept beside it.
    Event {
        /// Its trace.
        trace: TraceId,
        /// Its place.
        sequence: Sequence,
        /// What is wrong.
        what: String,
    },
    /// An event that a newer version of demur wrote: nothing is wrong with it, and this version cannot judge it.
    Newer {
        /// Its trace.
        trace: TraceId,
        /// Its place.
        sequence: Sequence,
        /// What is not known here.
        newer: Newer,
    },
    /// A table that does not follow from the events. `rebuild` mends it.
    Derived {
        /// The table.
        table: &'static str,
        /// Rows that should be there and are not.
        missing: u64,
        /// Rows that should not be there.
        extra: u64,
    },
}

impl Problem {
    /// Returns whether `rebuild` mends it, provided that the events hold.
    pub fn is_derived(&self) -> bool {
        match self {
            Self::Derived { .. } => true,
            // As SQLite's own check calls an index that does not fit its table.
            Self::Database { message } => {
                INDEXES.iter().any(|index| message.ends_with(&format!("index {index}")))
            }
            Self::Event { .. } | Self::Newer { .. } => false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database { message } => write!(formatter, "the database is damaged: {message}"),
            Self::Event { trace, sequence, what } => {
                write!(formatter, "event {sequence} of trace {trace}: {what}")
            }
            Self::Newer { trace, sequence, newer } => {
                write!(
                    formatter,
                    "event {sequence} of trace {trace} has {newer}, which this demur does not know"
                )
            }
            Self::Derived { table, missing, extra } => write!(
                formatter,
                "the table {table} lacks {missing} rows and has {extra} that do not follow from the events"
            ),
        }
    }
}

/// How far a long job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub step: Step,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
}

/// A part of a long job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The structure of the database; counts as one.
    Structure,
    /// Events, one by one.
    Events,
    /// Copying the database; counts as one.
    Copy,
    /// Artifacts, one by one.
    Artifacts,
}

impl SqliteStore {
    /// Returns what is wrong with the files, at most 1000 findings. Appends go on meanwhile; what they add is not
    /// looked at.
    pub fn check(&self, progress: &mut dyn FnMut(Progress)) -> Result<Vec<Problem>, StoreError> {
        let checking = || trouble::of("check the database");
        let mut connection = connection::examiner(&self.folder.database()).map_err(checking())?;
        let transaction = connection.transaction().map_err(checking())?;
        let mut check = Check { store: self, connection: &transaction, problems: Vec::new(), progress };
        match check.run() {
            // Damage that stops the check is what the check is for.
            Err(StoreError::Corrupt { what }) => check.note(Problem::Database { message: what }),
            other => other?,
        }
        Ok(check.problems)
    }

    /// Makes the index of events and the derived tables again from the events, in one transaction.
    pub fn rebuild(&self) -> Result<(), StoreError> {
        self.write("rebuild", |transaction| {
            for index in INDEXES {
                let sql = format!("REINDEX main.{index}");
                transaction.execute_batch(&sql).map_err(trouble::of("rebuild"))?;
            }
            derive::rebuild(transaction)?;
            // An event that is gone from the table is not brought back by an index.
            if places::hold(transaction).map_err(trouble::of("rebuild"))? {
                Ok(())
            } else {
                Err(places::damage())
            }
        })
    }
}

/// A check under way, at one moment of the store.
struct Check<'a> {
    store: &'a SqliteStore,
    connection: &'a Connection,
    problems: Vec<Problem>,
    progress: &'a mut dyn FnMut(Progress),
}

impl Check<'_> {
    fn run(&mut self) -> Result<(), StoreError> {
        self.structure().map_err(trouble::of("check the structure"))?;
        self.events()?;
        if self.problems.iter().any(|problem| matches!(problem, Problem::Newer { .. })) {
            // What follows from a newer event nobody can tell here.
            return Ok(());
        }
        self.derived().map_err(trouble::of("compare the derived tables"))
    }

    fn note(&mut self, problem: Problem) {
        if self.problems.len() < ENOUGH {
            self.problems.push(problem);
        }
    }

    fn structure(&mut self) -> SqlResult<()> {
        self.report(Step::Structure, 0, 1);
        let mut statement = self.connection.prepare("PRAGMA main.integrity_check(100)")?;
        let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<SqlResult<_>>()?;
        for message in lines.into_iter().filter(|line| line != "ok") {
            self.note(Problem::Database { message });
        }
        let mut statement = self.connection.prepare("PRAGMA main.foreign_key_check")?;
        let tables: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<SqlResult<_>>()?;
        for table in tables {
            let message = format!("a row of {table} refers to one that is not there");
            self.note(Problem::Database { message });
        }
        self.report(Step::Structure, 1, 1);
        Ok(())
    }

    /// Looks at every event and fills temporary copies of the derived tables on the way.
    fn events(&mut self) -> Result<(), StoreError> {
        let connection = self.connection;
        let total = self.prepare().map_err(trouble::of("check the events"))?;
        let mut refill = Refill::new(connection, "temp");
        let (mut done, mut before): (u64, Option<Raw>) = (0, None);
        derive::walk(connection, |raw| {
            let previous = before.take().filter(|previous| previous.id == raw.id);
            self.event(raw, previous.as_ref(), &mut refill)?;
            done += 1;
            if done.is_multiple_of(PACE) || done == total {
                self.report(Step::Events, done, total);
            }
            // The bytes are not needed to compare with the next.
            before = Some(Raw { bytes: Vec::new(), ..*raw });
            Ok(())
        })?;
        refill.finish().map_err(trouble::of("check the events"))
    }

    fn prepare(&self) -> SqlResult<u64> {
        for (table, columns) in TABLES {
            self.connection.execute_batch(&format!(
                "CREATE TEMP TABLE {table} AS SELECT {columns} FROM main.{table} WHERE false"
            ))?;
        }
        let count = "SELECT count(*) FROM main.events";
        self.connection.query_row(count, [], |row| column::unsigned(row, 0))
    }

    fn event(
        &mut self,
        raw: &Raw,
        previous: Option<&Raw>,
        refill: &mut Refill<'_>,
    ) -> Result<(), StoreError> {
        if event_hash(&raw.bytes) != raw.position.hash {
            self.wrong(raw, "its bytes do not have its hash");
        }
        let event = match Reading::of(&raw.bytes, &raw.position.hash) {
            Reading::Known(event) => event,
            Reading::Newer(event) => return self.newer(raw, previous, &event, refill),
            Reading::Damaged => {
                let error = Event::parse(&raw.bytes).err();
                let why =
                    error.map_or("of no type that this demur knows".to_owned(), |error| error.to_string());
                self.wrong(raw, format!("its bytes are not an event: {why}"));
                return Ok(());
            }
        };
        let envelope = event.envelope();
        let expected = previous.map_or(Sequence::FIRST, |previous| previous.position.sequence.next());
        let columns = (envelope.trace, envelope.sequence, envelope.time);
        if columns != (raw.trace, raw.position.sequence, raw.time) {
            self.wrong(raw, "its columns say something else than its bytes");
        }
        if raw.position.sequence != expected || envelope.previous != previous.map(|one| one.position.hash) {
            self.wrong(raw, "it does not follow the event before it");
        }
        self.beside(raw, &event)?;
        match refill.take(raw, &event) {
            Ok(()) => Ok(()),
            Err(Misfit::Guard(what)) => {
                self.wrong(raw, what);
                Ok(())
            }
            Err(Misfit::Store(error)) => Err(trouble::of("check the events")(error)),
        }
    }

    /// Looks at what can be seen of an event that a newer version wrote.
    fn newer(
        &mut self,
        raw: &Raw,
        previous: Option<&Raw>,
        event: &NewerEvent<'_>,
        refill: &mut Refill<'_>,
    ) -> Result<(), StoreError> {
        let Position { sequence, .. } = raw.position;
        let expected = previous.map_or(Sequence::FIRST, |previous| previous.position.sequence.next());
        let before = previous.map(|previous| previous.position.hash);
        if sequence != expected || !event.stands(raw.trace, sequence, before) {
            self.wrong(raw, "it does not follow the event before it");
        } else {
            self.note(Problem::Newer { trace: raw.trace, sequence, newer: event.newer().clone() });
        }
        refill.pass_over(raw).map_err(trouble::of("check the events"))
    }

    /// Looks at content and artifact of an event.
    fn beside(&mut self, raw: &Raw, event: &Event) -> Result<(), StoreError> {
        let stored = self.stored(raw).map_err(trouble::of("check the events"))?;
        let commitment = event.envelope().content;
        match (&stored.content, commitment) {
            (Kept::Here(opening), Some(commitment)) if opening.commitment() == commitment => {}
            (Kept::Erased, Some(_)) | (Kept::Absent, None) => {}
            _ => self.wrong(raw, "its content is not what it commits to"),
        }
        let said = event.said().ok().map(|said| said.facts);
        match (&stored.artifact, said) {
            (Kept::Here(place), Some(Facts::ArtifactRecorded(facts))) => {
                match self.store.artifacts.read(&place.address) {
                    Ok(Some(bytes)) if Commitment::to_artifact(&place.salt, &bytes) == facts.commitment => {}
                    Ok(Some(_)) => self.wrong(raw, "its artifact is not what it commits to"),
                    Ok(None) => self.wrong(raw, "the file of its artifact is missing"),
                    Err(StoreError::Corrupt { what }) => self.wrong(raw, what),
                    Err(error) => return Err(error),
                }
            }
            (Kept::Here(_), _) => self.wrong(raw, "an artifact lies beside it, and it names none"),
            (Kept::Erased | Kept::Absent, _) => {}
        }
        Ok(())
    }

    fn stored(&self, raw: &Raw) -> SqlResult<Stored> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT ",
            column::stored_columns!(),
            " WHERE e.ordinal = ?1"
        ))?;
        statement.query_row(params![raw.ordinal], |row| column::stored(row, 0))
    }

    /// Compares the derived tables with what the events gave.
    fn derived(&mut self) -> SqlResult<()> {
        for (table, columns) in TABLES {
            let rows = |from: &str, without: &str| {
                let sql = format!(
                    "SELECT count(*) FROM (SELECT {columns} FROM {from}.{table}
                     EXCEPT SELECT {columns} FROM {without}.{table})"
                );
                self.connection.query_row(&sql, [], |row| column::unsigned(row, 0))
            };
            let (missing, extra) = (rows("temp", "main")?, rows("main", "temp")?);
            if missing + extra > 0 {
                self.note(Problem::Derived { table, missing, extra });
            }
        }
        Ok(())
    }

    fn wrong(&mut self, raw: &Raw, what: impl Into<String>) {
        let (trace, sequence) = (raw.trace, raw.position.sequence);
        self.note(Problem::Event { trace, sequence, what: what.into() });
    }

    fn report(&mut self, step: Step, done: u64, total: u64) {
        (self.progress)(Progress { step, done, total });
    }
}

/// What `rebuild` makes again. Whatever else is derived is a table without rows of its own.
const INDEXES: [&str; 5] =
    ["events_place", "questions_list", "questions_asker", "questions_trace", "questions_due"];

/// After so many findings a store needs a backup, not a longer list.
const ENOUGH: usize = 1000;

/// How many events pass between two reports.
const PACE: u64 = 1000;
