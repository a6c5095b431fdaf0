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
};

use rustix::{
    fd::{AsRawFd as _, OwnedFd},
    fs::{Mode, OFlags},
};

/// Returns where the socket of a data folder is.
pub fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// What tells one socket file from another: device and number.
pub type Identity = (u64, u64);

/// Binds the socket, for its owner only. The caller owns the folder: one that is there was left by a dead process.
pub fn bind(folder: &Path) -> io::Result<(UnixListener, Identity)> {
    remove(folder)?;
    let listener = with_short_path(folder, |path| UnixListener::bind(path))?;
    fs::set_permissions(path(folder), fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((listener, identity(folder)?))
}

/// Returns which socket is there.
pub fn identity(folder: &Path) -> io::Result<Identity> {
    let metadata = fs::symlink_metadata(path(folder))?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Removes the socket if it is this one.
pub fn remove_own(folder: &Path, own: Identity) -> io::Result<()> {
    if identity(folder)? == own { remove(folder) } else { Ok(()) }
}

/// Connects to the socket.
pub fn connect(folder: &Path) -> io::Result<UnixStream> {
    with_short_path(folder, |path| UnixStream::connect(path))
}

/// Removes the socket; none is fine.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(path(folder)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The kernel takes at most 107 bytes: a longer path goes by way of the open folder.
fn with_short_path<T>(folder: &Path, use_path: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let whole = path(folder);
    if whole.as_os_str().as_bytes().len() <= LONGEST {
        return use_path(&whole);
    }
    let open: OwnedFd = rustix::fs::open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    use_path(&Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(NAME))
}

const NAME: &str = "socket";
const LONGEST: usize = 100;
