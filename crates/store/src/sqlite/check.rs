//! `check`: everything that can be wrong with the files of a store, found without changing any of them.
//! Signatures are the verifier's business.

use std::mem;

use demur_ledger::{entry::Address, envelope::Event, name::TraceId};
use rusqlite::{Connection, Result as SqlResult, params};

use super::{
    SqliteStore, column, connection,
    derive::{self, Misfit, Raw, Refill, TABLES, Table},
    places, trouble,
};
use crate::{
    contract::{StoreError, StoreProblem, StoreProgress, StoreStep, Stored},
    examine::{self, ErasureCheck, Found, Place},
};

/// Returns what is wrong with the files, at most 1000 findings. Appends go on meanwhile; what they add is not looked at.
pub(super) fn check(
    store: &SqliteStore,
    progress: &mut dyn FnMut(StoreProgress),
) -> Result<Vec<StoreProblem>, StoreError> {
    let checking = || trouble::of("check the database");
    let mut connection = connection::examiner(&store.folder.database()).map_err(checking())?;
    let transaction = connection.transaction().map_err(checking())?;
    let mut check = Check { store, connection: &transaction, problems: Vec::new(), progress };
    match check.run() {
        // Damage that stops the check is what the check is for.
        Err(StoreError::Corrupt { what }) => check.note_database(what),
        other => other?,
    }
    Ok(check.problems)
}

impl SqliteStore {
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
    problems: Vec<StoreProblem>,
    progress: &'a mut dyn FnMut(StoreProgress),
}

impl Check<'_> {
    fn run(&mut self) -> Result<(), StoreError> {
        self.structure().map_err(trouble::of("check the structure"))?;
        self.events()?;
        self.derived().map_err(trouble::of("compare the derived tables"))
    }

    fn note(&mut self, problem: StoreProblem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn note_database(&mut self, message: String) {
        // As SQLite's own check calls an index that does not fit its table.
        let is_derived = INDEXES.iter().any(|index| message.ends_with(&format!("index {index}")));
        self.note(StoreProblem::Database { message, is_derived });
    }

    fn structure(&mut self) -> SqlResult<()> {
        self.report(StoreStep::Structure, 0, 1);
        let mut statement = self.connection.prepare("PRAGMA main.integrity_check(100)")?;
        let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<SqlResult<_>>()?;
        for message in lines.into_iter().filter(|line| line != "ok") {
            self.note_database(message);
        }
        let mut statement = self.connection.prepare("PRAGMA main.foreign_key_check")?;
        let tables: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<SqlResult<_>>()?;
        for table in tables {
            let message = format!("a row of {table} refers to one that is not there");
            self.note_database(message);
        }
        if !places::are_in_table(self.connection)? {
            self.note_database("events are missing from the table".to_owned());
        }
        self.report(StoreStep::Structure, 1, 1);
        Ok(())
    }

    /// Looks at every event and fills temporary copies of the derived tables on the way.
    fn events(&mut self) -> Result<(), StoreError> {
        let connection = self.connection;
        let count = "SELECT count(*) FROM main.events";
        let total = connection.query_row(count, [], |row| column::unsigned(row, 0));
        let total = total.map_err(trouble::of("check the events"))?;
        let mut refill = Refill::begin(connection).map_err(trouble::of("check the events"))?;
        let (mut done, mut before): (u64, Option<Raw>) = (0, None);
        let mut erasures = ErasureCheck::default();
        derive::walk(connection, |raw| {
            if let Some(last) = before.as_ref().filter(|last| last.id != raw.id) {
                self.erasures(last.trace, mem::take(&mut erasures));
            }
            let previous = before.take().filter(|previous| previous.id == raw.id);
            self.event(raw, previous.as_ref(), &mut refill, &mut erasures)?;
            done += 1;
            if done.is_multiple_of(EVENTS_PER_REPORT) || done == total {
                self.report(StoreStep::Events, done, total);
            }
            // The bytes are not needed to compare with the next.
            before = Some(Raw { bytes: Vec::new(), ..*raw });
            Ok(())
        })?;
        if let Some(last) = before {
            self.erasures(last.trace, erasures);
        }
        refill.finish().map_err(trouble::of("check the events"))
    }

    fn erasures(&mut self, trace: TraceId, erasures: ErasureCheck) {
        for (sequence, what) in erasures.finish() {
            self.note(StoreProblem::Event { trace, sequence, what });
        }
    }

    fn event(
        &mut self,
        raw: &Raw,
        previous: Option<&Raw>,
        refill: &mut Refill<'_>,
        erasures: &mut ErasureCheck,
    ) -> Result<(), StoreError> {
        let Raw { trace, position, time, ref bytes, .. } = *raw;
        let previous = previous.map(|previous| previous.position);
        let mut wrong = Vec::new();
        let sequence = position.sequence;
        let stored = self.stored(raw).map_err(trouble::of("check the events"))?;
        erasures.take(bytes, &stored.content, &stored.artifact);
        let place = Place { trace, position, time: Some(time), bytes, previous, content: &stored.content };
        match place.event(&mut wrong) {
            Found::Known(event) => self.known(raw, &event, &stored, refill, &mut wrong)?,
            Found::Newer(newer) => {
                if let Some(newer) = newer {
                    self.note(StoreProblem::Newer { trace, sequence, newer });
                }
                refill.pass_over(raw).map_err(trouble::of("check the events"))?;
            }
            Found::Nothing => {}
        }
        for what in wrong {
            self.note(StoreProblem::Event { trace, sequence, what });
        }
        Ok(())
    }

    fn known(
        &self,
        raw: &Raw,
        event: &Event,
        stored: &Stored,
        refill: &mut Refill<'_>,
        wrong: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let read = |address: &Address| self.store.artifacts.read(address);
        examine::artifact(event, &stored.artifact, read, wrong)?;
        match refill.take(raw, event) {
            Ok(()) => Ok(()),
            Err(Misfit::Guard(what)) => {
                wrong.push(what);
                Ok(())
            }
            Err(Misfit::Store(error)) => Err(trouble::of("check the events")(error)),
        }
    }

    fn stored(&self, raw: &Raw) -> SqlResult<Stored> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT ",
            column::stored_columns!(),
            " WHERE e.ordinal = ?1"
        ))?;
        statement.query_row(params![raw.ordinal], |row| column::stored(row, 0))
    }

    /// Compares the derived tables with what the events gave. What follows from a newer event nobody can tell here, so
    /// the rows of its trace are left out.
    fn derived(&mut self) -> SqlResult<()> {
        for Table { name: table, columns, known } in TABLES {
            let rows = |from: &str, without: &str| {
                let sql = format!(
                    "SELECT count(*) FROM (SELECT {columns} FROM {from}.{table} WHERE {known}
                     EXCEPT SELECT {columns} FROM {without}.{table})"
                );
                self.connection.query_row(&sql, [], |row| column::unsigned(row, 0))
            };
            let (missing, extra) = (rows("temp", "main")?, rows("main", "temp")?);
            if missing + extra > 0 {
                self.note(StoreProblem::Derived { table, missing, extra });
            }
        }
        Ok(())
    }

    fn report(&mut self, step: StoreStep, done: u64, total: u64) {
        (self.progress)(StoreProgress { step, done, total });
    }
}

/// What `rebuild` makes again. Whatever else is derived is a table without rows of its own.
const INDEXES: [&str; 12] = [
    "acknowledgements_due",
    "confirmations_list",
    "confirmations_due",
    "events_place",
    "posts_due",
    "posts_name",
    "posts_stream",
    "questions_list",
    "questions_holder",
    "questions_trace",
    "questions_due",
    "records_due",
];

/// After so many findings a store needs a backup, not a longer list.
const MAX_PROBLEMS: usize = 1000;

/// How many events pass between two reports.
const EVENTS_PER_REPORT: u64 = 1000;
