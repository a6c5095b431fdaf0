//! Which process owns a data folder: the one that has its lock open, also where somebody has removed the file.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A process that owns a folder.
pub(super) struct Owner {
    pub(super) process: u32,
    /// Whether it is a server.
    pub(super) serves: bool,
    /// Whether the file of the lock was removed: another process could take the folder beside it.
    pub(super) lost_its_lock: bool,
}

impl Owner {
    /// Returns the owner of the folder with this lock; none where nobody owns it, or the system does not say.
    pub(super) fn find(lock: &Path) -> Option<Self> {
        let folder = fs::canonicalize(lock.parent()?).ok()?;
        let lock = folder.join(lock.file_name()?);
        let processes = fs::read_dir("/proc").ok()?;
        let mut numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        numbers.find_map(|process| Self::of(process, &lock))
    }

    /// Returns this process as the owner, if it has the lock open.
    fn of(process: u32, lock: &Path) -> Option<Self> {
        let removed = PathBuf::from(format!("{} (deleted)", lock.display()));
        let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
        let open = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        let found = open.into_iter().find(|path| path == lock || *path == removed)?;
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let serves = words.split(|byte| *byte == 0).any(|word| word == b"serve");
        Some(Self { process, serves, lost_its_lock: found == removed })
    }
}
