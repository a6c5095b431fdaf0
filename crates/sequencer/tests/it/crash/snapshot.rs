//! Writers that are killed around the moment at which a snapshot of a long trace is written.

use std::{fs, path::Path, sync::Arc};

use demur_engine::snapshot::VERSION;
use demur_ledger::name::TraceId;
use demur_store::sqlite::SqliteStore;
use demur_testing::{office::Office, sample::rounds};

use super::{
    child::{self, ACKNOWLEDGED, Child},
    dice::Dice,
    in_memory,
    work::{self, Bustle, Ledgered},
};

/// LED-22
#[test]
fn proof_killed_around_its_snapshot_a_long_trace_goes_on() {
    if let Some(folder) = child::folder() {
        let desk = Office::at(Arc::new(SqliteStore::open(folder).unwrap())).unwrap();
        let ready = work::go_on(&desk, 1, &child::acknowledge).unwrap();
        return CALLS.run(&desk, &ready, &child::acknowledge);
    }
    let (place, mut dice) = (in_memory(), Dice::new(4));
    let [pattern, path] = ["pattern", "store"].map(|name| place.path().join(name));
    let trace = grow(&pattern);
    let mut with = 0;
    let count = rounds(60, 2);
    for _ in 0..count {
        copy(&pattern, &path);
        let mut writer = Child::start(child::command(NAME, &path));
        (0..=dice.roll(40)).for_each(|_| writer.hear(ACKNOWLEDGED));
        let heard = writer.kill();
        let positions = heard.iter().filter_map(|line| child::acknowledged(line));
        let acknowledged: Ledgered =
            positions.map(|(trace, position)| ((trace, position.sequence), position.hash)).collect();

        let desk = Office::at(Arc::new(SqliteStore::open(&path).unwrap())).unwrap();
        work::expect_all(desk.sequencer.store(), &acknowledged);
        with += usize::from(desk.sequencer.store().snapshot(trace, VERSION).unwrap().is_some());
        work::go_on(&desk, 1, &|_, _| ()).unwrap();
        work::expect_whole(&desk, trace);
        drop(desk);
        fs::remove_dir_all(&path).unwrap();
    }
    assert!(with >= rounds(5, 0) && with <= count - rounds(5, 0), "{with} of {count} after the snapshot");
}

/// Makes a store with a run that is about to get its first snapshot, and returns the run.
fn grow(path: &Path) -> TraceId {
    let desk = work::create(path, 1, &|_, _| ());
    let ready = work::go_on(&desk, 1, &|_, _| ()).unwrap();
    let trace = ready[0].run.trace;
    let length = || desk.sequencer.store().trace(trace).unwrap().unwrap().head.sequence.number();
    while length() < SNAPSHOT - 40 {
        let threads = if length() < SNAPSHOT - 400 { 8 } else { 1 };
        Bustle { threads, steps: 4, ..CALLS }.run(&desk, &ready, &|_, _| ());
    }
    assert!(desk.sequencer.store().snapshot(trace, VERSION).unwrap().is_none());
    desk.sequencer.close().unwrap();
    trace
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            fs::copy(entry, target).unwrap();
        }
    }
}

const NAME: &str = concat!(module_path!(), "::proof_killed_around_its_snapshot_a_long_trace_goes_on");

/// Threads that call tools in one run until they are killed.
const CALLS: Bustle = Bustle { threads: 4, steps: usize::MAX, besides: None };

/// The length at which a run gets a snapshot.
const SNAPSHOT: u64 = 4096;
