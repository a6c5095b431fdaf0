//! Backup and restore.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use demur_store::{
    contract::{Cursor, RESTORED, Records as _, Store as _, StoreError, StoreStep},
    sqlite::SqliteStore,
};
use demur_testing::sample::{done, keep_record, record};

use super::Filled;

#[test]
fn backup_made_while_appends_go_on_is_one_moment_of_the_store() {
    let mut filled = Filled::new();
    let store = filled.open();
    let before = store.changes(Cursor::START, 10_000).unwrap().len();
    let (backup, made) = (filled.folder.path().join("backup"), AtomicBool::new(false));
    let appended = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut appended = 0;
            // At least one before the copy begins to be waited for and one after it has ended.
            while !made.load(Ordering::Acquire) || appended < 2 {
                store.put_artifact(format!("artifact {appended}").as_bytes()).unwrap();
                filled.sample.record(&mut filled.work, format!("artifact {appended}").as_bytes());
                done(&store, &[filled.sample.append(&mut filled.work)]);
                appended += 1;
            }
            appended
        });
        store.backup(&backup, &mut |_| {}).unwrap();
        made.store(true, Ordering::Release);
        writer.join().unwrap()
    });
    let all = store.changes(Cursor::START, 10_000).unwrap();
    assert_eq!(all.len(), before + appended);

    let copy = SqliteStore::open_read_only(&backup).unwrap();
    let copied = copy.changes(Cursor::START, 10_000).unwrap();
    assert!(copied.len() >= before);
    assert_eq!(copied, all[..copied.len()]);
    assert_eq!(copy.check(&mut |_| {}).unwrap(), []);
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
}

#[test]
fn restored_store_is_the_backed_up_one_and_says_that_it_was_restored() {
    let mut filled = Filled::new();
    let (backup, restored) = (filled.folder.path().join("backup"), filled.folder.path().join("a/restored"));
    let store = filled.open();
    keep_record(&store, "cursor", b"7").unwrap();
    super::post(&store, "log", b"told");
    let mut steps = Vec::new();
    store.backup(&backup, &mut |progress| steps.push(progress.step)).unwrap();
    assert_eq!(steps, [StoreStep::Copy, StoreStep::Copy, StoreStep::Artifacts, StoreStep::Artifacts]);
    assert_eq!(record(&store, RESTORED), None);
    let before = fs::read(backup.join("ledger.db")).unwrap();

    SqliteStore::restore(&backup, &restored, &[], &mut |_| {}).unwrap();
    assert_eq!(fs::read(backup.join("ledger.db")).unwrap(), before);
    let copy = SqliteStore::open(&restored).unwrap();
    assert_eq!(copy.changes(Cursor::START, 1000).unwrap(), store.changes(Cursor::START, 1000).unwrap());
    assert_eq!(copy.traces(None, 100).unwrap(), store.traces(None, 100).unwrap());
    assert_eq!(record(&copy, "cursor").as_deref(), Some(b"7".as_slice()));
    assert_eq!(record(&copy, RESTORED).as_deref(), Some(b"".as_slice()));
    assert_eq!(super::posts(&copy, "log"), super::posts(&store, "log"));
    assert_eq!(super::posts(&copy, "log")[0].bytes, b"told");
    assert_eq!(copy.check(&mut |_| {}).unwrap(), []);
    filled.sample.record(&mut filled.work, b"two");
    done(&copy, &[filled.sample.append(&mut filled.work)]);
}

#[test]
fn secrets_beside_the_store_are_not_backed_up() {
    let filled = Filled::new();
    fs::create_dir(filled.path().join("keys")).unwrap();
    fs::write(filled.path().join("keys/desk.key"), b"secret").unwrap();
    let backup = filled.folder.path().join("backup");
    filled.open().backup(&backup, &mut |_| {}).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(&backup).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["artifacts", "ledger.db", "lock"]);
    assert_eq!(super::mode(&backup.join("ledger.db")), 0o600);
    assert_eq!(super::mode(&backup), 0o700);
}

#[test]
fn nothing_is_overwritten() {
    let filled = Filled::new();
    let store = filled.open();
    let error = store.backup(filled.folder.path(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    let backup = filled.folder.path().join("backup");
    store.backup(&backup, &mut |_| {}).unwrap();
    assert!(matches!(store.backup(&backup, &mut |_| {}), Err(StoreError::Foreign { .. })));
    drop(store);
    let before = fs::read(filled.database()).unwrap();
    let error = SqliteStore::restore(&backup, &filled.path(), &[], &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(fs::read(filled.database()).unwrap(), before);
    let error =
        SqliteStore::restore(&filled.folder.path().join("none"), &backup, &[], &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
}

#[test]
fn backup_that_cannot_be_completed_is_no_store() {
    let filled = Filled::new();
    let (artifact, backup) = (artifact(&filled), filled.folder.path().join("backup"));
    fs::remove_file(&artifact).unwrap();
    // Neither there nor missing: nobody knows.
    fs::create_dir(&artifact).unwrap();
    let error = filled.open().backup(&backup, &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Trouble { .. }), "{error}");
    assert_eq!(fs::read_dir(&backup).unwrap().count(), 0);
    fs::remove_dir(&artifact).unwrap();
    filled.open().backup(&backup, &mut |_| {}).unwrap();
}

/// Returns the file of an artifact.
fn artifact(filled: &Filled) -> PathBuf {
    let address = demur_ledger::entry::Address::of(b"two").to_string();
    filled.path().join("artifacts").join(&address[..2]).join(&address[2..])
}

#[test]
fn artifact_that_the_store_has_lost_is_named_and_keeps_nothing_else_from_coming_back() {
    let filled = Filled::new();
    for damaged in [true, false] {
        let [backup, restored] =
            ["backup", "restored"].map(|name| filled.folder.path().join(format!("{name}-{damaged}")));
        if damaged {
            fs::write(artifact(&filled), b"other").unwrap();
        } else {
            fs::remove_file(artifact(&filled)).unwrap();
        }
        let lost = filled.open().backup(&backup, &mut |_| {}).unwrap();
        assert_eq!(lost.iter().map(|lost| lost.damaged).collect::<Vec<_>>(), [damaged]);
        let back = SqliteStore::restore(&backup, &restored, &[], &mut |_| {}).unwrap();
        assert_eq!(back.lost.iter().map(|lost| lost.sequence).collect::<Vec<_>>(), [lost[0].sequence]);
        let again = SqliteStore::open(&restored).unwrap();
        assert_eq!(again.records("lost-artifact/", None, 10).unwrap(), []);
        let problems = |store: SqliteStore| store.check(&mut |_| {}).unwrap().len();
        assert_eq!(problems(again), problems(filled.open()));
    }
}

#[test]
fn records_that_are_left_behind_are_not_in_the_restored_store() {
    let filled = Filled::new();
    let [backup, restored] = ["backup", "restored"].map(|name| filled.folder.path().join(name));
    let store = filled.open();
    for key in ["link/one", "token/one", "token/two", "tokens", "name/token/"] {
        keep_record(&store, key, b"1").unwrap();
    }
    store.backup(&backup, &mut |_| {}).unwrap();
    let back = SqliteStore::restore(&backup, &restored, &["token/", "link/"], &mut |_| {}).unwrap();
    assert_eq!(back.left, 3);
    let copy = SqliteStore::open(&restored).unwrap();
    let there = |key| record(&copy, key).is_some();
    assert_eq!(
        ["link/one", "token/one", "token/two", "tokens", "name/token/"].map(there),
        [false, false, false, true, true]
    );
}
