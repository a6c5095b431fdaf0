//! The folder of an embedded store: what lies where, the kernel lock of its owner, and files that are there
//! completely or not at all, also after a power cut. Folders are 0700 and files 0600.

use std::{
    fmt::Display,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use demur_core::visible::visible;

use crate::contract::StoreError;

/// A folder that holds a store, or will.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Returns the folder at this path; nothing is touched.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where the database is.
    pub fn database(&self) -> PathBuf {
        self.path.join("ledger.db")
    }

    /// Returns where the write-ahead log of the database is while a process has it open.
    pub fn log(&self) -> PathBuf {
        self.beside("-wal")
    }

    /// Returns where secrets are until they were delivered.
    pub fn secrets(&self) -> PathBuf {
        self.path.join("secrets.db")
    }

    /// Returns where artifacts are.
    pub fn artifacts(&self) -> PathBuf {
        self.path.join("artifacts")
    }

    /// Returns where the lock of the owner is.
    pub fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Returns whether there is a store.
    pub fn has_store(&self) -> Result<bool, StoreError> {
        self.database().try_exists().map_err(io_trouble("look for the store"))
    }

    /// Creates the folder, and those above it, for its owner only. One that is there stays as it is.
    pub fn create(&self) -> Result<(), StoreError> {
        create_folders(&self.path).map_err(io_trouble("create the folder of the store"))
    }

    /// Takes the folder for this process alone, until the lock is dropped. Locked is the folder itself: a file in it can be
    /// deleted, and whoever makes it anew locks another one. The file is locked as well: a network drive keeps locks on
    /// files between machines, but none on folders.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        let folder = File::open(&self.path).map_err(io_trouble("open the folder of the store"))?;
        let folder = self.take(folder)?;
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.lock_file())
            .map_err(io_trouble("open the lock file"))?;
        Ok(Lock { _folder: folder, _file: self.take(file)? })
    }

    fn take(&self, file: File) -> Result<Locked, StoreError> {
        match file.try_lock() {
            Ok(()) => Ok(Locked(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::Owned { lock: shown(&self.lock_file()) }),
            Err(TryLockError::Error(error)) => Err(io_trouble("take the lock")(error)),
        }
    }

    /// Refuses a folder that has no store.
    pub(crate) fn expect_store(&self) -> Result<(), StoreError> {
        if self.has_store()? { Ok(()) } else { Err(StoreError::Missing { path: shown(&self.database()) }) }
    }

    /// Refuses a folder that has a store, or the rest of one: SQLite would replay a log that was left behind
    /// into the new database.
    pub(crate) fn expect_no_store(&self) -> Result<(), StoreError> {
        if self.has_store()? {
            return Err(StoreError::Exists { path: shown(&self.database()) });
        }
        for rest in [self.log(), self.beside("-journal")] {
            if rest.exists() {
                let path = shown(&rest);
                let what = format!("found {path} without its database: put it back or move it away first");
                return Err(StoreError::Foreign { what });
            }
        }
        Ok(())
    }

    /// Returns the database under the name it has while it is being made, empty and for its owner only.
    pub(crate) fn begin_database(&self) -> Result<PathBuf, StoreError> {
        let path = self.beside(".new");
        // The caller owns the folder: what lies here was left by a process that is dead.
        for ending in UNFINISHED {
            remove_if_there(&self.beside(ending)).map_err(io_trouble("remove an unfinished database"))?;
        }
        let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        open.map_err(io_trouble("create the database")).map(|_| path)
    }

    /// Gives the finished database its name. From here on there is a store.
    pub(crate) fn finish_database(&self) -> Result<(), StoreError> {
        let new = self.beside(".new");
        let finish = || {
            File::open(&new)?.sync_all()?;
            fs::rename(&new, self.database())?;
            sync_folder(&self.path)
        };
        finish().map_err(io_trouble("put the database in its place"))
    }

    /// Takes away what an unfinished copy left in a folder that was empty before it. What cannot be taken away stays.
    pub(crate) fn discard_copy(&self) {
        for ending in UNFINISHED {
            let _ = remove_if_there(&self.beside(ending));
        }
        let _ = fs::remove_dir_all(self.artifacts());
        let _ = remove_if_there(&self.lock_file());
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.database().into_os_string();
        path.push(ending);
        path.into()
    }
}

/// The right to write in a folder. The kernel takes it back when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _folder: Locked,
    _file: Locked,
}

#[derive(Debug)]
struct Locked(File);

impl Drop for Locked {
    /// Closing the file would not do: a process that another thread starts at this moment may have it open, too.
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked when the file is closed.
        let _ = self.0.unlock();
    }
}

/// Creates a folder, and those above it, for its owner only, durably.
pub fn create_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_folders(parent)?;
    match DirBuilder::new().mode(0o700).create(path) {
        // Another process was faster, or something else has the name.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if !path.is_dir() {
                return Err(ErrorKind::NotADirectory.into());
            }
        }
        created => created?,
    }
    sync_folder(parent)
}

/// Makes the names in a folder durable.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Removes a file; none is fine.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns a path as it may be shown.
pub(crate) fn shown(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

/// Returns what the store says about an error of the system.
pub(crate) fn io_trouble(action: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    move |error| match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => trouble(action, &error),
    }
}

/// Returns what the store says about anything else.
pub(crate) fn trouble(action: &'static str, message: &dyn Display) -> StoreError {
    StoreError::Trouble { action, message: message.to_string() }
}

/// The endings of a database that is being made.
const UNFINISHED: [&str; 4] = [".new", ".new-journal", ".new-wal", ".new-shm"];
