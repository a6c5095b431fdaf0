//! Migrations: numbered files, forward only, each in a transaction of its own. A file that was released is
//! never edited. The number of the last one is the file's `user_version`.

use std::{fs::File, io::Read as _, path::Path};

use rusqlite::{Connection, TransactionBehavior};

use super::{derive, trouble};
use crate::{
    contract::StoreError,
    folder::{io_trouble, shown},
};

/// The newest version this code knows.
pub const VERSION: u32 = 2;

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

/// Returns the version of a database of ours; refuses a foreign one and a newer one.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let pragma = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(trouble::of("read the version"))
    };
    let (application, found): (u32, u32) = (pragma("application_id")?, pragma("user_version")?);
    if application != APPLICATION || found == 0 {
        return Err(foreign(path, "it belongs to another program"));
    }
    if found > VERSION {
        return Err(StoreError::Newer { found, known: VERSION });
    }
    Ok(found)
}

/// Brings a database from its version to the newest; a new one has version 0.
pub(super) fn migrate(connection: &mut Connection, from: u32) -> Result<(), StoreError> {
    let migrations = (1..).zip(MIGRATIONS).skip(from as usize);
    migrations.into_iter().try_for_each(|(number, migration)| step(connection, number, migration))
}

fn step(connection: &mut Connection, number: u32, migration: Migration) -> Result<(), StoreError> {
    let migrating = || trouble::of("migrate the database");
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(migrating())?;
    transaction.execute_batch(migration.sql).map_err(migrating())?;
    (migration.fill)(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(migrating())?;
    transaction.pragma_update(None, "user_version", number).map_err(migrating())?;
    transaction.commit().map_err(migrating())
}

fn foreign(path: &Path, why: &str) -> StoreError {
    let what = format!("{} is not a database of demur: {why}; name another folder", shown(path));
    StoreError::Foreign { what }
}

/// What every SQLite database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// "dmur": tells tools what the file is, and us that it is ours.
const APPLICATION: u32 = u32::from_be_bytes(*b"dmur");

/// One step from a version to the next.
#[derive(Clone, Copy)]
struct Migration {
    sql: &'static str,
    /// Fills what is derived from the events that are there, in the same transaction.
    fill: fn(&Connection) -> Result<(), StoreError>,
}

const MIGRATIONS: [Migration; VERSION as usize] = [
    Migration { sql: include_str!("0001_ledger.sql"), fill: |_| Ok(()) },
    Migration { sql: include_str!("0002_questions.sql"), fill: derive::fill_questions },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement = connection.prepare("SELECT sql FROM sqlite_schema ORDER BY name").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        rows.map(|row| row.unwrap().unwrap_or_default()).collect()
    }

    #[test]
    fn every_earlier_version_becomes_the_newest() {
        let mut fresh = Connection::open_in_memory().unwrap();
        migrate(&mut fresh, 0).unwrap();
        for version in 0..=VERSION {
            let mut old = Connection::open_in_memory().unwrap();
            for (number, migration) in (1..=version).zip(MIGRATIONS) {
                step(&mut old, number, migration).unwrap();
            }
            migrate(&mut old, version).unwrap();
            assert_eq!(schema(&old), schema(&fresh), "from version {version}");
            let found: u32 = old.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(found, VERSION);
        }
    }

    #[test]
    fn failed_migration_leaves_the_version_before_it() {
        let mut connection = Connection::open_in_memory().unwrap();
        let half = Migration { sql: "CREATE TABLE one (a) STRICT; CREATE TABLE", fill: |_| Ok(()) };
        let unfilled = Migration { sql: "CREATE TABLE one (a) STRICT", fill: |_| Err(StoreError::Full) };
        for migration in [half, unfilled] {
            step(&mut connection, 1, migration).unwrap_err();
            assert_eq!(schema(&connection), Vec::<String>::new());
            let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(found, 0);
        }
    }
}
