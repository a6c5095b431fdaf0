//! The newest signed head of the registry, kept in a file beside the database (ONE-13). Whoever takes events out of the
//! database, or puts an older one in its place by hand, is found at the next start: the registry no longer holds that event.
//! `demur store restore` brings an older one back and says so in the registry.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{canonical, limit::Limits};
use demur_ledger::{
    entry::Entry,
    name::{Sequence, TraceId},
    registry::Registry,
    signed::{Head, Signed},
};
use demur_sequencer::Listener;
use demur_store::contract::{RESTORED, RecordKey, Store};

use crate::{data::DataFolder, durable, error, visible::visible_path};

/// The name of the file in a data folder, and in a backup.
pub const FILE: &str = "registry-head.json";

/// Checks that the registry in a store still holds the event that the file names; nothing where there is no file. A store that
/// was just restored is another one, and its registry will say so.
pub fn compare(folder: &Path, store: &dyn Store) -> Result<(), Refusal> {
    let Some((path, kept)) = read(folder)? else { return Ok(()) };
    if store.record(&RecordKey::new(RESTORED)?)?.is_some() {
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
    match read(data.path())? {
        // Another process may have made both meanwhile.
        Some((path, kept)) if !data.has_store()? => {
            let event = kept.document.head.sequence;
            Err(damaged(&path, &format!("expected registry event {event}, found no database")))
        }
        _ => Ok(()),
    }
}

/// Checks that a key of the desk signed the file.
pub(crate) fn check_signature(data: &DataFolder, registry: &Registry) -> Result<(), Refusal> {
    let Some((path, kept)) = read(data.path())? else { return Ok(()) };
    let key = registry.desk_key(&kept.proof.key, kept.document.registry.sequence).ok();
    if key.is_some_and(|key| kept.verify(&key.public).is_ok()) {
        return Ok(());
    }
    Err(damaged(&path, "expected a head that the desk signed, found another one"))
}

/// Writes the newest head of a store's registry into a folder, unless it is there.
pub fn keep(folder: &Path, store: &dyn Store) -> Result<(), Refusal> {
    let Some(registry) = store.registry()? else { return Ok(()) };
    let Some(newest) = store.trace(registry)?.map(|summary| summary.head.sequence) else { return Ok(()) };
    let path = folder.join(FILE);
    write(&path, store, registry, newest).map_err(|error| error::file("write", &path, &error))
}

/// Removes the file, where another store takes the place of the one it is about.
pub fn forget(folder: &Path) -> io::Result<bool> {
    durable::remove(&folder.join(FILE))
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
    let mut bytes = canonical::to_vec(&head).map_err(io::Error::other)?;
    bytes.push(b'\n');
    if std::fs::read(path).is_ok_and(|there| there == bytes) {
        Ok(())
    } else {
        durable::replace(path, &bytes)
    }
}

fn read(folder: &Path) -> Result<Option<(PathBuf, Signed<Head>)>, Refusal> {
    let path = folder.join(FILE);
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
        Err(_) => Err(damaged(&path, "expected a signed head, found something else")),
    }
}

fn damaged(path: &Path, what: &str) -> Refusal {
    let message = format!("the registry is not the one that {} was kept of: {what}", visible_path(path));
    Refusal::new(Code::StoreDamaged, message).with_cure(
        "keep these files, and bring a backup back with `demur store restore --replace FOLDER`, which records that it came back",
    )
}
