//! The record: does the store open, is the desk's key there, and is the clock where the record is?

use demur_core::time::Timestamp;
use demur_desk::{
    data::DataFolder, keyring::FolderKeyring, operating_system::OperatingSystem, owner::find_desk_key,
};
use demur_ledger::{
    envelope::Event,
    name::{Sequence, TraceId},
};
use demur_store::{
    contract::{Store as _, StoreError},
    sqlite::{LostArtifact, SqliteStore, VERSION},
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
    checks.push(damage(store).unwrap_or_else(|error| Check::failed("traces", error)));
    if matches!(store.registry(), Ok(Some(_))) {
        checks.push(match find_desk_key(&FolderKeyring::of(data), store) {
            Ok(key) => Check::ok("desk key", format!("{} is here", key.public().fingerprint().short())),
            Err(error) => Check::failed("desk key", error),
        });
    }
    checks.push(time(system, newest.ok().flatten()));
    checks
}

/// Returns what is known to be damaged, and which artifacts have no file. Whether everything else holds takes longer to say.
fn damage(store: &SqliteStore) -> Result<Check, Failure> {
    let place = |trace: TraceId, sequence: Option<Sequence>, what: &str| {
        let at = sequence.map_or(String::new(), |sequence| format!("event {sequence} of "));
        format!("{at}trace {trace}: {what}")
    };
    let (marked, lost) = (store.marked_traces(MAX_NAMED + 1)?, store.lost_artifacts(MAX_NAMED + 1)?);
    let mut found: Vec<_> =
        marked.iter().map(|(trace, failure)| place(*trace, failure.sequence, &failure.code)).collect();
    let is_new = |lost: &&LostArtifact| !marked.iter().any(|(trace, _)| *trace == lost.trace);
    let lost = lost.iter().filter(is_new);
    found.extend(
        lost.map(|lost| place(lost.trace, Some(lost.sequence), "the file of its artifact is missing")),
    );
    if found.is_empty() {
        return Ok(Check::ok("traces", "no damage is known; `demur store check` looks at all of them"));
    }
    let more = if found.len() > MAX_NAMED { "; and more" } else { "" };
    found.truncate(MAX_NAMED);
    let found = format!("damaged: {}{more}", found.join("; "));
    Ok(Check::problem("traces", found, "`demur store check` says what holds and what to do"))
}

/// Returns when the newest event was recorded.
fn newest(store: &SqliteStore) -> Result<Option<Timestamp>, Failure> {
    let Some(trace) = store.newest()? else { return Ok(None) };
    let Some(summary) = store.trace(trace)? else { return Ok(None) };
    let stored = store.events(trace, summary.head.sequence, 1)?.pop();
    let event = stored.and_then(|stored| Event::parse(&stored.bytes).ok());
    Ok(event.map(|event| event.envelope().time))
}

fn time(system: OperatingSystem, newest: Option<Timestamp>) -> Check {
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
        None => ahead(now, newest).unwrap_or_else(|| Check::ok("clock", clock(now))),
    }
}

/// Returns the check of a clock that may be far ahead of the record. A folder that nobody used for so long looks the same.
fn ahead(now: Timestamp, newest: Option<Timestamp>) -> Option<Check> {
    let newest = newest.filter(|newest| now > newest.plus_millis(MAX_CLOCK_LEAD_MILLIS))?;
    let found = format!("{}, more than a year after the newest event, {}", clock(now), clock(newest));
    let hint = "if that is not the time, set the clock of this machine before anything is recorded: deadlines that lie in \
                between pass, and time in the record never goes back";
    Some(Check::warning("clock", found, hint))
}

/// How many damaged places are named.
const MAX_NAMED: usize = 5;
/// How many milliseconds a clock may be behind the record before that is a problem.
const MAX_CLOCK_LAG_MILLIS: u64 = 60_000;
/// How many milliseconds a clock may be ahead of the record before that is told.
const MAX_CLOCK_LEAD_MILLIS: u64 = 366 * 24 * 3_600_000;
