//! Files that are either there completely or not at all, also after a power cut: written beside their place,
//! synced, renamed, and the folder synced. Folders are 0700 and files 0600.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use demur_core::id::Ulid;
pub use demur_store::folder::create_folders as create_folder;
use demur_store::folder::sync_folder;

use crate::operating_system::OperatingSystem;

/// Writes a file that must not be there yet. If that fails, there is none.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = fill(file, bytes).and_then(|()| sync_folder(folder_of(path)));
    if written.is_err() {
        discard(path);
    }
    written
}

/// Writes a file in place of the one that is there, if any. If that fails, the old one is untouched. Of several who write it at
/// once the last one counts, whole: each writes under a temporary name of its own.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}{TEMPORARY}", unique()?));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = fill(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        discard(&temporary);
    }
    written.and_then(|()| sync_folder(folder))
}

/// Removes a file; returns whether there was one.
pub fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder(folder_of(path)).map(|()| true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what dead processes left in a folder, under temporary names. The caller owns the folder.
pub fn sweep(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let name = entry?.file_name();
        if name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(TEMPORARY)) {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Makes the name of a file durable.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

/// A file that goes away again unless it is kept: it means nothing before something else is recorded.
#[derive(Debug)]
pub struct Tentative {
    path: PathBuf,
    kept: bool,
}

impl Tentative {
    /// Takes over a file that was just made.
    pub const fn of(path: PathBuf) -> Self {
        Self { path, kept: false }
    }

    /// Lets the file stay.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Tentative {
    fn drop(&mut self) {
        if !self.kept {
            discard(&self.path);
        }
    }
}

/// Removes what a failed attempt left. The failure itself is what the caller hears about.
pub fn discard(path: &Path) {
    let _ = fs::remove_file(path);
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// Returns a word that no other process, and nobody else in this one, uses.
fn unique() -> io::Result<Ulid> {
    let mut system = OperatingSystem::open().map_err(io::Error::other)?;
    let now = system.now().map_err(io::Error::other)?;
    Ok(Ulid::new(now, &mut system))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The end of the name under which a file is written before it takes its place.
const TEMPORARY: &str = ".new";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn create_refuses_a_file_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        create(&path, b"first").unwrap();
        assert_eq!(create(&path, b"second").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn replace_leaves_the_newest_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn one_file_written_by_many_at_once_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::thread::scope(|scope| {
            for letter in *b"abcdefgh" {
                let path = &path;
                scope.spawn(move || (0..16).for_each(|_| replace(path, &[letter; 64]).unwrap()));
            }
        });
        let written = fs::read(&path).unwrap();
        assert!(written.len() == 64 && written.iter().all(|byte| *byte == written[0]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn replace_that_fails_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        // A folder that is not empty cannot be replaced by a file.
        fs::create_dir_all(path.join("inner")).unwrap();
        replace(&path, b"new").unwrap_err();
        assert!(path.join("inner").is_dir());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_written_at_once_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = folder.path().join(number.to_string());
                scope.spawn(move || (0..16).for_each(|_| replace(&path, &[b'x'; 64]).unwrap()));
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 8);
    }

    #[test]
    fn what_dead_processes_left_is_swept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        sweep(&folder.path().join("absent")).unwrap();
        for name in [".a.key.new", ".hidden", "a.key", "new"] {
            create(&folder.path().join(name), b"x").unwrap();
        }
        sweep(folder.path()).unwrap();
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
        left.sort_unstable();
        assert_eq!(left, [".hidden", "a.key", "new"]);
    }

    #[test]
    fn tentative_file_stays_only_if_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [kept, dropped] = ["kept", "dropped"].map(|name| folder.path().join(name));
        for path in [&kept, &dropped] {
            create(path, b"secret").unwrap();
        }
        Tentative::of(kept.clone()).keep();
        drop(Tentative::of(dropped.clone()));
        assert!(kept.exists() && !dropped.exists());
    }

    #[test]
    fn folders_are_for_their_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        create_folder(&path).unwrap();
        create_folder(&path).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o700, 0o700));
    }
}
