//! Two desks find one store empty.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use demur_desk::{data::DataFolder, owner::Owner};
use demur_store::contract::Leases as _;

use super::at_once::empty_store;

#[test]
fn empty_store_is_created_once_and_opened_by_everybody() {
    for _ in 0..16 {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().to_owned());
        let store = Arc::new(empty_store());
        let start = Barrier::new(2);
        let open = || {
            start.wait();
            Owner::over(&data, &(Arc::clone(&store) as _)).unwrap()
        };
        let [(here, created), (elsewhere, created_there)] = thread::scope(|scope| {
            let there = scope.spawn(open);
            [open(), there.join().unwrap()]
        });
        assert!(created != created_there, "one of them created it");
        assert_eq!(here.sequencer().registry().trace(), elsewhere.sequencer().registry().trace());
        assert_eq!(store.leases().unwrap().len(), 2, "no lease is left over");
    }
}
