//! The derived tables, filled again from the events: into the database to rebuild them, or into temporary tables
//! to compare them.

use std::{collections::BTreeMap, fmt::Display};

use demur_core::{key::Fingerprint, time::Timestamp};
use demur_ledger::{
    envelope::Event,
    event_type::TraceKind,
    name::{Position, Sequence, TraceId},
    newer::{NewerEvent, Reading},
    state::GuardError,
    trace_state::TraceState,
};
use rusqlite::{Connection, Result, Row, params};

use super::{
    column::{self, number, ulid},
    participant, question, trouble,
};
use crate::{
    contract::{QuestionRow, StoreError},
    derived,
};

/// The tables that follow from events, each with a list of all its columns.
pub(super) const TABLES: [(&str, &str); 5] = [
    ("commands", "key, command, event"),
    ("key_changes", "fingerprint, sequence"),
    ("runs", "trace, phase"),
    ("participants", "trace, principal, role"),
    ("questions", "ordinal, trace, sequence, outcome, severity, people, asker, deadline, changed"),
];

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

/// Drops and refills the derived tables. An event that cannot be folded stops it: that is damage, or a newer version's.
pub(super) fn rebuild(connection: &Connection) -> Result<(), StoreError> {
    for (table, _) in TABLES {
        let sql = format!("DELETE FROM main.{table}");
        connection.execute(&sql, []).map_err(trouble::of("rebuild"))?;
    }
    let mut refill = Refill::new(connection, "main");
    walk(connection, |raw| {
        let event = match Reading::of(&raw.bytes, &raw.position.hash) {
            Reading::Known(event) => event,
            Reading::Newer(event) => return Err(newer(raw, &event)),
            Reading::Damaged => return Err(unreadable(raw)),
        };
        match refill.take(raw, &event) {
            Ok(()) => Ok(()),
            Err(Misfit::Guard(what)) => Err(damaged(raw, &what)),
            Err(Misfit::Store(error)) => Err(trouble::of("rebuild")(error)),
        }
    })?;
    refill.finish().map_err(trouble::of("rebuild"))
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

/// Derived rows in the making.
pub(super) struct Refill<'a> {
    connection: &'a Connection,
    schema: &'static str,
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
            Some((_, Some(state))) => state.apply(event),
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
    /// Returns a refill of the tables in this schema, which are empty.
    pub(super) fn new(connection: &'a Connection, schema: &'static str) -> Self {
        Self { connection, schema, folding: Folding::default(), keys: BTreeMap::new() }
    }

    /// Takes the next event of [`walk`]. After a misfit the rest of its trace is passed over.
    pub(super) fn take(&mut self, raw: &Raw, event: &Event) -> Result<(), Misfit> {
        if let Some((key, command)) = derived::command(event) {
            let sql =
                format!("INSERT INTO {}.commands (key, command, event) VALUES (?1, ?2, ?3)", self.schema);
            let key = key.as_digest().as_bytes();
            self.connection.prepare_cached(&sql)?.execute(params![
                key,
                ulid(command.as_ulid()),
                raw.ordinal
            ])?;
        }
        if raw.kind == TraceKind::Registry {
            let at = raw.position.sequence;
            self.keys.extend(derived::changed_keys(event).into_iter().map(|key| (key, at)));
            return Ok(());
        }
        if raw.position.sequence == Sequence::FIRST {
            for participant in derived::participants(event) {
                participant::put(self.connection, self.schema, raw.id, participant)?;
            }
        }
        self.fold(raw, event)
    }

    /// Passes over the rest of a trace that nobody can fold here.
    pub(super) fn pass_over(&mut self, raw: &Raw) -> Result<()> {
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
        let sql = format!("INSERT INTO {}.key_changes (fingerprint, sequence) VALUES (?1, ?2)", self.schema);
        let mut statement = self.connection.prepare_cached(&sql)?;
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
            let sql = format!("INSERT INTO {}.runs (trace, phase) VALUES (?1, ?2)", self.schema);
            self.connection.prepare_cached(&sql)?.execute(params![id, phase.as_str()])?;
        }
        write_questions(self.connection, self.schema, id, &state)
    }
}

fn write_questions(connection: &Connection, schema: &str, id: i64, state: &TraceState) -> Result<()> {
    let Some(questions) = state.questions() else { return Ok(()) };
    questions
        .iter()
        .try_for_each(|(at, asked)| question::refill(connection, schema, id, at, &QuestionRow::from(asked)))
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

fn newer(raw: &Raw, event: &NewerEvent<'_>) -> StoreError {
    let (trace, sequence, newer) = (raw.trace, raw.position.sequence, event.newer().clone());
    match raw.kind {
        TraceKind::Registry => StoreError::RegistryNewer { sequence, newer },
        TraceKind::Run | TraceKind::Work => StoreError::TraceNewer { trace, sequence, newer },
    }
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
