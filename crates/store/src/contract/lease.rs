//! Leases: who writes to a store, and who is dead without having said so. Each event names the lease under which it was
//! written, so that whoever comes back asks who wrote the newest event of a trace, not when.

use demur_core::{hash::Digest, time::Timestamp};

use super::StoreError;

/// Gives processes the right to write.
///
/// **Fenced**: every write under a lease that has ended or expired is refused in the commit. **Unshared**: where one process
/// alone can have the store open, its lock is the lease: nothing has to be renewed or expires, because laptops sleep, and
/// every lease of an earlier opening is dead. **Shared**: a lease expires unless it is renewed, by the clock of the store.
/// **Ended in good order** means gone: what is left in the list lives, or its process crashed.
pub trait Leases {
    /// Begins a use of the store. `rules` says by which rules the process goes, so that others can compare.
    fn begin_lease(&self, rules: Digest) -> Result<Lease, StoreError>;

    /// Goes on with a lease, and returns the time of the store. [`StoreError::LeaseLost`] once it is dead: for good.
    fn renew_lease(&self, lease: LeaseId) -> Result<Timestamp, StoreError>;

    /// Ends a lease in good order. Where there is none any more, nothing happens.
    fn end_lease(&self, lease: LeaseId) -> Result<(), StoreError>;

    /// Returns the leases that live and those of processes that crashed, by ascending id.
    fn leases(&self) -> Result<Vec<Lease>, StoreError>;
}

/// Names a lease. None is used twice in one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaseId(u64);

impl LeaseId {
    /// No lease: every store refuses what is written under it.
    pub const NONE: Self = Self(0);

    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

/// The right of one process to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its name.
    pub id: LeaseId,
    /// The rules of the process.
    pub rules: Digest,
    /// When it began, by the clock of the store.
    pub began: Timestamp,
    /// Until when it lives unless it is renewed; none where nothing expires.
    pub expires: Option<Timestamp>,
    /// Whether its process may write now. One that may not, and is in the list, crashed or slept for too long.
    pub lives: bool,
}
