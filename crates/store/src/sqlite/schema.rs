//! The tables of a store, from one file, and its version as the file's `user_version`. Databases of earlier builds are
//! refused: nobody has one.

use std::{fs::File, io::Read as _, path::Path};

use rusqlite::{Connection, TransactionBehavior};

use super::trouble;
use crate::{
    contract::StoreError,
    folder::{io_trouble, shown},
};

/// The version this code writes and reads.
pub const VERSION: u32 = 6;

/// Refuses a file that cannot be one of ours, before SQLite touches it.
pub(super) fn inspect(path: &Path) -> Result<(), StoreError> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(io_trouble("open the database"))?;
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(io_trouble("read the database"))?;
    if start.is_empty() {
        return Err(StoreError::Corrupt { what: format!("{} is empty", shown(path)) });
    }
    if start != MAGIC {
        return Err(foreign(path, "it does not begin as one"));
    }
    Ok(())
}

/// Refuses a database that is foreign, newer, or of an earlier build.
pub(super) fn expect(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let pragma = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(trouble::of("read the version"))
    };
    let (application, found): (u32, u32) = (pragma("application_id")?, pragma("user_version")?);
    match found {
        _ if application != APPLICATION => Err(foreign(path, "it belongs to another program")),
        0 => Err(foreign(path, "it belongs to another program")),
        VERSION => Ok(()),
        1..VERSION => Err(StoreError::Older { found, known: VERSION }),
        _ => Err(StoreError::Newer { found, known: VERSION }),
    }
}

/// Makes the tables in a new database: all of them, or none.
pub(super) fn create(connection: &mut Connection) -> Result<(), StoreError> {
    fill(connection, include_str!("schema.sql"))
}

fn fill(connection: &mut Connection, sql: &str) -> Result<(), StoreError> {
    let creating = || trouble::of("create the database");
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(creating())?;
    transaction.execute_batch(sql).map_err(creating())?;
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(creating())?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(creating())?;
    transaction.commit().map_err(creating())
}

fn foreign(path: &Path, why: &str) -> StoreError {
    let what = format!("{} is not a database of demur: {why}; name another folder", shown(path));
    StoreError::Foreign { what }
}

/// What every SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// "dmur": tells tools what the file is, and us that it is ours.
const APPLICATION: u32 = u32::from_be_bytes(*b"dmur");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_schema_is_none() {
        let mut connection = Connection::open_in_memory().unwrap();
        fill(&mut connection, "CREATE TABLE one (a) STRICT; CREATE TABLE").unwrap_err();
        let tables: u32 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!((tables, found), (0, 0));
    }
}
