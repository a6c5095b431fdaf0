//! What the desk signed about its store, kept in files beside the database ([`crate::kept_head`], [`crate::kept_root`]; ONE-13).

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{canonical, limit::Limits};
use demur_ledger::{
    name::Sequence,
    registry::Registry,
    signed::{Document, Signed},
};
use demur_store::contract::{RESTORED, RecordKey, Store};

use crate::{durable, error, visible::visible_path};

/// Returns whether a store just came back from a backup: what was kept is about the one before, and the registry will say so.
pub(crate) fn is_restored(store: &dyn Store) -> Result<bool, Refusal> {
    Ok(store.record(&RecordKey::new(RESTORED)?)?.is_some())
}

/// Checks that a key of the desk signed what was kept.
pub(crate) fn check_signature<D: Document>(
    path: &Path,
    kept: &Signed<D>,
    at: Sequence,
    registry: &Registry,
) -> Result<(), Refusal> {
    let key = registry.desk_key(&kept.proof.key, at).ok();
    if key.is_some_and(|key| kept.verify(&key.public).is_ok()) {
        return Ok(());
    }
    Err(damaged(path, "expected a document that demur signed, found another one"))
}

/// Checks that nothing was to be kept yet: it is written before anything is recorded in a new store or one that came back.
pub(crate) fn check_missing(path: &Path, registry: &Registry) -> Result<(), Refusal> {
    if registry.epoch_begin() == registry.head() {
        return Ok(());
    }
    let message = format!(
        "expected {} beside the database, found no such file: nobody can tell what was taken out of the database",
        visible_path(path)
    );
    Err(Refusal::new(Code::StoreDamaged, message).with_cure(
        "bring the file back; or take the store as it is with `demur store backup FOLDER` and `demur store restore --replace FOLDER`, which \
         records that it came back",
    ))
}

/// Returns what was kept in a file of a folder; none where there is no such file.
pub(crate) fn read<D: Document>(folder: &Path, name: &str) -> Result<Option<(PathBuf, Signed<D>)>, Refusal> {
    let path = folder.join(name);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error::file("read", &path, &error)),
    };
    let mut bytes = Vec::new();
    let read = file.take(Limits::EVENT.bytes as u64).read_to_end(&mut bytes);
    read.map_err(|error| error::file("read", &path, &error))?;
    match Signed::parse(bytes.strip_suffix(b"\n").unwrap_or(&bytes)) {
        Ok(kept) => Ok(Some((path, kept))),
        Err(_) => Err(damaged(&path, "expected a signed document, found something else")),
    }
}

/// Writes what is kept, unless it is there.
pub(crate) fn write<D: Document>(path: &Path, signed: &Signed<D>) -> io::Result<()> {
    let mut bytes = canonical::to_vec(signed).map_err(io::Error::other)?;
    bytes.push(b'\n');
    if std::fs::read(path).is_ok_and(|there| there == bytes) {
        Ok(())
    } else {
        durable::replace(path, &bytes)
    }
}

/// Returns that a database is not the one that a file was kept of.
pub(crate) fn damaged(path: &Path, what: &str) -> Refusal {
    let message = format!("the database is not the one that {} was kept of: {what}", visible_path(path));
    Refusal::new(Code::StoreDamaged, message).with_cure(
        "keep these files, and bring a backup back with `demur store restore --replace FOLDER`, which records that it came back",
    )
}
