//! Calls of the system that fail, one after the other: each write, sync, truncation, creation, renaming and removal of a
//! process meets a full disk or a broken one. The process says so and lives; what it acknowledged is there.

use std::{fs, path::Path, sync::Arc};

use demur_sequencer::SequencerError;
use demur_store::sqlite::SqliteStore;
use demur_testing::{office::Office, sample::rounds};

use super::{
    child::{self, Child},
    dice::Dice,
    in_memory,
    shim::Shim,
    work::{self, Ledgered},
};

/// ONE-05
#[test]
fn proof_calls_that_fail_are_told_and_lose_nothing_acknowledged() {
    if let Some(folder) = child::folder() {
        return work_on(&folder);
    }
    let (shim, mut dice, mut told) = (Shim::compile(), Dice::new(8), 0);
    let calls = calls(&shim);
    assert!(calls > 100, "{calls} calls");
    let all = (0..calls).flat_map(|call| [(call, NO_ROOM), (call, BROKEN)]);
    let chosen: Vec<_> = all.filter(|_| dice.index(rounds(1, 16)) == 0).collect();
    for (call, errno) in &chosen {
        let place = in_memory();
        let root = fs::canonicalize(place.path()).unwrap();
        prepare(&root);
        let mut command = child::command(NAME, &root.join("store"));
        shim.fail(&mut command, &root, *call, *errno);
        let heard = Child::start(command).finish();
        let positions = heard.iter().filter_map(|line| child::acknowledged(line));
        let acknowledged: Ledgered =
            positions.map(|(trace, position)| ((trace, position.sequence), position.hash)).collect();
        told += usize::from(heard.iter().any(|line| line.starts_with(TOLD)));

        let desk = Office::at(Arc::new(SqliteStore::open(root.join("store")).unwrap())).unwrap();
        work::expect_all(desk.sequencer.store(), &acknowledged);
        work::go_on(&desk, ALL, &|_, _| ()).unwrap();
        for (trace, _) in acknowledged.keys() {
            work::expect_whole(&desk, *trace);
        }
    }
    eprintln!("{} calls failed, {told} of them were told", chosen.len());
    assert!(told > chosen.len() / 3, "{told} of {} failures were told", chosen.len());
}

/// The life of a child that meets a failure somewhere.
fn work_on(folder: &Path) {
    let opened = SqliteStore::open(folder).map_err(SequencerError::from);
    let desk = match opened.and_then(|store| Office::at(Arc::new(store))) {
        Ok(desk) => desk,
        Err(error) => return child::say(format!("{TOLD}{error}")),
    };
    let mut errors = Vec::new();
    for _ in 0..4 {
        let step = work::go_on(&desk, ALL, &child::acknowledge)
            .and_then(|mut ready| ready[0].call(&desk, &child::acknowledge));
        errors.extend(step.err().map(|error| error.to_string()));
    }
    for error in &errors {
        child::say(format!("{TOLD}{error}"));
    }
    // A disk that was full for a moment is told once; after a sync that failed nothing is written any more.
    let unconfirmed = errors.first().is_some_and(|error| error.contains("did not confirm"));
    assert!(errors.len() <= 1 || unconfirmed, "{errors:?}");
    if let Err(error) = desk.sequencer.close() {
        child::say(format!("{TOLD}{error}"));
    }
}

/// Returns how many calls there are that can fail.
fn calls(shim: &Shim) -> usize {
    let place = in_memory();
    let root = fs::canonicalize(place.path()).unwrap();
    prepare(&root);
    let mut command = child::command(NAME, &root.join("store"));
    shim.record(&mut command, &root);
    let heard = Child::start(command).finish();
    assert!(!heard.iter().any(|line| line.starts_with(TOLD)), "{heard:?}");
    let (mut record, mut count) = (&shim.recorded()[..], 0);
    // Kind, inode, offset, length: see `shim.c`. Opening a folder to sync it is no call that fails.
    while let Some((head, rest)) = record.split_first_chunk::<21>() {
        count += usize::from(head[0] != b'd');
        record = &rest[u32::from_ne_bytes([head[17], head[18], head[19], head[20]]) as usize..];
    }
    count
}

fn prepare(root: &Path) {
    let desk = work::create(&root.join("store"), 2, &|_, _| ());
    desk.sequencer.close().unwrap();
}

const NAME: &str = concat!(module_path!(), "::proof_calls_that_fail_are_told_and_lose_nothing_acknowledged");

/// What a child says of an error begins so.
const TOLD: &str = "told ";

/// `ENOSPC` and `EIO`.
const NO_ROOM: i32 = 28;
const BROKEN: i32 = 5;

/// As many traces as there are.
const ALL: usize = 1000;
