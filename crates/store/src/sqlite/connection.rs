//! Connections: one that writes, some that read, and what each is told on opening.

use std::{
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, MAIN_DB, OpenFlags, Result, config::DbConfig};

use super::trouble;
use crate::contract::StoreError;

/// Returns the connection that writes. The database must be there.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // FULL: every commit is synced before it returns. The log is checkpointed by a thread of its own.
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA cache_size = -16384;
         PRAGMA recursive_triggers = ON;
         PRAGMA secure_delete = ON;",
    )?;
    Ok(connection)
}

/// Returns the connection to the database of secrets, which has a rollback journal. The database must be there.
pub(super) fn secrets(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // EXTRA: when a commit returns, the journal with what was there before is gone for good.
    connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON;")?;
    Ok(connection)
}

/// Turns the write-ahead log on; it stays on in the file.
pub(super) fn use_log(connection: &Connection) -> Result<bool> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    Ok(mode == "wal")
}

/// Returns whether the file could only be opened for reading.
pub(super) fn is_read_only(connection: &Connection) -> Result<bool> {
    connection.is_readonly(MAIN_DB)
}

/// Returns a connection that can only read.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let connection = match open_to_read(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        // Where nothing can be written no log can be begun, not even to look into it. A database without one is whole.
        Err(_) if !has_log(path) => {
            let uri = PathBuf::from(format!("file:{}?immutable=1", in_uri(path)));
            open_to_read(&uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?
        }
        opened => opened?,
    };
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -4096;")?;
    Ok(connection)
}

/// Returns a connection that has looked into the file.
fn open_to_read(path: &Path, mode: OpenFlags) -> Result<Connection> {
    let connection = open(path, mode)?;
    let _: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(connection)
}

/// Returns a connection that reads the store and may make temporary tables, on the disk where they are large.
pub(super) fn examiner(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.execute_batch("PRAGMA temp_store = FILE; PRAGMA cache_size = -16384;")?;
    Ok(connection)
}

/// Returns whether something is left in the log of a database.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Returns a path as it stands in a URI.
fn in_uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let part = |byte: &u8| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    path.as_os_str().as_bytes().iter().map(part).collect()
}

fn open(path: &Path, mode: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Plans do not depend on values: else a statement may be prepared anew each time a value is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // No memory map: a failing disk would end the process by a signal instead of an error.
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA cell_size_check = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;",
    )?;
    Ok(connection)
}

/// Connections that read, kept for the next reader.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// Returns the readers of a database; none is opened yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::new(Vec::new()) }
    }

    /// Runs a query. Every query is one statement or one transaction, and so sees one moment.
    pub(super) fn read<T>(
        &self,
        action: &'static str,
        query: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T, StoreError> {
        let connection = match self.lock().pop() {
            Some(connection) => connection,
            None => reader(&self.path).map_err(trouble::of(action))?,
        };
        let answer = query(&connection);
        let mut idle = self.lock();
        if idle.len() < MAX_IDLE_READERS {
            idle.push(connection);
        }
        drop(idle);
        answer.map_err(trouble::of(action))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // A list of connections is whole whatever happened to its last user.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long another program may hold the database before we say so.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// More than the store has statements, so that each is prepared once per connection.
const MAX_CACHED_STATEMENTS: usize = 64;

/// How many readers are kept open when nobody reads.
const MAX_IDLE_READERS: usize = 8;
