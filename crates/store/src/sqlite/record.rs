//! Records as they are read; `commit` changes them.

use demur_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

use super::column::{self, number};
use crate::contract::{KeptRecord, RecordKey, RecordValue, Version};

/// What [`kept`] reads.
macro_rules! record {
    ($condition:literal) => {
        concat!("SELECT key, value, expires, version FROM records ", $condition)
    };
}

/// Returns the record with this key.
pub(super) fn record(connection: &Connection, key: &RecordKey) -> Result<Option<KeptRecord>> {
    connection.prepare_cached(ONE)?.query_row([key.as_str()], kept).optional()
}

/// Returns the records whose keys begin so, after a key.
pub(super) fn page(
    connection: &Connection,
    prefix: &str,
    after: Option<&RecordKey>,
    limit: usize,
) -> Result<Vec<KeptRecord>> {
    let mut statement = connection.prepare_cached(PAGE)?;
    // No key is empty.
    let after = after.map_or("", RecordKey::as_str);
    let records = statement.query_map(params![prefix, after, column::limit(limit)], kept)?;
    // Keys that begin so stand together.
    records.take_while(|record| begins(record, prefix)).collect()
}

/// Returns the records whose keys begin so and that are due, the earliest first.
pub(super) fn due(
    connection: &Connection,
    prefix: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<KeptRecord>> {
    let mut statement = connection.prepare_cached(DUE)?;
    let records = statement.query_map([number(now.as_millis())], kept)?;
    records.filter(|record| begins(record, prefix)).take(limit).collect()
}

/// An error is no end of a list.
fn begins(record: &Result<KeptRecord>, prefix: &str) -> bool {
    record.as_ref().map_or(true, |record| record.key.as_str().starts_with(prefix))
}

fn kept(row: &Row<'_>) -> Result<KeptRecord> {
    Ok(KeptRecord {
        key: RecordKey::new(row.get::<_, String>(0)?).map_err(column::wrong(0))?,
        value: RecordValue {
            bytes: row.get(1)?,
            expires: row.get::<_, Option<i64>>(2)?.map(|_| column::time(row, 2)).transpose()?,
        },
        version: Version::new(column::unsigned(row, 3)?),
    })
}

const ONE: &str = record!("WHERE key = ?1");
const PAGE: &str = record!("WHERE key >= ?1 AND key > ?2 ORDER BY key LIMIT ?3");
const DUE: &str = record!("INDEXED BY records_due WHERE expires <= ?1 ORDER BY expires, key");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn no_query_scans_or_sorts() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::create(&mut connection).unwrap();
        for sql in [ONE, PAGE, DUE] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps: Vec<String> =
                statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap();
            assert!(
                steps.len() == 1 && steps[0].starts_with("SEARCH records USING INDEX"),
                "{sql}: {steps:?}"
            );
        }
    }
}
