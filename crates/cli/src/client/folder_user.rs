//! Which process uses a data folder: the one that has the folder's lock, also where somebody has deleted the lock file or
//! the socket.

use std::{
    fs,
    path::{Path, PathBuf},
};

use demur_store::folder::Folder;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process that uses a folder.
pub(crate) struct FolderUser {
    pub(crate) process: u32,
    /// Whether it is a server.
    pub(crate) serves: bool,
    /// Whether a command has started it.
    pub(crate) detached: bool,
    /// Whether the lock file was deleted while it had it.
    pub(crate) lost_its_lock: bool,
}

impl FolderUser {
    /// Returns who uses a folder; none where nobody does, or the system does not say.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let lock = Folder::at(fs::canonicalize(folder).ok()?).lock_file();
        let processes = fs::read_dir("/proc").ok()?;
        let mut numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        numbers.find_map(|process| Self::of(process, &lock))
    }

    /// Returns the server that uses a folder.
    pub(crate) fn server(folder: &Path) -> Option<Self> {
        Self::find(folder).filter(|user| user.serves)
    }

    /// Returns this process as the user of the folder, if it has the lock file open.
    fn of(process: u32, lock: &Path) -> Option<Self> {
        let deleted = PathBuf::from(format!("{} (deleted)", lock.display()));
        let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
        let open = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        let found = open.into_iter().find(|path| path == lock || *path == deleted)?;
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let has = |wanted: &[u8]| words.split(|byte| *byte == 0).any(|word| word == wanted);
        let (serves, detached) = (has(b"serve"), has(b"--detached"));
        Some(Self { process, serves, detached, lost_its_lock: found == deleted })
    }
}

/// Returns another process that has this file or folder open; none where there is none, or the system does not say.
pub(crate) fn process_with(path: &Path) -> Option<u32> {
    let wanted = fs::canonicalize(path).ok()?;
    let has = |process: &u32| {
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        files.into_iter().any(|file| fs::read_link(file.path()).is_ok_and(|open| open == wanted))
    };
    let numbers = fs::read_dir("/proc").ok()?;
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|process| *process != std::process::id()).find(has)
}

/// Kills the server that uses a folder; returns its process, or none where there is none to be found.
pub(super) fn kill_server(folder: &Path) -> rustix::io::Result<Option<u32>> {
    let Some(process) = FolderUser::server(folder).map(|user| user.process) else { return Ok(None) };
    let Some(id) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return Ok(None) };
    // A number that has become another process's meanwhile is not killed: what is held now is what is looked at again.
    let handle = pidfd_open(id, PidfdFlags::empty())?;
    if FolderUser::server(folder).is_none_or(|user| user.process != process) {
        return Ok(None);
    }
    pidfd_send_signal(handle, Signal::KILL)?;
    Ok(Some(process))
}
