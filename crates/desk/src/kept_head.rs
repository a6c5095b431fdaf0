//! The newest signed head of the registry, kept in a file beside the database (ONE-13). Whoever takes events out of the
//! database, or puts an older one in its place by hand, is found at the next start: the registry no longer holds that event.
//! `demur store restore` brings an older one back and says so in the registry.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use demur_api::refusal::Refusal;
use demur_ledger::{
    entry::Entry,
    name::{Sequence, TraceId},
    registry::Registry,
    signed::Head,
};
use demur_sequencer::Listener;
use demur_store::contract::Store;

use crate::{
    data::DataFolder,
    error,
    kept_file::{self, damaged, is_restored},
    kept_root,
};

/// The name of the file in a data folder, and in a backup.
pub const FILE: &str = "registry-head.json";

/// Checks that the registry in a store still holds the event that the file names; nothing where there is no file. A store that
/// was just restored is another one, and its registry will say so.
pub fn compare(folder: &Path, store: &dyn Store) -> Result<(), Refusal> {
    let Some((path, kept)) = kept_file::read::<Head>(folder, FILE)? else { return Ok(()) };
    if is_restored(store)? {
        return Ok(());
    }
    let head = &kept.document;
    let here = match store.registry()? {
        Some(registry) if registry == head.trace => store.hash(registry, head.head.sequence)?,
        _ => None,
    };
    if here == Some(head.head.hash) {
        return Ok(());
    }
    let found = if here.is_some() { "another event there" } else { "no such event" };
    Err(damaged(&path, &format!("expected registry event {}, found {found}", head.head.sequence)))
}

/// Checks that a new database takes no other's place: where there was one, it is missing.
pub(crate) fn check_absent(data: &DataFolder) -> Result<(), Refusal> {
    match kept_root::check_none(data.path()) {
        Err(error) if !data.has_store()? => return Err(error),
        _ => {}
    }
    match kept_file::read::<Head>(data.path(), FILE)? {
        // Another process may have made both meanwhile.
        Some((path, kept)) if !data.has_store()? => {
            let event = kept.document.head.sequence;
            Err(damaged(&path, &format!("expected registry event {event}, found no database")))
        }
        _ => Ok(()),
    }
}

/// Checks that the file is there and that a key of the desk signed it.
pub(crate) fn check_signed(folder: &Path, registry: &Registry) -> Result<(), Refusal> {
    match kept_file::read::<Head>(folder, FILE)? {
        Some((path, kept)) => {
            kept_file::check_signature(&path, &kept, kept.document.registry.sequence, registry)
        }
        None => kept_file::check_missing(&folder.join(FILE), registry),
    }
}

/// Writes the newest head of a store's registry into a folder, unless it is there.
pub fn keep(folder: &Path, store: &dyn Store) -> Result<(), Refusal> {
    let Some(registry) = store.registry()? else { return Ok(()) };
    let Some(newest) = store.trace(registry)?.map(|summary| summary.head.sequence) else { return Ok(()) };
    let path = folder.join(FILE);
    write(&path, store, registry, newest).map_err(|error| error::file("write", &path, &error))
}

/// Keeps the file up to date. What it does not get to write is written at the next start: an older head is a weaker check and
/// never a wrong one.
pub(crate) struct HeadKeeper {
    path: PathBuf,
    registry: TraceId,
    store: Arc<dyn Store>,
}

impl HeadKeeper {
    pub(crate) fn new(data: &DataFolder, registry: TraceId, store: Arc<dyn Store>) -> Self {
        Self { path: data.path().join(FILE), registry, store }
    }
}

impl Listener for HeadKeeper {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        if trace == self.registry
            && let Some(last) = entries.last()
        {
            let _ = write(&self.path, &*self.store, trace, last.event.position().sequence);
        }
    }
}

fn write(path: &Path, store: &dyn Store, registry: TraceId, newest: Sequence) -> io::Result<()> {
    let stored = store.events(registry, newest, 1).map_err(io::Error::other)?.pop();
    let Some(head) = stored.and_then(|stored| stored.head) else { return Ok(()) };
    kept_file::write(path, &head)
}
