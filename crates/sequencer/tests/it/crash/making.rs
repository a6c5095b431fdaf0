//! Stores that are being made when the process is killed: created, backed up, restored. What is there afterwards is a
//! whole store, or none and can be made again.

use std::{path::Path, time::Duration};

use demur_store::{
    contract::{Cursor, RESTORED, Store as _, StoreError},
    sqlite::SqliteStore,
};
use demur_testing::sample::{record, rounds};

use super::{
    child::{self, Child},
    dice::Dice,
    in_memory, work,
};

/// ONE-05
#[test]
fn proof_killed_creation_leaves_a_store_or_none() {
    if let Some(folder) = child::folder() {
        child::say(BEGUN);
        drop(work::create(&folder, 1, &child::acknowledge));
        return;
    }
    let (mut dice, mut missing) = (Dice::new(2), 0);
    for _ in 0..rounds(400, 16) {
        let place = in_memory();
        let path = place.path().join("store");
        kill(CREATION, &path, 15_000, &mut dice);
        missing += usize::from(!path.join("ledger.db").exists());
        let desk = work::reach(&path);
        assert_eq!(desk.sequencer.store().check(&mut |_| ()).unwrap(), []);
        for (trace, _) in desk.sequencer.store().heads().unwrap() {
            work::expect_whole(&desk, trace);
        }
    }
    assert!(missing >= rounds(10, 0), "{missing} children were killed before they were done");
}

/// ONE-05
#[test]
fn proof_killed_backup_and_restoration_leave_a_store_or_none() {
    if let Some(folder) = child::folder() {
        return back_up_and_restore(&folder);
    }
    let (mut dice, mut missing) = (Dice::new(3), 0);
    for _ in 0..rounds(400, 16) {
        let place = in_memory();
        let [source, backup, restored] = NAMES.map(|name| place.path().join(name));
        let desk = work::create(&source, 3, &|_, _| ());
        let before = desk.sequencer.store().changes(Cursor::START, 1000).unwrap();
        drop(desk);
        kill(BACKUP, place.path(), 20_000, &mut dice);

        let same = |path: &Path| match SqliteStore::open_read_only(path) {
            Err(StoreError::Missing { .. }) => false,
            opened => {
                let store = opened.unwrap();
                assert_eq!(store.check(&mut |_| ()).unwrap(), []);
                assert_eq!(store.changes(Cursor::START, 1000).unwrap(), before);
                true
            }
        };
        assert!(same(&source), "the source is as it was");
        if !same(&backup) {
            missing += 1;
            let again = place.path().join("again");
            SqliteStore::open(&source).unwrap().backup(&again, &mut |_| ()).unwrap();
            assert!(same(&again));
        } else if !same(&restored) {
            missing += 1;
            SqliteStore::restore(&backup, &restored, &[], &mut |_| ()).unwrap();
            assert!(same(&restored));
        } else {
            let store = SqliteStore::open(&restored).unwrap();
            assert!(record(&store, RESTORED).is_some(), "a restored store says so from the beginning");
        }
    }
    assert!(missing >= rounds(10, 0), "{missing} children were killed before they were done");
}

fn back_up_and_restore(folder: &Path) {
    let [source, backup, restored] = NAMES.map(|name| folder.join(name));
    let store = SqliteStore::open(source).unwrap();
    child::say(BEGUN);
    store.backup(&backup, &mut |_| ()).unwrap();
    SqliteStore::restore(&backup, &restored, &[], &mut |_| ()).unwrap();
}

/// Runs a test as a child and kills it so many microseconds after it began, at most.
fn kill(test: &str, folder: &Path, longest: u64, dice: &mut Dice) {
    let mut process = Child::start(child::command(test, folder));
    process.hear(BEGUN);
    // The earlier the more interesting.
    let time = dice.roll(longest) + 1;
    process.listen(Duration::from_micros(dice.roll(time)));
    process.kill_if_running();
}

const CREATION: &str = concat!(module_path!(), "::proof_killed_creation_leaves_a_store_or_none");
const BACKUP: &str = concat!(module_path!(), "::proof_killed_backup_and_restoration_leave_a_store_or_none");

/// The source, its backup, and what is restored from that.
const NAMES: [&str; 3] = ["store", "backup", "restored"];

/// What a child says before it begins.
const BEGUN: &str = "begun";
