//! The files that a store has open: whether they are still those that others find. SQLite goes on writing to a file that was
//! deleted, and all of it is gone when the last process closes it.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{contract::StoreError, folder::shown};

/// Files that are open, with what tells each from others under its name.
#[derive(Debug)]
pub(super) struct OpenFiles(Vec<(PathBuf, Identity)>);

/// Device and number of a file.
type Identity = (u64, u64);

impl OpenFiles {
    /// Returns these files as they are now; one that is not there is not looked after.
    pub(super) fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let found = |path: PathBuf| Some((identity(&path).ok()??, path));
        Self(paths.into_iter().filter_map(found).map(|(identity, path)| (path, identity)).collect())
    }

    /// Refuses files of which one was deleted, moved or replaced.
    pub(super) fn expect_in_place(&self) -> Result<(), StoreError> {
        for (path, own) in &self.0 {
            // An error says nothing about the file.
            if identity(path).is_ok_and(|found| found != Some(*own)) {
                return Err(StoreError::Gone { path: shown(path) });
            }
        }
        Ok(())
    }
}

/// Returns which file lies here, if any.
fn identity(path: &Path) -> Result<Option<Identity>, std::io::Error> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
