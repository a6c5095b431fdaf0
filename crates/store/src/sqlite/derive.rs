//! The derived tables, filled again from the events into temporary tables: to compare them, or to put them in the place of
//! what is there.

use std::{collections::BTreeMap, fmt::Display};

use demur_core::{key::Fingerprint, time::Timestamp};
use demur_ledger::{
    envelope::Event,
    event_type::TraceKind,
    meaning::Known,
    name::{Position, Sequence, TraceId},
    newer::Reading,
    state::GuardError,
    trace_state::TraceState,
};
use rusqlite::{Connection, Result, Row, params};

use super::{
    column::{self, number, ulid},
    confirmation, participant, question, trouble,
};
use crate::{
    contract::{ConfirmationRow, QuestionRow, StoreError},
    derived,
};

/// A table that follows from events.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// All its columns.
    pub(super) columns: &'static str,
    /// Which rows follow from events that are known here: none of a trace that a newer version went on with.
    pub(super) known: &'static str,
}

pub(super) const TABLES: [Table; 6] = [
    Table {
        name: "commands",
        columns: "key, command, event",
        known: "event NOT IN (SELECT e.ordinal FROM main.events e JOIN temp.newer n ON n.trace = e.trace)",
    },
    Table {
        name: "key_changes",
        columns: "fingerprint, sequence",
        known: "NOT EXISTS (SELECT 1 FROM temp.newer n JOIN main.traces t ON t.id = n.trace WHERE t.kind = 'registry')",
    },
    Table { name: "runs", columns: "trace, phase", known: OF_A_KNOWN_TRACE },
    Table { name: "participants", columns: "trace, principal, role", known: OF_A_KNOWN_TRACE },
    Table {
        name: "questions",
        columns: "ordinal, trace, sequence, outcome, severity, people, asker, submitter, deadline, changed",
        known: OF_A_KNOWN_TRACE,
    },
    Table {
        name: "confirmations",
        columns: "ordinal, trace, sequence, outcome, spent, people, asker, deadline, changed",
        known: OF_A_KNOWN_TRACE,
    },
];

const OF_A_KNOWN_TRACE: &str = "trace NOT IN (SELECT trace FROM temp.newer)";

/// One row of events, as it stands in the database.
pub(super) struct Raw {
    pub(super) ordinal: i64,
    /// The number of the trace inside the database.
    pub(super) id: i64,
    pub(super) trace: TraceId,
    pub(super) kind: TraceKind,
    pub(super) position: Position,
    pub(super) time: Timestamp,
    pub(super) bytes: Vec<u8>,
}

/// Makes the derived rows again. An event that cannot be folded stops it: that is damage. Rows of a trace that a newer
/// version went on with stay as they are.
pub(super) fn rebuild(connection: &Connection) -> Result<(), StoreError> {
    let rebuilding = || trouble::of("rebuild");
    let mut refill = Refill::begin(connection).map_err(rebuilding())?;
    walk(connection, |raw| {
        let event = match Reading::of(&raw.bytes, &raw.position.hash) {
            Reading::Known(event) => event,
            Reading::Newer(_) => return refill.pass_over(raw).map_err(rebuilding()),
            Reading::Damaged => return Err(unreadable(raw)),
        };
        match refill.take(raw, &event) {
            Ok(()) => Ok(()),
            Err(Misfit::Guard(what)) => Err(damaged(raw, &what)),
            Err(Misfit::Store(error)) => Err(rebuilding()(error)),
        }
    })?;
    refill.finish().and_then(|()| exchange(connection)).map_err(rebuilding())
}

/// Puts what was refilled in the place of what was there.
fn exchange(connection: &Connection) -> Result<()> {
    for Table { name, columns, known } in TABLES {
        connection.execute_batch(&format!(
            "DELETE FROM main.{name} WHERE {known};
             INSERT INTO main.{name} ({columns}) SELECT {columns} FROM temp.{name} WHERE {known};
             DROP TABLE temp.{name};"
        ))?;
    }
    connection.execute_batch("DROP TABLE temp.newer")
}

/// Visits every event, trace by trace and in order.
pub(super) fn walk(
    connection: &Connection,
    mut visit: impl FnMut(&Raw) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let read = || trouble::of("read the events");
    let mut statement = connection
        .prepare(
            "SELECT e.ordinal, t.id, t.trace, t.kind, e.sequence, e.hash, e.time, e.bytes
             FROM main.events e JOIN main.traces t ON t.id = e.trace ORDER BY e.trace, e.sequence",
        )
        .map_err(read())?;
    let mut rows = statement.query([]).map_err(read())?;
    while let Some(row) = rows.next().map_err(read())? {
        visit(&raw(row).map_err(read())?)?;
    }
    Ok(())
}

/// Derived rows in the making, in temporary tables; `newer` has the traces whose rows nobody can make here.
pub(super) struct Refill<'a> {
    connection: &'a Connection,
    folding: Folding,
    keys: BTreeMap<Fingerprint, Sequence>,
}

/// The trace that is being folded; its state is missing once an event did not fit.
#[derive(Default)]
struct Folding(Option<(i64, Option<TraceState>)>);

impl Folding {
    /// Makes ready for an event of this trace. Returns the trace before it, if that was another and is whole.
    fn begin(&mut self, id: i64) -> Option<(i64, TraceState)> {
        if self.0.as_ref().is_some_and(|(open, _)| *open == id) {
            return None;
        }
        let before = self.end();
        self.0 = Some((id, Some(TraceState::New)));
        before
    }

    /// Folds the next event. After one that does not fit the rest of its trace is passed over.
    fn apply(&mut self, event: &Event) -> Result<(), GuardError> {
        let applied = match &mut self.0 {
            Some((_, Some(state))) => state.follow(event, Known::NOTHING).map(drop),
            _ => Ok(()),
        };
        applied.inspect_err(|_| self.give_up())
    }

    /// Passes over the rest of the trace.
    fn give_up(&mut self) {
        if let Some((_, state)) = &mut self.0 {
            *state = None;
        }
    }

    /// Returns the last trace, if it is whole.
    fn end(&mut self) -> Option<(i64, TraceState)> {
        let (id, state) = self.0.take()?;
        Some((id, state?))
    }
}

/// An event that derived rows cannot be made from.
pub(super) enum Misfit {
    /// The event does not follow from those before it.
    Guard(String),
    /// The database failed.
    Store(rusqlite::Error),
}

impl From<rusqlite::Error> for Misfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error)
    }
}

impl<'a> Refill<'a> {
    /// Makes the temporary tables.
    pub(super) fn begin(connection: &'a Connection) -> Result<Self> {
        connection.execute_batch("CREATE TEMP TABLE newer (trace INTEGER PRIMARY KEY)")?;
        for Table { name, columns, .. } in TABLES {
            let sql = format!("CREATE TEMP TABLE {name} AS SELECT {columns} FROM main.{name} WHERE false");
            connection.execute_batch(&sql)?;
        }
        Ok(Self { connection, folding: Folding::default(), keys: BTreeMap::new() })
    }

    /// Takes the next event of [`walk`]. After a misfit the rest of its trace is passed over.
    pub(super) fn take(&mut self, raw: &Raw, event: &Event) -> Result<(), Misfit> {
        if let Some((key, command)) = derived::command(event) {
            let sql = "INSERT INTO temp.commands (key, command, event) VALUES (?1, ?2, ?3)";
            let row = params![key.as_digest().as_bytes(), ulid(command.as_ulid()), raw.ordinal];
            self.connection.prepare_cached(sql)?.execute(row)?;
        }
        if raw.kind == TraceKind::Registry {
            let at = raw.position.sequence;
            self.keys.extend(derived::changed_keys(event).into_iter().map(|key| (key, at)));
            return Ok(());
        }
        if raw.position.sequence == Sequence::FIRST {
            for participant in derived::participants(event) {
                participant::put(self.connection, "temp", raw.id, participant)?;
            }
        }
        self.fold(raw, event)
    }

    /// Passes over the rest of a trace that nobody can fold here, and over its rows.
    pub(super) fn pass_over(&mut self, raw: &Raw) -> Result<()> {
        self.connection.prepare_cached("INSERT OR IGNORE INTO temp.newer VALUES (?1)")?.execute([raw.id])?;
        if let Some(before) = self.folding.begin(raw.id) {
            self.write(before)?;
        }
        self.folding.give_up();
        Ok(())
    }

    /// Writes what only the end shows.
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(last) = self.folding.end() {
            self.write(last)?;
        }
        let sql = "INSERT INTO temp.key_changes (fingerprint, sequence) VALUES (?1, ?2)";
        let mut statement = self.connection.prepare_cached(sql)?;
        for (key, sequence) in &self.keys {
            statement.execute(params![key.as_digest().as_bytes(), number(sequence.number())])?;
        }
        Ok(())
    }

    fn fold(&mut self, raw: &Raw, event: &Event) -> Result<(), Misfit> {
        if let Some(before) = self.folding.begin(raw.id) {
            self.write(before)?;
        }
        self.folding.apply(event).map_err(|error| Misfit::Guard(error.to_string()))
    }

    fn write(&self, (id, state): (i64, TraceState)) -> Result<()> {
        // Only a run has phases.
        if let Some(phase) = state.phase() {
            let sql = "INSERT INTO temp.runs (trace, phase) VALUES (?1, ?2)";
            self.connection.prepare_cached(sql)?.execute(params![id, phase.as_str()])?;
        }
        write_questions(self.connection, id, &state)?;
        write_confirmations(self.connection, id, &state)
    }
}

fn write_questions(connection: &Connection, id: i64, state: &TraceState) -> Result<()> {
    let Some(questions) = state.questions() else { return Ok(()) };
    questions
        .iter()
        .try_for_each(|(at, asked)| question::refill(connection, id, at, &QuestionRow::from(asked)))
}

fn write_confirmations(connection: &Connection, id: i64, state: &TraceState) -> Result<()> {
    let Some(confirmations) = state.confirmations() else { return Ok(()) };
    confirmations
        .iter()
        .try_for_each(|(at, asked)| confirmation::refill(connection, id, at, &ConfirmationRow::from(asked)))
}

fn raw(row: &Row<'_>) -> Result<Raw> {
    Ok(Raw {
        ordinal: row.get(0)?,
        id: row.get(1)?,
        trace: column::trace(row, 2)?,
        kind: column::kind(row, 3)?,
        position: column::position(row, 4)?,
        time: column::time(row, 6)?,
        bytes: row.get(7)?,
    })
}

fn unreadable(raw: &Raw) -> StoreError {
    match Event::parse(&raw.bytes) {
        Err(error) => damaged(raw, &error),
        Ok(_) => damaged(raw, &"its bytes do not have its hash"),
    }
}

fn damaged(raw: &Raw, what: &dyn Display) -> StoreError {
    let what = format!("event {} of trace {}: {what}", raw.position.sequence, raw.trace);
    StoreError::Corrupt { what }
}
