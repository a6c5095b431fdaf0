//! Backups: a consistent copy of the database while appends go on, and the artifacts it names. Keys and other
//! secrets are never part of it.
//!
//! The copy has no `ledger.db` before everything else is in place and synced, so half a backup is no store.

use std::{fs, path::Path};

use demur_core::hash::Digest;
use demur_ledger::entry::Address;
use rusqlite::{Connection, Result as SqlResult};

use super::{SqliteStore, close, connection, trouble};
use crate::{
    artifacts::Artifacts,
    contract::{RESTORED, StoreError, StoreProgress, StoreStep},
    folder::{self, Folder, io_trouble, shown},
};

impl SqliteStore {
    /// Copies the store as of one moment into a folder that is empty or not there yet. Appends go on meanwhile.
    pub fn backup(&self, to: &Path, progress: &mut dyn FnMut(StoreProgress)) -> Result<(), StoreError> {
        let target = Folder::at(to);
        target.create()?;
        let mut files = fs::read_dir(to).map_err(io_trouble("read the folder of the backup"))?;
        if files.next().is_some() {
            let what = format!("expected an empty folder, found files in {}: name another", shown(to));
            return Err(StoreError::Foreign { what });
        }
        let _lock = target.lock()?;
        self.copy(&target, false, progress)
    }

    /// Puts a backup into a folder that has no store. The new store has the record [`RESTORED`] before it has
    /// its name.
    pub fn restore(
        from: &Path,
        to: &Path,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<(), StoreError> {
        let source = Self::open_read_only(from)?;
        let target = Folder::at(to);
        target.create()?;
        let _lock = target.lock()?;
        target.expect_no_store()?;
        source.copy(&target, true, progress)
    }

    fn copy(
        &self,
        target: &Folder,
        restored: bool,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<(), StoreError> {
        let new = target.begin_database()?;
        progress(StoreProgress { step: StoreStep::Copy, done: 0, total: 1 });
        let copying = || trouble::of("copy the database");
        let source = connection::examiner(&self.folder.database()).map_err(copying())?;
        let name = new
            .to_str()
            .ok_or_else(|| folder::trouble("copy the database", &"the name of its folder is not UTF-8"))?;
        // One read transaction: the copy shows one moment, and free pages, where erased content was, stay behind.
        source.execute("VACUUM main INTO ?1", [name]).map_err(copying())?;
        progress(StoreProgress { step: StoreStep::Copy, done: 1, total: 1 });

        let copy = connection::writer(&new).map_err(copying())?;
        if restored {
            let sql = "INSERT OR REPLACE INTO records (key, value) VALUES (?1, x'')";
            copy.execute(sql, [RESTORED]).map_err(copying())?;
            connection::use_log(&copy).map_err(copying())?;
        }
        let addresses = addresses(&copy).map_err(copying())?;
        close(copy)?;
        self.copy_artifacts(&addresses, &Artifacts::at(target.artifacts()), progress)?;
        target.finish_database()
    }

    /// Each artifact is read, checked and written anew: a link would share its fate with the original.
    fn copy_artifacts(
        &self,
        addresses: &[Address],
        to: &Artifacts,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<(), StoreError> {
        to.prepare()?;
        let total = addresses.len() as u64;
        for (done, address) in (1..).zip(addresses) {
            let missing = || StoreError::Corrupt { what: "the file of an artifact is missing".to_owned() };
            to.put(&self.artifacts.read(address)?.ok_or_else(missing)?)?;
            progress(StoreProgress { step: StoreStep::Artifacts, done, total });
        }
        Ok(())
    }
}

fn addresses(connection: &Connection) -> SqlResult<Vec<Address>> {
    let sql = "SELECT DISTINCT artifact FROM events WHERE length(artifact) > 0 ORDER BY artifact";
    let mut statement = connection.prepare(sql)?;
    let address = |bytes| Address::from_digest(Digest::from_bytes(bytes));
    statement.query_map([], |row| row.get(0).map(address))?.collect()
}
