//! The newest signed root over all traces, kept in a file beside the database (ONE-13): a trace that is taken out of the
//! database, or cut, is missed at the next start and by `demur store check`, also where no root of the registry covers it. It is
//! renewed when a store is opened and closed and from time to time between, never while somebody waits for a commit.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use demur_api::refusal::Refusal;
use demur_ledger::{registry::Registry, signed::StoreRoot};
use demur_sequencer::{Sequencer, root_at};
use demur_store::contract::Store;
use tokio::time;

use crate::{
    desk::Desk,
    error,
    kept_file::{self, damaged, is_restored},
    keyring::Keyring,
    operating_system::OperatingSystem,
    owner::open_sequencer,
    trouble_log::TroubleLog,
};

/// The name of the file in a data folder, and in a backup.
pub const FILE: &str = "store-root.json";

/// Checks that the traces of a store are still those that the file was kept of, and more. A store that was just restored is
/// another one, and its registry will say so.
pub fn compare(folder: &Path, store: &dyn Store, registry: &Registry) -> Result<(), Refusal> {
    if is_restored(store)? {
        return Ok(());
    }
    let Some((path, kept)) = kept_file::read::<StoreRoot>(folder, FILE)? else {
        return kept_file::check_missing(&folder.join(FILE), registry);
    };
    let root = &kept.document;
    kept_file::check_signature(&path, &kept, root.registry.sequence, registry)?;
    if root.store != registry.store() || !registry.holds(&root.registry) {
        return Err(damaged(
            &path,
            &format!("expected registry event {}, found another", root.registry.sequence),
        ));
    }
    let Ok(moment) = root.moment.parse() else {
        return Err(damaged(&path, "expected a moment of this store, found another text"));
    };
    let (found, traces) = root_at(store, moment)?;
    if found == root.root {
        return Ok(());
    }
    let found = if traces == root.traces.as_u64() {
        "as many, and not the same events".to_owned()
    } else {
        format!("{traces} of that time")
    };
    Err(damaged(
        &path,
        &format!("expected the {} traces of {}, found {found}", root.traces.as_u64(), root.time),
    ))
}

/// Compares as [`compare`] does, with the registry of the store itself.
pub fn compare_store(folder: &Path, store: &dyn Store) -> Result<(), Refusal> {
    compare(folder, store, &demur_sequencer::registry(store).map_err(Refusal::from)?)
}

/// Checks that no file is there where a store has recorded nothing: it would be another store's.
pub(crate) fn check_none(folder: &Path) -> Result<(), Refusal> {
    let Some((path, kept)) = kept_file::read::<StoreRoot>(folder, FILE)? else { return Ok(()) };
    let root = &kept.document;
    Err(damaged(&path, &format!("expected the {} traces of {}, found none", root.traces.as_u64(), root.time)))
}

/// Writes the root over all traces as of now, unless nothing was recorded since it was written.
pub(crate) fn keep(folder: &Path, sequencer: &Sequencer) -> Result<(), Refusal> {
    let kept = kept_file::read::<StoreRoot>(folder, FILE).ok().flatten();
    let moment = sequencer.store().end()?.to_string();
    if kept.is_some_and(|(_, kept)| kept.document.moment.as_str() == moment) {
        return Ok(());
    }
    let (path, root) = (folder.join(FILE), sequencer.store_root()?);
    kept_file::write(&path, &root).map_err(|error| error::file("write", &path, &error))
}

/// Writes the root of a backup into its folder, signed with the desk's key of a keyring.
pub fn keep_copy(folder: &Path, backup: Arc<dyn Store>, keyring: &Arc<dyn Keyring>) -> Result<(), Refusal> {
    let system = OperatingSystem::open()?;
    let sequencer = open_sequencer(keyring, |find| Sequencer::read(backup, find, Box::new(system)))?;
    keep(folder, &sequencer)
}

/// Keeps the file up to date until the desk closes. It takes a small part of the time, however many traces there are.
pub async fn run(desk: Arc<Desk>) {
    let mut log = TroubleLog::new("the root over all traces cannot be kept");
    let mut wait = MIN_INTERVAL;
    loop {
        tokio::select! {
            () = time::sleep(wait) => {}
            () = desk.stopping() => return,
        }
        let kept = desk.work(|_, owner| {
            let began = Instant::now();
            owner.keep_root().map(|()| began.elapsed())
        });
        wait = log.note(kept.await).map_or(MIN_INTERVAL, |took| MIN_INTERVAL.max(took * PART));
    }
}

/// How long the file is left as it is at least.
const MIN_INTERVAL: Duration = Duration::from_mins(5);
/// Of how many parts of the time the work takes one.
const PART: u32 = 200;
