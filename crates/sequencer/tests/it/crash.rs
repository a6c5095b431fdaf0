//! Crash safety with real processes, real files and real faults (ONE-05, LED-22): killed writers, power cuts at every
//! write and sync, calls that fail, full disks, second owners, damaged pages.

mod child;
mod damage;
mod dice;
mod failing;
mod full;
mod kill;
mod making;
mod owner;
mod power;
mod shim;
mod snapshot;
mod swap;
mod work;

use std::path::Path;

use tempfile::TempDir;

/// Returns a folder in memory where the machine has one: what a dead process wrote is there whatever the medium, and
/// a sync costs nothing.
fn in_memory() -> TempDir {
    if Path::new(MEMORY).is_dir() {
        tempfile::tempdir_in(MEMORY).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

const MEMORY: &str = "/dev/shm";
