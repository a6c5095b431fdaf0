//! Two desks over one store that do something in the same moment, on two threads.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use demur_core::time::Timestamp;
use demur_desk::{data::DataFolder, owner::Owner};
use demur_store::memory::MemoryStore;
use tempfile::TempDir;

/// Does the same with each of two desks, on two threads that begin together.
pub(super) fn at_once<T: Send>(owners: &[Owner; 2], act: impl Fn(usize, &Owner) -> T + Sync) -> [T; 2] {
    let (start, act) = (Barrier::new(2), &act);
    let run = |at: usize| {
        start.wait();
        act(at, &owners[at])
    };
    thread::scope(|scope| {
        let there = scope.spawn(|| run(1));
        [run(0), there.join().unwrap()]
    })
}

/// Returns two desks with the secrets of one folder.
pub(super) fn two_owners() -> ([Owner; 2], TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::at(folder.path().to_owned());
    let store = Arc::new(empty_store());
    ([(); 2].map(|()| Owner::over(&data, &(Arc::clone(&store) as _)).unwrap().0), folder)
}

/// Returns a store in which nothing is recorded.
pub(super) fn empty_store() -> MemoryStore {
    MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap())
}
