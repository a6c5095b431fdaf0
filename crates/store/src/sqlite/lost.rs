//! What a store has lost, as far as that is known or seen at a glance: marks of earlier checks, and artifacts without a file.

use demur_core::hash::Digest;
use demur_ledger::{
    entry::Address,
    name::{Sequence, TraceId},
};
use rusqlite::{Connection, OptionalExtension as _, Result as SqlResult, params};

use super::{SqliteStore, column, connection, trouble};
use crate::contract::{Failure, StoreError};

/// An artifact that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostArtifact {
    /// The trace of the first event that names it.
    pub trace: TraceId,
    /// That event.
    pub sequence: Sequence,
    /// Whether there is a file, which holds other bytes.
    pub damaged: bool,
}

impl SqliteStore {
    /// Returns artifacts that have no file, up to so many. No file is read.
    pub fn lost_artifacts(&self, limit: usize) -> Result<Vec<LostArtifact>, StoreError> {
        let looking = || trouble::of("look for artifacts");
        let connection = connection::examiner(&self.folder.database()).map_err(looking())?;
        let mut lost = Vec::new();
        for address in addresses(&connection).map_err(looking())? {
            if lost.len() >= limit {
                break;
            }
            if !self.artifacts.has(&address)? {
                lost.extend(place(&connection, &address, false).map_err(looking())?);
            }
        }
        Ok(lost)
    }

    /// Returns the traces that were found damaged, up to so many.
    pub fn marked_traces(&self, limit: usize) -> Result<Vec<(TraceId, Failure)>, StoreError> {
        let looking = || trouble::of("look for damaged traces");
        let connection = connection::examiner(&self.folder.database()).map_err(looking())?;
        let read = || -> SqlResult<Vec<_>> {
            let sql = "SELECT t.trace, f.sequence, f.code FROM failures f JOIN traces t ON t.id = f.trace
                       ORDER BY f.trace LIMIT ?1";
            let mut statement = connection.prepare(sql)?;
            let marks = statement.query_map([column::limit(limit)], |row| {
                let sequence = row.get::<_, Option<i64>>(1)?.map(|_| column::sequence(row, 1)).transpose()?;
                Ok((column::trace(row, 0)?, Failure { sequence, code: row.get(2)? }))
            })?;
            marks.collect()
        };
        read().map_err(looking())
    }
}

/// Returns the first event that names an artifact.
pub(super) fn place(
    connection: &Connection,
    address: &Address,
    damaged: bool,
) -> SqlResult<Option<LostArtifact>> {
    let sql = "SELECT t.trace, e.sequence FROM events e JOIN traces t ON t.id = e.trace
               WHERE e.artifact = ?1 ORDER BY e.ordinal LIMIT 1";
    let place = connection.query_row(sql, params![address.as_digest().as_bytes()], |row| {
        Ok(LostArtifact { trace: column::trace(row, 0)?, sequence: column::sequence(row, 1)?, damaged })
    });
    place.optional()
}

/// Returns every artifact that an event names and that was not erased.
pub(super) fn addresses(connection: &Connection) -> SqlResult<Vec<Address>> {
    let sql = "SELECT DISTINCT artifact FROM events WHERE length(artifact) > 0 ORDER BY artifact";
    let mut statement = connection.prepare(sql)?;
    let address = |bytes| Address::from_digest(Digest::from_bytes(bytes));
    statement.query_map([], |row| row.get(0).map(address))?.collect()
}
