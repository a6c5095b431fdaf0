//! Erasure: what the events of a trace say is gone is taken out of the rows, in the transaction that records it. What that
//! leaves behind in files is removed right after it, or when the store is opened the next time: the files of artifacts that
//! no event names any more, and the log, which has the pages as they were.

use demur_ledger::{entry::Address, erasure::Erasures, name::Sequence};
use rusqlite::{Connection, OptionalExtension as _, Result, Transaction, params};

use super::column::{self, number};
use crate::derived;

/// Takes everything out of the rows of a trace that its events say is gone. A snapshot may have been made of it.
pub(super) fn take_out(transaction: &Transaction<'_>, trace: i64) -> Result<()> {
    for event in gone(transaction, trace)? {
        let place = params![trace, number(event.number())];
        let mut artifact = transaction.prepare_cached(
            "SELECT artifact FROM events WHERE trace = ?1 AND sequence = ?2 AND length(artifact) > 0",
        )?;
        if let Some(address) = artifact.query_row(place, |row| column::digest(row, 0)).optional()? {
            let sql = "INSERT OR IGNORE INTO leftovers (artifact) VALUES (?1)";
            transaction.prepare_cached(sql)?.execute([address.as_bytes()])?;
        }
        for sql in [
            "UPDATE events SET content = x'', content_salt = x'' WHERE trace = ?1 AND sequence = ?2 AND length(content) > 0",
            "UPDATE events SET artifact = x'', artifact_salt = x''
             WHERE trace = ?1 AND sequence = ?2 AND length(artifact) > 0",
        ] {
            transaction.prepare_cached(sql)?.execute(place)?;
        }
    }
    transaction.prepare_cached("DELETE FROM snapshots WHERE trace = ?1")?.execute([trace])?;
    Ok(())
}

/// Returns the artifacts whose files are to be removed.
pub(super) fn leftovers(connection: &Connection) -> Result<Vec<Address>> {
    let mut statement = connection.prepare_cached("SELECT artifact FROM leftovers")?;
    let rows = statement.query_map([], |row| column::digest(row, 0).map(Address::from_digest))?;
    rows.collect()
}

/// Returns whether an event names this artifact.
pub(super) fn is_named(connection: &Connection, address: &Address) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM events WHERE artifact = ?1")?;
    statement.exists([address.as_digest().as_bytes()])
}

/// Takes note that the file of an artifact is gone, or is another event's.
pub(super) fn settle(connection: &Connection, address: &Address) -> Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM leftovers WHERE artifact = ?1")?;
    statement.execute([address.as_digest().as_bytes()]).map(|_| ())
}

/// Returns the events of a trace whose words its events say are gone.
fn gone(transaction: &Transaction<'_>, trace: i64) -> Result<Vec<Sequence>> {
    let mut statement =
        transaction.prepare_cached("SELECT bytes FROM events WHERE trace = ?1 ORDER BY sequence")?;
    let mut rows = statement.query([trace])?;
    let (mut erasures, mut at) = (Erasures::new(), Sequence::FIRST);
    while let Some(row) = rows.next()? {
        derived::note_erasures(&mut erasures, at, row.get_ref(0)?.as_blob()?);
        at = at.next();
    }
    Ok(erasures.erased().collect())
}
