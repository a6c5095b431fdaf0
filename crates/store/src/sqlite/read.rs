//! The queries. Each is one statement, and so sees one moment of the store.

use std::ops::RangeInclusive;

use demur_core::{hash::Digest, key::Fingerprint};
use demur_ledger::{
    event_type::TraceKind,
    name::{CommandId, Position, Sequence, TraceId},
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

use super::column::{self, number, stored_columns, ulid};
use crate::contract::{Cursor, Failure, Performed, Snapshot, Stored, TraceSummary};

/// The ordinal of the newest event of trace `t`, read from the index.
macro_rules! newest_event {
    () => {
        "(SELECT ordinal FROM events WHERE trace = t.id ORDER BY sequence DESC LIMIT 1)"
    };
}

/// The columns of a summary.
macro_rules! summary {
    () => {
        concat!(
            "SELECT t.trace, t.kind, t.opened, e.sequence, e.hash, e.time, r.phase, f.sequence, f.code
             FROM traces t
             JOIN events e ON e.ordinal = ",
            newest_event!(),
            " LEFT JOIN runs r ON r.trace = t.id
              LEFT JOIN failures f ON f.trace = t.id"
        )
    };
}

pub(super) fn trace(connection: &Connection, trace: TraceId) -> Result<Option<TraceSummary>> {
    let mut statement = connection.prepare_cached(concat!(summary!(), " WHERE t.trace = ?1"))?;
    statement.query_row([ulid(trace.as_ulid())], summary).optional()
}

pub(super) fn traces(
    connection: &Connection,
    after: Option<TraceId>,
    limit: usize,
) -> Result<Vec<TraceSummary>> {
    let limit = column::limit(limit);
    let Some(after) = after else {
        let sql = concat!(summary!(), " ORDER BY t.id DESC LIMIT ?1");
        return connection.prepare_cached(sql)?.query_map([limit], summary)?.collect();
    };
    let sql = concat!(
        summary!(),
        " WHERE t.id < (SELECT id FROM traces WHERE trace = ?1) ORDER BY t.id DESC LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map(params![ulid(after.as_ulid()), limit], summary)?.collect()
}

pub(super) fn traces_between(
    connection: &Connection,
    ids: &RangeInclusive<TraceId>,
    limit: usize,
) -> Result<Vec<(TraceId, TraceKind)>> {
    let mut statement = connection.prepare_cached(BETWEEN)?;
    let parameters = params![ulid(ids.start().as_ulid()), ulid(ids.end().as_ulid()), column::limit(limit)];
    statement.query_map(parameters, |row| Ok((column::trace(row, 0)?, column::kind(row, 1)?)))?.collect()
}

pub(super) fn newest(connection: &Connection) -> Result<Option<TraceId>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.trace FROM events e JOIN traces t ON t.id = e.trace
         WHERE t.kind <> 'registry' ORDER BY e.ordinal DESC LIMIT 1",
    )?;
    statement.query_row([], |row| column::trace(row, 0)).optional()
}

pub(super) fn registry(connection: &Connection) -> Result<Option<TraceId>> {
    let mut statement = connection.prepare_cached("SELECT trace FROM traces WHERE kind = 'registry'")?;
    statement.query_row([], |row| column::trace(row, 0)).optional()
}

pub(super) fn events(
    connection: &Connection,
    trace: TraceId,
    from: Sequence,
    limit: usize,
) -> Result<Vec<Stored>> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        stored_columns!(),
        " WHERE e.trace = (SELECT id FROM traces WHERE trace = ?1) AND e.sequence >= ?2
          ORDER BY e.sequence LIMIT ?3"
    ))?;
    let parameters = params![ulid(trace.as_ulid()), number(from.number()), column::limit(limit)];
    statement.query_map(parameters, |row| column::stored(row, 0))?.collect()
}

pub(super) fn hash(connection: &Connection, trace: TraceId, sequence: Sequence) -> Result<Option<Digest>> {
    let mut statement = connection.prepare_cached(
        "SELECT hash FROM events
         WHERE trace = (SELECT id FROM traces WHERE trace = ?1) AND sequence = ?2",
    )?;
    let parameters = params![ulid(trace.as_ulid()), number(sequence.number())];
    statement.query_row(parameters, |row| column::digest(row, 0)).optional()
}

pub(super) fn command(
    connection: &Connection,
    key: &Fingerprint,
    command: CommandId,
) -> Result<Option<Performed>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.trace, e.bytes FROM commands c
         JOIN events e ON e.ordinal = c.event
         JOIN traces t ON t.id = e.trace
         WHERE c.key = ?1 AND c.command = ?2",
    )?;
    let parameters = params![key.as_digest().as_bytes(), ulid(command.as_ulid())];
    let performed = |row: &Row<'_>| Ok(Performed { trace: column::trace(row, 0)?, bytes: row.get(1)? });
    statement.query_row(parameters, performed).optional()
}

pub(super) fn command_beginning(
    connection: &Connection,
    key: &Fingerprint,
    beginning: u64,
) -> Result<Option<(CommandId, Performed)>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.command, t.trace, e.bytes FROM commands c
         JOIN events e ON e.ordinal = c.event
         JOIN traces t ON t.id = e.trace
         WHERE c.key = ?1 AND c.command BETWEEN ?2 AND ?3 ORDER BY c.command LIMIT 1",
    )?;
    let least = u128::from(beginning) << 64;
    let most = least | u128::from(u64::MAX);
    let parameters = params![key.as_digest().as_bytes(), least.to_be_bytes(), most.to_be_bytes()];
    let performed = |row: &Row<'_>| {
        Ok((column::command(row, 0)?, Performed { trace: column::trace(row, 1)?, bytes: row.get(2)? }))
    };
    statement.query_row(parameters, performed).optional()
}

pub(super) fn heads_at(connection: &Connection, cursor: Cursor) -> Result<Vec<(TraceId, Position)>> {
    // The index of places holds the ordinals too, so nothing else is read until the newest event is found.
    let mut statement = connection.prepare_cached(
        "SELECT t.trace, e.sequence, e.hash FROM traces t JOIN events e ON e.ordinal =
             (SELECT n.ordinal FROM events n WHERE n.trace = t.id AND n.ordinal <= ?1
              ORDER BY n.sequence DESC LIMIT 1)
         ORDER BY t.trace",
    )?;
    let head = |row: &Row<'_>| Ok((column::trace(row, 0)?, column::position(row, 1)?));
    statement.query_map([number(cursor.number())], head)?.collect()
}

pub(super) fn end(connection: &Connection) -> Result<Cursor> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(ordinal), 0) FROM events")?;
    statement.query_row([], |row| Ok(Cursor::from_number(column::unsigned(row, 0)?)))
}

pub(super) fn changes(connection: &Connection, after: Cursor, limit: usize) -> Result<Vec<(Cursor, Stored)>> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT e.ordinal, ",
        stored_columns!(),
        " WHERE e.ordinal > ?1 ORDER BY e.ordinal LIMIT ?2"
    ))?;
    let parameters = params![number(after.number()), column::limit(limit)];
    statement
        .query_map(parameters, |row| {
            Ok((Cursor::from_number(column::unsigned(row, 0)?), column::stored(row, 1)?))
        })?
        .collect()
}

pub(super) fn snapshot(connection: &Connection, trace: TraceId, version: u32) -> Result<Option<Snapshot>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.sequence, s.hash, s.version, s.bytes
         FROM snapshots s JOIN traces t ON t.id = s.trace WHERE t.trace = ?1 AND s.version = ?2",
    )?;
    let snapshot = |row: &Row<'_>| {
        Ok(Snapshot { head: column::position(row, 0)?, version: row.get(2)?, bytes: row.get(3)? })
    };
    statement.query_row(params![ulid(trace.as_ulid()), version], snapshot).optional()
}

fn summary(row: &Row<'_>) -> Result<TraceSummary> {
    let failed = match row.get::<_, Option<String>>(8)? {
        None => None,
        Some(code) => {
            let at = row.get::<_, Option<i64>>(7)?.map(|_| column::sequence(row, 7)).transpose()?;
            Some(Failure { sequence: at, code })
        }
    };
    Ok(TraceSummary {
        trace: column::trace(row, 0)?,
        kind: column::kind(row, 1)?,
        head: column::position(row, 3)?,
        opened: column::time(row, 2)?,
        changed: column::time(row, 5)?,
        phase: column::phase(row, 6)?,
        failed,
    })
}

/// Reads the index of ids from one to another.
const BETWEEN: &str = "SELECT trace, kind FROM traces WHERE trace BETWEEN ?1 AND ?2 ORDER BY trace LIMIT ?3";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn range_of_ids_is_searched_in_the_index() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::create(&mut connection).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {BETWEEN}")).unwrap();
        let steps: Vec<String> =
            statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap();
        assert!(steps.len() == 1 && steps[0].starts_with("SEARCH traces USING INDEX"), "{steps:?}");
    }
}
