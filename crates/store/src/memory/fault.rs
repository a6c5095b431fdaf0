//! Faults: what goes wrong in a store in memory, decided by the test.

use crate::contract::StoreError;

/// Something the store is about to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// A call of `commit`.
    Commit,
    /// A call of `put_artifact`.
    Artifact,
    /// A mark, a secret or a lease.
    Operational,
}

/// What goes wrong with one write. After [`StoreError::Uncertain`] the store refuses to write until it is opened
/// again, as every store does.
#[derive(Debug)]
pub enum Fault {
    /// Nothing.
    None,
    /// It fails before anything happened.
    Before(StoreError),
    /// It happens, and then the caller hears this; [`StoreError::Uncertain`], if the test is to be fair.
    After(StoreError),
    /// It is acknowledged, and a power cut before the next honest write undoes it.
    Lie,
}

/// Decides what goes wrong. Asked once for each write, in the order in which they happen.
pub trait Faults: Send + Sync {
    /// Returns the fault for this write.
    fn next(&self, write: Writing) -> Fault;
}

impl<F: Fn(Writing) -> Fault + Send + Sync> Faults for F {
    fn next(&self, write: Writing) -> Fault {
        self(write)
    }
}
