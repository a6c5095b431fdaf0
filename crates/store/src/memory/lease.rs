//! The leases of a store in memory, shared or not.

use std::collections::BTreeMap;

use demur_core::{hash::Digest, time::Timestamp};

use crate::{
    clock,
    contract::{Lease, LeaseId, StoreError},
};

/// Every lease that was not ended in good order.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaseTable {
    kept: BTreeMap<LeaseId, Lease>,
    newest: u64,
    /// The clock of a store that is shared.
    clock: Option<Timestamp>,
}

impl LeaseTable {
    pub(super) fn share(&mut self, now: Timestamp) {
        self.clock = Some(now);
    }

    pub(super) const fn are_shared(&self) -> bool {
        self.clock.is_some()
    }

    pub(super) fn pass(&mut self, millis: u64) {
        self.clock = self.clock.map(|now| now.plus_millis(millis));
    }

    /// Nobody else can have had an unshared store open any more.
    pub(super) fn reopen(&mut self) {
        if !self.are_shared() {
            self.kept.values_mut().for_each(|lease| lease.lives = false);
        }
    }

    pub(super) fn begin(&mut self, rules: Digest) -> Lease {
        self.newest += 1;
        let (id, began) = (LeaseId::new(self.newest), self.now());
        let lease = Lease { id, rules, began, expires: self.end_of_life(), lives: true };
        self.kept.insert(id, lease);
        lease
    }

    pub(super) fn renew(&mut self, id: LeaseId) -> Result<Timestamp, StoreError> {
        let (expires, lives) = (self.end_of_life(), self.lives(id));
        let lease = self.kept.get_mut(&id).filter(|_| lives).ok_or(StoreError::LeaseLost)?;
        lease.expires = expires;
        Ok(self.now())
    }

    /// A dead lease stays: its process crashed, whatever it says now.
    pub(super) fn end(&mut self, id: LeaseId) {
        if self.lives(id) {
            self.kept.remove(&id);
        }
    }

    pub(super) fn all(&self) -> Vec<Lease> {
        self.kept.values().map(|lease| Lease { lives: self.lives(lease.id), ..*lease }).collect()
    }

    pub(super) fn lives(&self, id: LeaseId) -> bool {
        let now = self.now();
        let lives = |lease: &Lease| lease.lives && lease.expires.is_none_or(|expires| now < expires);
        self.kept.get(&id).is_some_and(lives)
    }

    fn end_of_life(&self) -> Option<Timestamp> {
        self.clock.map(|now| now.plus_millis(LEASE_LIFETIME_MILLIS))
    }

    fn now(&self) -> Timestamp {
        self.clock.unwrap_or_else(clock::now)
    }
}

/// How long a lease lives unless it is renewed.
const LEASE_LIFETIME_MILLIS: u64 = 15_000;
