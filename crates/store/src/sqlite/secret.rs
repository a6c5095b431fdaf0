//! Secret answers until they were delivered, in a database of their own.
//!
//! Apart from the ledger for three reasons: no backup can hold them, because none copies this file; a reader in the
//! middle of a long read holds the log of the ledger, and with it what was deleted; and emptying that log would cost
//! appends their speed. Here is no log: when a commit returns, its journal is gone, and what was deleted is zeros.

use std::{
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt as _,
    sync::{Mutex, MutexGuard, PoisonError},
};

use demur_core::commitment::Commitment;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{connection, trouble};
use crate::{
    contract::StoreError,
    folder::{Folder, io_trouble, sync_folder},
};

/// The secrets of a store. The file is there once there was one.
#[derive(Debug)]
pub(super) struct Secrets {
    folder: Folder,
    connection: Mutex<Option<Connection>>,
}

impl Secrets {
    /// Returns the secrets in this folder; nothing is touched.
    pub(super) const fn in_folder(folder: Folder) -> Self {
        Self { folder, connection: Mutex::new(None) }
    }

    /// Keeps a value, and nothing of the one before it. For the owner of the store only.
    pub(super) fn keep(&self, commitment: &Commitment, value: &[u8]) -> Result<(), StoreError> {
        let mut slot = self.lock();
        if slot.is_none() {
            *slot = Some(self.open_or_create()?);
        }
        let sql = "INSERT OR REPLACE INTO secrets (commitment, value) VALUES (?1, ?2)";
        let parameters = params![commitment.as_digest().as_bytes(), value];
        let Some(connection) = &*slot else { return Ok(()) };
        connection.execute(sql, parameters).map_err(trouble::of("keep a secret")).map(|_| ())
    }

    /// Forgets a value. For the owner of the store only.
    pub(super) fn forget(&self, commitment: &Commitment) -> Result<(), StoreError> {
        let mut slot = self.lock();
        if slot.is_none() && self.is_there()? {
            *slot = Some(self.open_or_create()?);
        }
        let Some(connection) = &*slot else { return Ok(()) };
        let sql = "DELETE FROM secrets WHERE commitment = ?1";
        let parameters = params![commitment.as_digest().as_bytes()];
        connection.execute(sql, parameters).map_err(trouble::of("forget a secret")).map(|_| ())
    }

    /// Returns a value. For whoever may read the folder.
    pub(super) fn read(&self, commitment: &Commitment) -> Result<Option<Vec<u8>>, StoreError> {
        let reading = || trouble::of("read a secret");
        let slot = self.lock();
        let opened;
        let connection = match &*slot {
            Some(connection) => connection,
            None if self.is_there()? => {
                opened = connection::reader(&self.folder.secrets()).map_err(reading())?;
                &opened
            }
            None => return Ok(None),
        };
        // Its owner may have made the file just now.
        if !connection.table_exists(None, "secrets").map_err(reading())? {
            return Ok(None);
        }
        let sql = "SELECT value FROM secrets WHERE commitment = ?1";
        let parameters = params![commitment.as_digest().as_bytes()];
        connection.query_row(sql, parameters, |row| row.get(0)).optional().map_err(reading())
    }

    fn is_there(&self) -> Result<bool, StoreError> {
        self.folder.secrets().try_exists().map_err(io_trouble("look for secrets"))
    }

    fn open_or_create(&self) -> Result<Connection, StoreError> {
        let path = self.folder.secrets();
        if !self.is_there()? {
            let create = || {
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
                sync_folder(self.folder.path())
            };
            create().map_err(io_trouble("create the database of secrets"))?;
        }
        let opening = || trouble::of("open the database of secrets");
        let connection = connection::secrets(&path).map_err(opening())?;
        connection.execute_batch(SCHEMA).map_err(opening())?;
        Ok(connection)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        // A connection is whole whatever happened to its last user.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS secrets (
    commitment BLOB PRIMARY KEY NOT NULL, -- which the event names that it belongs to
    value      BLOB NOT NULL
) STRICT, WITHOUT ROWID";
