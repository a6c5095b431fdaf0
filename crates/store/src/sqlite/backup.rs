//! Backups: a consistent copy of the database while appends go on, and the artifacts it names. Keys and other
//! secrets are never part of it.
//!
//! The copy has no `ledger.db` before everything else is in place and synced, so half a backup is no store. An artifact
//! that the store has lost keeps nothing else from being saved: a backup notes it, and only what is noted may be missing
//! from it when it comes back.

use std::{fs, path::Path};

use demur_ledger::entry::Address;
use rusqlite::{Connection, Result as SqlResult};

use super::{
    SqliteStore, close, connection,
    lost::{LostArtifact, addresses, place},
    trouble,
};
use crate::{
    artifacts::Artifacts,
    contract::{RESTORED, StoreError, StoreProgress, StoreStep},
    folder::{self, Folder, io_trouble, shown},
};

/// What became of a backup that was brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How many records were left behind.
    pub left: u64,
    /// What was lost before the backup was made.
    pub lost: Vec<LostArtifact>,
}

impl SqliteStore {
    /// Copies the store as of one moment into a folder that is empty or not there yet; returns which artifacts it lacks.
    /// Appends go on meanwhile. Nothing stays in the folder where it fails.
    pub fn backup(
        &self,
        to: &Path,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<Vec<LostArtifact>, StoreError> {
        let target = Folder::at(to);
        target.create()?;
        let mut files = fs::read_dir(to).map_err(io_trouble("read the folder of the backup"))?;
        if files.next().is_some() {
            let what = format!("expected an empty folder, found files in {}: name another", shown(to));
            return Err(StoreError::Foreign { what });
        }
        let _lock = target.lock()?;
        let copied = self.copy(&target, None, progress);
        if copied.is_err() {
            target.discard_copy();
        }
        copied.map(|copied| copied.lost)
    }

    /// Puts a backup into a folder that has no store, without the records whose keys begin with one of `left`. The new
    /// store has the record [`RESTORED`] before it has its name.
    pub fn restore(
        from: &Path,
        to: &Path,
        left: &[&str],
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<Restored, StoreError> {
        let source = Self::open_read_only(from)?;
        let target = Folder::at(to);
        target.create()?;
        let _lock = target.lock()?;
        target.expect_no_store()?;
        source.copy(&target, Some(left), progress)
    }

    /// Copies everything. A copy that is restored leaves records behind, and must lack nothing that its backup has not noted.
    fn copy(
        &self,
        target: &Folder,
        restored: Option<&[&str]>,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<Restored, StoreError> {
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
        let addresses = addresses(&copy).map_err(copying())?;
        let missing = self.copy_artifacts(&addresses, &Artifacts::at(target.artifacts()), progress)?;
        let left = match restored {
            Some(left) => {
                expect_noted(&copy, &missing)?;
                settle(&copy, left).map_err(copying())?
            }
            None => note(&copy, &missing).map_err(copying()).map(|()| 0)?,
        };
        let lost = missing.iter().map(|missing| place(&copy, &missing.address, missing.damaged));
        let lost = lost.collect::<SqlResult<Vec<_>>>().map_err(copying())?;
        if restored.is_some() {
            connection::use_log(&copy).map_err(copying())?;
        }
        close(copy)?;
        target.finish_database()?;
        Ok(Restored { left, lost: lost.into_iter().flatten().collect() })
    }

    /// Each artifact is read, checked and written anew: a link would share its fate with the original. Returns those that
    /// are not there, or are not what their addresses say.
    fn copy_artifacts(
        &self,
        addresses: &[Address],
        to: &Artifacts,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<Vec<Missing>, StoreError> {
        to.prepare()?;
        let (total, mut missing) = (addresses.len() as u64, Vec::new());
        for (done, address) in (1..).zip(addresses) {
            match self.artifacts.read(address) {
                Ok(Some(bytes)) => drop(to.put(&bytes)?),
                Ok(None) => missing.push(Missing { address: *address, damaged: false }),
                Err(StoreError::Corrupt { .. }) => missing.push(Missing { address: *address, damaged: true }),
                Err(error) => return Err(error),
            }
            progress(StoreProgress { step: StoreStep::Artifacts, done, total });
        }
        Ok(missing)
    }
}

/// An artifact that could not be copied.
struct Missing {
    address: Address,
    damaged: bool,
}

/// Notes in a backup what it lacks.
fn note(copy: &Connection, missing: &[Missing]) -> SqlResult<()> {
    let sql = "INSERT OR REPLACE INTO records (key, value) VALUES (?1, x'')";
    missing.iter().try_for_each(|missing| copy.execute(sql, [noted(&missing.address)]).map(drop))
}

/// Refuses a backup that lacks what it had when it was made.
fn expect_noted(copy: &Connection, missing: &[Missing]) -> Result<(), StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM records WHERE key = ?1)";
    for missing in missing {
        let known = copy.query_row(sql, [noted(&missing.address)], |row| row.get(0));
        if !known.map_err(trouble::of("read the backup"))? {
            let what = "the backup has lost the file of an artifact since it was made".to_owned();
            return Err(StoreError::Corrupt { what });
        }
    }
    Ok(())
}

/// Makes a copy the store that comes back; returns how many records it left behind.
fn settle(copy: &Connection, left: &[&str]) -> SqlResult<u64> {
    let sql = "DELETE FROM records WHERE substr(key, 1, length(?1)) = ?1";
    copy.execute(sql, [LOST])?;
    let counts = left.iter().map(|prefix| copy.execute(sql, [prefix]));
    let count: usize = counts.sum::<SqlResult<_>>()?;
    copy.execute("INSERT OR REPLACE INTO records (key, value) VALUES (?1, x'')", [RESTORED])?;
    Ok(count as u64)
}

/// Returns the key of the record that notes a lost artifact.
fn noted(address: &Address) -> String {
    format!("{LOST}{address}")
}

/// What the records of a backup begin with that name what it lacks.
const LOST: &str = "lost-artifact/";
