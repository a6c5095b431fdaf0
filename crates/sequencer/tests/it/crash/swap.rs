//! Writers that are killed while they record events and change a record with each: the record is where the trace is.

use std::path::Path;

use demur_ledger::facts::ProposalCreated;
use demur_store::{
    contract::{RecordKey, RecordValue, Records as _, Store as _, Swap, Version, Write, WriteOutcome},
    sqlite::SqliteStore,
};
use demur_testing::sample::{Sample, rounds, writer};

use super::{
    child::{self, ACKNOWLEDGED, Child},
    dice::Dice,
    in_memory,
};

/// ONE-05
#[test]
fn proof_killed_between_event_and_record_leaves_both_or_neither() {
    if let Some(folder) = child::folder() {
        return record_until_killed(&folder);
    }
    let mut dice = Dice::new(12);
    for _ in 0..rounds(200, 6) {
        let place = in_memory();
        let path = place.path().join("store");
        let mut child = Child::start(child::command(TEST, &path));
        for _ in 0..=dice.index(40) {
            child.hear(ACKNOWLEDGED);
        }
        let lines = child.kill();
        let (trace, last) = lines.iter().rev().find_map(|line| child::acknowledged(line)).unwrap();
        let store = SqliteStore::open(&path).unwrap();
        let head = store.trace(trace).unwrap().unwrap().head;
        assert!(head.sequence >= last.sequence);
        let record = store.record(&key()).unwrap().unwrap();
        assert_eq!(record.value.bytes, head.sequence.number().to_be_bytes());
        assert_eq!(store.check(&mut |_| ()).unwrap(), []);
    }
}

/// The life of a child.
fn record_until_killed(folder: &Path) {
    let store = SqliteStore::create(folder).unwrap();
    let mut sample = Sample::in_store(&store);
    let lease = writer(&store).unwrap();
    let mut work = sample.open();
    loop {
        let append = Some(sample.append(&mut work));
        let was = store.record(&key()).unwrap().map_or(Version::ABSENT, |record| record.version);
        let bytes = work.head().sequence.number().to_be_bytes().to_vec();
        let next = Some(RecordValue { bytes, expires: None });
        let write = Write { append, ..Write::of_records(lease, vec![Swap { key: key(), was, next }]) };
        assert_eq!(store.commit(&[write]).unwrap(), [WriteOutcome::Done]);
        child::acknowledge(work.trace(), work.head());
        sample.say(&mut work, ProposalCreated { fallback_for: None, replaces: None });
    }
}

fn key() -> RecordKey {
    RecordKey::new("newest").unwrap()
}

const TEST: &str = concat!(module_path!(), "::proof_killed_between_event_and_record_leaves_both_or_neither");
