//! The records of a store in memory.

use std::collections::BTreeMap;

use demur_core::time::Timestamp;

use crate::contract::{KeptRecord, RecordKey, RecordValue, Swap, Version};

/// Every record.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordTable {
    kept: BTreeMap<RecordKey, (RecordValue, Version)>,
    /// The newest version that was given out.
    newest: u64,
}

impl RecordTable {
    /// Returns whether every record is what it was.
    pub(super) fn hold(&self, swaps: &[Swap]) -> bool {
        let version = |key| self.kept.get(key).map_or(Version::ABSENT, |(_, version)| *version);
        swaps.iter().all(|swap| version(&swap.key) == swap.was)
    }

    /// Changes records that hold.
    pub(super) fn swap(&mut self, swaps: &[Swap]) {
        for Swap { key, next, .. } in swaps {
            match next {
                None => drop(self.kept.remove(key)),
                Some(value) => {
                    self.newest += 1;
                    self.kept.insert(key.clone(), (value.clone(), Version::new(self.newest)));
                }
            }
        }
    }

    pub(super) fn find(&self, key: &RecordKey) -> Option<KeptRecord> {
        self.kept.get_key_value(key).map(kept)
    }

    pub(super) fn page(&self, prefix: &str, after: Option<&RecordKey>, limit: usize) -> Vec<KeptRecord> {
        let behind = |key: &RecordKey| after.is_none_or(|after| key > after);
        self.beginning(prefix).filter(|(key, _)| behind(key)).take(limit).map(kept).collect()
    }

    pub(super) fn due(&self, prefix: &str, now: Timestamp, limit: usize) -> Vec<KeptRecord> {
        let due = |(_, (value, _)): &Entry<'_>| value.expires.is_some_and(|expires| expires <= now);
        let mut found: Vec<_> = self.beginning(prefix).filter(due).map(kept).collect();
        found.sort_by_key(|record| record.value.expires);
        found.truncate(limit);
        found
    }

    fn beginning(&self, prefix: &str) -> impl Iterator<Item = Entry<'_>> {
        self.kept.iter().filter(move |(key, _)| key.as_str().starts_with(prefix))
    }
}

type Entry<'a> = (&'a RecordKey, &'a (RecordValue, Version));

fn kept((key, (value, version)): Entry<'_>) -> KeptRecord {
    KeptRecord { key: key.clone(), value: value.clone(), version: *version }
}
