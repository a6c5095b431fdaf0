//! Leases of a folder that one process alone has open: its lock is the lease. Nothing expires, and every lease of an
//! earlier opening is dead.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use demur_core::{hash::Digest, time::Timestamp};
use rusqlite::{Connection, Result, Row, params};

use super::column::{self, number};
use crate::contract::{Lease, LeaseId};

/// The leases that this process began and has not ended. Asked in each commit, so they are not in the database alone.
#[derive(Debug, Default)]
pub(super) struct Living(Mutex<BTreeSet<LeaseId>>);

impl Living {
    pub(super) fn add(&self, lease: LeaseId) {
        self.lock().insert(lease);
    }

    pub(super) fn remove(&self, lease: LeaseId) {
        self.lock().remove(&lease);
    }

    pub(super) fn has(&self, lease: LeaseId) -> bool {
        self.lock().contains(&lease)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<LeaseId>> {
        // A set is whole whatever happened to its last user.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a new lease, under an id that none ever had.
pub(super) fn begin(connection: &Connection, rules: Digest, began: Timestamp) -> Result<Lease> {
    let sql = "INSERT INTO leases (rules, began) VALUES (?1, ?2)";
    let id = connection.prepare_cached(sql)?.insert(params![rules.as_bytes(), number(began.as_millis())])?;
    let id = LeaseId::new(u64::try_from(id).unwrap_or_default());
    Ok(Lease { id, rules, began, expires: None, lives: true })
}

/// Forgets a lease that ended in good order.
pub(super) fn end(connection: &Connection, lease: LeaseId) -> Result<()> {
    let sql = "DELETE FROM leases WHERE id = ?1";
    connection.prepare_cached(sql)?.execute([number(lease.number())]).map(|_| ())
}

/// Returns every lease that was not ended in good order.
pub(super) fn all(connection: &Connection, living: &Living) -> Result<Vec<Lease>> {
    let mut statement = connection.prepare_cached("SELECT id, rules, began FROM leases ORDER BY id")?;
    let lease = |row: &Row<'_>| {
        let id = LeaseId::new(column::unsigned(row, 0)?);
        let (rules, began) = (column::digest(row, 1)?, column::time(row, 2)?);
        Ok(Lease { id, rules, began, expires: None, lives: living.has(id) })
    };
    statement.query_map([], lease)?.collect()
}
