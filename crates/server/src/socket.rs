//! The Unix socket of a data folder: where it is, and how it is bound and reached however long the folder's path is.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, PermissionsExt as _},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use rustix::{
    fd::{AsRawFd as _, OwnedFd},
    fs::{Mode, OFlags},
};

/// Returns where the socket of a data folder is.
pub fn path(folder: &Path) -> PathBuf {
    folder.join(FILE_NAME)
}

/// The socket of a server. Its file can be deleted or replaced, and so can the folder around it: it remembers which ones
/// were its own.
#[derive(Debug)]
pub struct OwnSocket {
    folder: PathBuf,
    /// The folder as it was when the socket was first bound.
    place: OnceLock<Option<Identity>>,
    file: Mutex<Option<Identity>>,
}

/// What tells one file or folder from another: device and number.
type Identity = (u64, u64);

impl OwnSocket {
    /// Returns the socket of a folder that the caller owns; nothing is bound yet.
    pub fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), place: OnceLock::new(), file: Mutex::default() }
    }

    /// Binds the socket, for its owner only. One that is there was left by a dead process.
    pub fn bind(&self) -> io::Result<UnixListener> {
        remove(&self.folder)?;
        // Under a name that does not tell where it is: everybody can read which sockets are bound, the tools of runs too.
        let listener = through_folder(&self.folder, |path| UnixListener::bind(path))?;
        fs::set_permissions(path(&self.folder), fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        self.place.get_or_init(|| found(&self.folder, true).ok().flatten());
        *self.file() = self.there()?;
        Ok(listener)
    }

    /// Removes the socket, unless it is that of another server by now.
    pub fn remove(&self) {
        let own = self.file().take();
        if own.is_some() && self.there().is_ok_and(|there| there == own) {
            // One that cannot be removed is found stale by the next server.
            let _ = remove(&self.folder);
        }
    }

    /// Returns whether its file is gone, or another lies in its place.
    pub fn is_lost(&self) -> bool {
        // In another folder there is another server's socket.
        !self.is_folder_gone() && self.there().is_ok_and(|there| there != *self.file())
    }

    /// Returns whether the folder was deleted, moved or replaced: what is recorded from now on would be found by nobody.
    pub fn is_folder_gone(&self) -> bool {
        let was = self.place.get();
        was.is_some_and(|was| found(&self.folder, true).is_ok_and(|now| now != *was))
    }

    fn there(&self) -> io::Result<Option<Identity>> {
        found(&path(&self.folder), false)
    }

    fn file(&self) -> MutexGuard<'_, Option<Identity>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns which file or folder lies here, if any. An error says nothing about that.
fn found(path: &Path, follow: bool) -> io::Result<Option<Identity>> {
    match if follow { fs::metadata(path) } else { fs::symlink_metadata(path) } {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Connects to the socket.
pub fn connect(folder: &Path) -> io::Result<UnixStream> {
    with_short_path(folder, |path| UnixStream::connect(path))
}

/// Removes the socket; none is fine.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(path(folder)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The kernel takes at most 107 bytes: a longer path goes by way of the open folder.
fn with_short_path<T>(folder: &Path, use_path: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let whole = path(folder);
    if whole.as_os_str().as_bytes().len() <= MAX_PATH_BYTES {
        return use_path(&whole);
    }
    through_folder(folder, use_path)
}

fn through_folder<T>(folder: &Path, use_path: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let open: OwnedFd = rustix::fs::open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    use_path(&Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(FILE_NAME))
}

const FILE_NAME: &str = "socket";
const MAX_PATH_BYTES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_of_another_server_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let own = OwnSocket::of(folder.path());
        let _listener = own.bind().unwrap();
        assert!(!own.is_lost());
        let other = OwnSocket::of(folder.path());
        let _listens = other.bind().unwrap();
        assert!(own.is_lost());
        own.remove();
        connect(folder.path()).unwrap();
        other.remove();
        assert!(!path(folder.path()).exists());
    }
}
