//! Records as the desk keeps them: JSON documents under a name, changed by compare and swap. What a newer version wrote is
//! refused where it is asked for, and passed over in lists.

#[cfg(test)]
mod tests;

use demur_api::{code::Code, refusal::Refusal};
use demur_core::time::Timestamp;
use demur_sequencer::SequencerError;
use demur_store::contract::{KeptRecord, RecordKey, RecordValue, Store, StoreError, Swap, Version};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    owner::Owner,
    pages::{self, ENTRIES_PER_READ},
};

/// Returns every record whose key begins so.
pub(crate) fn all(store: &dyn Store, prefix: &str) -> Result<Vec<KeptRecord>, Refusal> {
    pages::read_to_end(|last: Option<&KeptRecord>| {
        store.records(prefix, last.map(|last| &last.key), ENTRIES_PER_READ)
    })
}

/// Returns a record with what it says.
pub(crate) fn find<T: DeserializeOwned>(
    store: &dyn Store,
    key: &RecordKey,
) -> Result<Option<(Version, T)>, Refusal> {
    let Some(kept) = store.record(key)? else { return Ok(None) };
    Ok(Some((kept.version, read(&kept)?)))
}

/// Returns what a record says.
pub(crate) fn read<T: DeserializeOwned>(kept: &KeptRecord) -> Result<T, Refusal> {
    let unread = |error: serde_json::Error| {
        let key = kept.key.to_string();
        // JSON of another shape is a newer version's; anything else nobody wrote.
        Refusal::from(if error.is_data() {
            StoreError::WordNewer { what: "record", word: key }
        } else {
            StoreError::Corrupt { what: format!("record {key} is not JSON") }
        })
    };
    serde_json::from_slice(&kept.value.bytes).map_err(unread)
}

/// Returns what a record of a list says; none where it cannot be read: it does not hide the others.
pub(crate) fn listed<T: DeserializeOwned>(kept: &KeptRecord) -> Option<T> {
    let warn = |error: &Refusal| {
        tracing::warn!(record = %kept.key, code = error.code.as_str(), %error, "a record is passed over");
    };
    read(kept).inspect_err(warn).ok()
}

/// Returns what a record is to say, and until when.
pub(crate) fn value(document: &impl Serialize, expires: Option<Timestamp>) -> Result<RecordValue, Refusal> {
    let bytes = serde_json::to_vec(document).map_err(|error| Refusal::bug(&error))?;
    Ok(RecordValue { bytes, expires })
}

/// Returns the swap that makes a record where there is none.
pub(crate) const fn creation(key: RecordKey, next: RecordValue) -> Swap {
    Swap { key, was: Version::ABSENT, next: Some(next) }
}

/// Returns the swap that takes a record away.
pub(crate) const fn removal(key: RecordKey, was: Version) -> Swap {
    Swap { key, was, next: None }
}

/// Makes room for one more record whose key begins so: takes away what has expired, and of the rest those that end first where there
/// are more than `most`.
pub(crate) fn make_room(owner: &Owner, prefix: &str, most: usize, now: Timestamp) -> Result<(), Refusal> {
    let store = owner.sequencer().store();
    for kept in store.due(prefix, now, most)? {
        swap(owner, vec![removal(kept.key, kept.version)])?;
    }
    let mut waiting = all(store, prefix)?;
    waiting.sort_by_key(|kept| kept.value.expires);
    let too_many = (waiting.len() + 1).saturating_sub(most);
    for kept in waiting.into_iter().take(too_many) {
        swap(owner, vec![removal(kept.key, kept.version)])?;
    }
    Ok(())
}

/// Takes a record away, if it is there.
pub(crate) fn remove(owner: &Owner, key: &RecordKey) -> Result<(), Refusal> {
    for _ in 0..ATTEMPTS {
        let Some(kept) = owner.sequencer().store().record(key)? else { return Ok(()) };
        if swap(owner, vec![removal(key.clone(), kept.version)])? {
            return Ok(());
        }
    }
    Err(contended())
}

/// Changes records, all of them or none, and returns whether they were what they were taken for.
pub(crate) fn swap(owner: &Owner, swaps: Vec<Swap>) -> Result<bool, Refusal> {
    match owner.sequencer().swap(swaps) {
        Ok(()) => Ok(true),
        Err(SequencerError::RecordChanged) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Tries until no record has changed between a look and the commit that depends on it.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> Result<T, Refusal>) -> Result<T, Refusal> {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Err(refusal) if refusal.code == Code::RecordChanged => {}
            done => return done,
        }
    }
    Err(contended())
}

/// Returns the refusal of a caller whom others forestalled again and again.
pub(crate) fn contended() -> Refusal {
    SequencerError::Contended.into()
}

/// How often somebody else may be faster.
pub(crate) const ATTEMPTS: usize = 16;
