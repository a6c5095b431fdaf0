//! The file that says for whom marks are kept.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use crate::durable;

/// Returns for whom marks are kept; none where that is not known.
pub(super) fn read(folder: &Path) -> io::Result<Option<BTreeSet<String>>> {
    match fs::read(folder.join(HOOKED)) {
        // A list that cannot be read names nobody: every hook then asks the server, which writes it anew.
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Says for whom marks are kept.
pub(super) fn write(folder: &Path, askers: &BTreeSet<String>) -> io::Result<()> {
    let list = serde_json::to_vec(askers).map_err(io::Error::other)?;
    durable::replace(&folder.join(HOOKED), &list)
}

/// Says nothing: every hook asks the server, and refuses where none answers.
pub(super) fn remove(folder: &Path) {
    durable::discard(&folder.join(HOOKED));
}

/// The file: a JSON list of names.
pub(super) const HOOKED: &str = "hooked.json";
