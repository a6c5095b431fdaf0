//! Whether the index of places holds every event. SQLite keeps no checksums of its pages: without this look a bit that
//! flipped in the index could hide the newest events of a trace, and the next append would fork it.
//!
//! Ordinals count from 1 without gaps, and so do the places of each trace from 0. Both are read from the index alone
//! and held against the last ordinal of the table: one pass over the index and none over the events.

use rusqlite::{Connection, Result, Row};

use crate::contract::StoreError;

/// Returns whether every event stands in the index, in its place.
pub(super) fn hold(connection: &Connection) -> Result<bool> {
    // One statement: it sees one moment, whoever appends meanwhile.
    connection.query_row(
        "SELECT coalesce(sum(length), 0), coalesce(sum(ordinals), 0), coalesce(sum(first <> 0 OR last <> length - 1), 0),
                count(*), (SELECT count(*) FROM traces),
                (SELECT coalesce(max(ordinal), 0) FROM events NOT INDEXED)
         FROM (SELECT count(*) AS length, sum(ordinal) AS ordinals, min(sequence) AS first, max(sequence) AS last
               FROM events INDEXED BY events_place GROUP BY trace)",
        [],
        agree,
    )
}

/// Returns whether the table itself has every event: what is gone from it no index brings back.
pub(super) fn are_in_table(connection: &Connection) -> Result<bool> {
    connection.query_row(
        "SELECT count(*) = coalesce(max(ordinal), 0) AND count(DISTINCT trace) = (SELECT count(*) FROM main.traces)
         FROM main.events NOT INDEXED",
        [],
        |row| row.get(0),
    )
}

/// Returns the error of an index that does not hold every event.
pub(super) fn damage() -> StoreError {
    StoreError::Corrupt { what: "events are missing, in the table or in its index".to_owned() }
}

fn agree(row: &Row<'_>) -> Result<bool> {
    let (found, ordinals, gaps): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (traces, known, events): (i64, i64, i64) = (row.get(3)?, row.get(4)?, row.get(5)?);
    let expected = i128::from(events) * (i128::from(events) + 1) / 2;
    Ok(gaps == 0 && traces == known && found == events && i128::from(ordinals) == expected)
}
