//! Key files on the disk: for their owner only, never overwritten. What stands in one is `demur_run::key_file`.

use std::{
    fs::File,
    io::{self, ErrorKind, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_run::key_file::KeyFile;
use zeroize::Zeroizing;

use crate::{
    durable, error,
    visible::{shell_word, visible_path},
};

/// Returns the key in this file, if nobody else can read it.
pub fn read(path: &Path) -> Result<KeyFile, KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    // Before it is opened: a pipe would wait for a writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(KeyFileError::Malformed { path: path.to_owned() });
    }
    let file = File::open(path).map_err(unreadable)?;
    check_mode(path, file.metadata().map_err(unreadable)?.permissions().mode(), 0o600)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(KeyFile::LARGEST + 1));
    file.take(KeyFile::LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    KeyFile::parse(&bytes).map_err(|_| KeyFileError::Malformed { path: path.to_owned() })
}

/// Writes a key to a file that must not be there yet.
pub fn create(key: &KeyFile, path: &Path) -> Result<(), Refusal> {
    let bytes = key.to_bytes()?;
    durable::create(path, &bytes).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.to_owned() }.into(),
        _ => error::file("write", path, &error),
    })
}

/// Checks that a folder of secrets is for its owner only.
pub(super) fn check_folder(path: &Path) -> Result<(), KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    check_mode(path, path.metadata().map_err(unreadable)?.permissions().mode(), 0o700)
}

pub(super) fn check_mode(path: &Path, mode: u32, wanted: u32) -> Result<(), KeyFileError> {
    if mode & MODE_OF_OTHERS == 0 {
        Ok(())
    } else {
        Err(KeyFileError::TooOpen { path: path.to_owned(), mode: mode & 0o777, wanted })
    }
}

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// Not there, or not to be read.
    #[error("cannot read {}: {source}", visible_path(.path))]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else could have read it.
    #[error("expected only you to have access to {}, found mode {mode:03o}", visible_path(.path))]
    TooOpen {
        /// Which.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode it should have.
        wanted: u32,
    },
    /// Not a key file.
    #[error(
        "expected {} to hold one key: algorithm, name, principal, role and seed in canonical JSON and a line feed",
        visible_path(.path)
    )]
    Malformed {
        /// Which.
        path: PathBuf,
    },
    /// A key under the name of another.
    #[error("expected {} to hold the key it is named after, found another", visible_path(.path))]
    OtherKey {
        /// Which.
        path: PathBuf,
    },
    /// A file that must not be there.
    #[error("expected no file at {}, found one", visible_path(.path))]
    Exists {
        /// Which.
        path: PathBuf,
    },
}

impl From<KeyFileError> for Refusal {
    fn from(error: KeyFileError) -> Self {
        match &error {
            KeyFileError::Unreadable { path, source } => error::unreadable(path, source),
            KeyFileError::TooOpen { path, wanted, .. } => Self::new(Code::KeyFileOpen, &error)
                .with_cure(format!("run: chmod {wanted:o} {}", shell_word(path))),
            KeyFileError::Malformed { .. } => Self::new(Code::KeyFileMalformed, &error)
                .with_cure("name another file, or restore this one from a backup"),
            KeyFileError::OtherKey { .. } => {
                Self::new(Code::KeyFileMalformed, &error).with_cure("restore it from a backup")
            }
            KeyFileError::Exists { .. } => Self::new(Code::FileExists, &error)
                .with_cure("secrets are never overwritten: name a new file"),
        }
    }
}

/// The bits of a mode that let others in.
const MODE_OF_OTHERS: u32 = 0o077;
