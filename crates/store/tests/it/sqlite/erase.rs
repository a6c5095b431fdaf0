//! Erased words are in no file any more: not on free pages, not in the log, not beside the database.

use std::path::PathBuf;

use demur_store::contract::{Kept, Store as _};
use demur_testing::sample::done;

use super::{Filled, secret::holding};

/// Some rows lie side by side on a page, others have pages of their own; what is erased next may have been moved by what was
/// erased before.
#[test]
fn no_file_holds_what_was_erased() {
    let mut filled = Filled::new();
    let store = filled.open();
    let mut work = filled.sample.executing();
    let mut marks = Vec::new();
    for number in 0..60_u32 {
        let length = [40, 700, 9_000][usize::try_from(number).unwrap() % 3];
        let bytes = [format!("artifact-{number:04}-secret").into_bytes(), vec![b'.'; length]].concat();
        store.put_artifact(&bytes).unwrap();
        filled.sample.record(&mut work, &bytes);
        let entry = work.newest();
        let opening = entry.opening.as_ref().unwrap();
        let at = u32::try_from(entry.event.position().sequence.number()).unwrap();
        marks.push((
            at,
            opening.salt.as_bytes().to_vec(),
            format!("artifact-{number:04}-secret").into_bytes(),
        ));
        done(&store, &[filled.sample.append(&mut work)]);
    }
    let is_somewhere = |mark: &[u8]| !holding(&filled.path(), mark).is_empty();
    assert!(marks.iter().all(|(_, salt, bytes)| is_somewhere(salt) && is_somewhere(bytes)));
    // Every other one first, from both ends.
    let mut order: Vec<_> = marks.iter().step_by(2).collect();
    order.extend(marks.iter().skip(1).step_by(2).rev());
    for (count, (at, salt, bytes)) in order.into_iter().enumerate() {
        filled.sample.erase(&mut work, *at);
        done(&store, &[filled.sample.append(&mut work)]);
        store.scrub().unwrap();
        for mark in [salt, bytes] {
            assert_eq!(holding(&filled.path(), mark), Vec::<PathBuf>::new(), "event {at}, erasure {count}");
        }
    }
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
}

/// The process ends between the record and the removal of what is left in files.
#[test]
fn store_that_is_opened_finishes_what_a_crash_left() {
    let mut filled = Filled::new();
    let (mut work, copy) = (filled.sample.executing(), tempfile::tempdir().unwrap());
    let store = filled.open();
    let address = store.put_artifact(b"nobody may know this").unwrap();
    filled.sample.record(&mut work, b"nobody may know this");
    let salt = work.newest().opening.as_ref().unwrap().salt.as_bytes().to_vec();
    done(&store, &[filled.sample.append(&mut work)]);
    filled.sample.erase(&mut work, 4);
    done(&store, &[filled.sample.append(&mut work)]);
    // What a crash would leave now: the files as they are, with the log.
    let crashed = copy.path().join("store");
    super::copy_folder(&filled.path(), &crashed);
    for mark in [&salt[..], b"nobody may know this"] {
        assert!(!holding(&crashed, mark).is_empty(), "there is nothing to finish");
    }
    let store = demur_store::sqlite::SqliteStore::open(&crashed).unwrap();
    for mark in [&salt[..], b"nobody may know this"] {
        assert_eq!(holding(&crashed, mark), Vec::<PathBuf>::new());
    }
    let stored = store.events(work.trace(), 4_u32.into(), 1).unwrap().pop().unwrap();
    assert_eq!((stored.content, stored.artifact), (Kept::Erased, Kept::Erased));
    assert_eq!(store.artifact(&address).unwrap(), None);
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
}

/// Whoever reads holds the log: that is said, and the next try removes the rest.
#[test]
fn scrubbing_says_when_somebody_reads() {
    let mut filled = Filled::new();
    let store = filled.open();
    let mut work = filled.sample.executing();
    done(&store, &[filled.sample.append(&mut work)]);
    let reader = filled.raw();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    filled.sample.erase(&mut work, 2);
    done(&store, &[filled.sample.append(&mut work)]);
    store.scrub().unwrap_err();
    reader.execute_batch("ROLLBACK").unwrap();
    store.scrub().unwrap();
}
