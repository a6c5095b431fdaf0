//! The record: does the store open, is the desk's key there, and is the clock where the record is?

use demur_desk::{
    data::DataFolder, keyring::FolderKeyring, operating_system::OperatingSystem, owner::find_desk_key,
};
use demur_ledger::envelope::Event;
use demur_store::{
    contract::{Store as _, StoreError},
    sqlite::{SqliteStore, VERSION},
};

use super::Check;
use crate::{failure::Failure, keys::clock};

/// Looks at the store, the desk's key and the clock.
pub(super) fn check(data: &DataFolder) -> Vec<Check> {
    let system = match OperatingSystem::open() {
        Err(error) => return vec![Check::failed("clock", error)],
        Ok(system) => system,
    };
    let store = match data.has_store() {
        Err(error) => return vec![Check::failed("store", error), time(system, None)],
        Ok(false) => {
            let found = "nothing is recorded yet; the first question or key begins it";
            return vec![Check::note("store", found), time(system, None)];
        }
        Ok(true) => SqliteStore::open_read_only(data.path()),
    };
    match store {
        Ok(store) => open(data, &store, system),
        Err(StoreError::ReadOnly) => {
            let found = "its last owner was killed and left work, which the next command finishes";
            vec![Check::note("store", found), time(system, None)]
        }
        Err(error) => vec![Check::failed("store", error), time(system, None)],
    }
}

fn open(data: &DataFolder, store: &SqliteStore, system: OperatingSystem) -> Vec<Check> {
    let newest = newest(store);
    let mut checks = vec![match &newest {
        Ok(_) => Check::ok("store", format!("opens, version {VERSION}")),
        Err(error) => Check::failed("store", error.clone()),
    }];
    if matches!(store.registry(), Ok(Some(_))) {
        checks.push(match find_desk_key(&FolderKeyring::of(data), store) {
            Ok(key) => Check::ok("desk key", format!("{} is here", key.public().fingerprint().short())),
            Err(error) => Check::failed("desk key", error),
        });
    }
    checks.push(time(system, newest.ok().flatten()));
    checks
}

/// Returns when the newest event was recorded.
fn newest(store: &SqliteStore) -> Result<Option<demur_core::time::Timestamp>, Failure> {
    let Some(trace) = store.newest()? else { return Ok(None) };
    let Some(summary) = store.trace(trace)? else { return Ok(None) };
    let stored = store.events(trace, summary.head.sequence, 1)?.pop();
    let event = stored.and_then(|stored| Event::parse(&stored.bytes).ok());
    Ok(event.map(|event| event.envelope().time))
}

fn time(system: OperatingSystem, newest: Option<demur_core::time::Timestamp>) -> Check {
    let now = match system.now() {
        Err(error) => return Check::failed("clock", error),
        Ok(now) => now,
    };
    match newest.filter(|newest| *newest > now) {
        Some(newest) => {
            let found = format!("{}, but the newest event is of {}", clock(now), clock(newest));
            let hint = "set the clock of this machine; until then time stands still in the record";
            // Clocks that are set by the network step back a little now and then.
            if newest > now.plus_millis(MAX_CLOCK_LAG_MILLIS) {
                Check::problem("clock", found, hint)
            } else {
                Check::warning("clock", found, hint)
            }
        }
        None => Check::ok("clock", clock(now)),
    }
}

/// How many milliseconds a clock may be behind the record before that is a problem.
const MAX_CLOCK_LAG_MILLIS: u64 = 60_000;
