//! The keys of a registry with what became of each, drawn from the registry and its events.

use demur_api::key::{KeyEntry, Moment, Revocation, Status};
use demur_core::key::Fingerprint;
use demur_ledger::{name::Sequence, registry::KeyRecord};

use crate::{key_directory::KeyDirectory, keyring::Keyring};

/// Returns every key of a directory, the oldest first.
pub fn entries(key_directory: &KeyDirectory, keyring: &dyn Keyring) -> Vec<KeyEntry> {
    let mut entries: Vec<KeyEntry> = key_directory
        .registry()
        .keys()
        .filter_map(|(fingerprint, record)| entry(key_directory, keyring, fingerprint, record))
        .collect();
    entries.sort_by_key(|entry| entry.since.event);
    entries
}

fn entry(
    key_directory: &KeyDirectory,
    keyring: &dyn Keyring,
    fingerprint: &Fingerprint,
    record: &KeyRecord,
) -> Option<KeyEntry> {
    let status = match record {
        KeyRecord { revoked: Some(_), .. } => Status::Revoked,
        KeyRecord { retired: Some(_), .. } => Status::Retired,
        KeyRecord { rotated: Some(_), .. } => Status::Rotated,
        _ => Status::Active,
    };
    let rotated = record.rotated.and_then(|at| moment(key_directory, at));
    let overlap = rotated.filter(|_| status == Status::Rotated);
    Some(KeyEntry {
        fingerprint: *fingerprint,
        name: key_directory.name(record.principal).to_owned(),
        origin: record.origin.into(),
        principal: record.principal,
        public_key: record.public,
        recovery: record.recovery,
        retires_after: overlap.map(|moment| moment.time.plus_millis(KEY_OVERLAP_MILLIS)),
        retired: record.retired.and_then(|at| moment(key_directory, at)),
        revoked: record.revoked.and_then(|at| revocation(key_directory, at)),
        roles: record.roles.clone(),
        rotated,
        secret_here: Some(keyring.holds(fingerprint)),
        since: moment(key_directory, record.since)?,
        status,
    })
}

fn moment(key_directory: &KeyDirectory, at: Sequence) -> Option<Moment> {
    key_directory.time(at).map(|time| Moment { event: at, time })
}

fn revocation(key_directory: &KeyDirectory, at: Sequence) -> Option<Revocation> {
    let (reason, note) = key_directory.revocation(at)?;
    let note = note.filter(|note| note != NO_NOTE);
    Some(Revocation { event: at, note, reason, time: key_directory.time(at)? })
}

/// What a revocation notes when nobody wrote a note: the event type always has one.
pub const NO_NOTE: &str = "no note";

/// How long a key stays usable after its rotation, in milliseconds: 24 hours.
pub const KEY_OVERLAP_MILLIS: u64 = 24 * 60 * 60 * 1000;
