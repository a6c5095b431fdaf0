//! What SQLite's store promises beyond the contract: its folder, its owner, its readers, its log.

mod artifact_files;
mod backup;
mod damage;
mod erase;
mod read_only;
mod rebuild;
mod secret;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    slice,
};

use demur_core::hash::sha256;
use demur_ledger::{entry::Address, name::Sequence};
use demur_store::{
    contract::{
        Cursor, Kept, KeptPost, Leases as _, Post, Store as _, StoreError, StreamName, StreamPosition,
        Streams as _, Write, WriteOutcome,
    },
    sqlite::SqliteStore,
};
use demur_testing::sample::{Sample, Work, commit, done, keep_record, record, writer};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder with a store that has a registry and two runs, one of them with artifacts; nobody has it open.
struct Filled {
    folder: TempDir,
    sample: Sample,
    work: Work,
}

impl Filled {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::create(folder.path().join("store")).unwrap();
        let mut sample = Sample::in_store(&store);
        let mut works = [sample.executing(), sample.executing()];
        for (number, bytes) in (0..20).zip([b"one", b"two"].into_iter().cycle()) {
            store.put_artifact(bytes).unwrap();
            let work = &mut works[number % 2];
            sample.record(work, bytes);
            done(&store, &[sample.append(work)]);
        }
        let [work, _] = works;
        Self { folder, sample, work }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn database(&self) -> PathBuf {
        self.path().join("ledger.db")
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(self.path()).unwrap()
    }

    fn raw(&self) -> Connection {
        Connection::open(self.database()).unwrap()
    }
}

fn post(store: &SqliteStore, stream: &str, bytes: &[u8]) {
    let stream = StreamName::new(stream).unwrap();
    let posts = vec![Post { stream, name: None, bytes: bytes.to_vec(), expires: None }];
    let write = Write { posts, ..Write::of_records(writer(store).unwrap(), Vec::new()) };
    assert_eq!(store.commit(&[write]).unwrap(), [WriteOutcome::Done]);
}

fn posts(store: &SqliteStore, stream: &str) -> Vec<KeptPost> {
    store.posts(&StreamName::new(stream).unwrap(), StreamPosition::START, 100).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// ONE-05, LED-22
#[test]
fn everything_is_there_after_a_restart_and_the_next_append_works() {
    let mut filled = Filled::new();
    let store = filled.open();
    let before = store.changes(Cursor::START, 1000).unwrap();
    let (heads, traces) = (store.heads().unwrap(), store.traces(None, 100).unwrap());
    keep_record(&store, "cursor", b"7").unwrap();
    drop(store);

    let store = filled.open();
    assert_eq!(store.changes(Cursor::START, 1000).unwrap(), before);
    assert_eq!(store.heads().unwrap(), heads);
    assert_eq!(store.traces(None, 100).unwrap(), traces);
    assert_eq!(record(&store, "cursor").as_deref(), Some(b"7".as_slice()));
    assert_eq!(store.artifact(&Address::of(b"one")).unwrap().as_deref(), Some(b"one".as_slice()));
    filled.sample.record(&mut filled.work, b"one");
    done(&store, &[filled.sample.append(&mut filled.work)]);
    let after = store.changes(before.last().unwrap().0, 10).unwrap();
    assert_eq!(after.len(), 1);
}

#[test]
fn second_owner_is_refused_and_told_by_which_file() {
    let filled = Filled::new();
    let first = filled.open();
    for second in [SqliteStore::open(filled.path()), SqliteStore::create(filled.path())] {
        let error = second.unwrap_err();
        assert!(matches!(error, StoreError::Owned { .. }), "{error}");
        assert!(error.to_string().contains(filled.path().join("lock").to_str().unwrap()));
    }
    drop(first);
    filled.open();
}

/// ONE-05
#[test]
fn lock_file_that_is_deleted_or_made_anew_lets_nobody_in() {
    let filled = Filled::new();
    let first = filled.open();
    let lock = filled.path().join("lock");
    fs::remove_file(&lock).unwrap();
    assert!(matches!(SqliteStore::open(filled.path()), Err(StoreError::Owned { .. })));
    fs::write(&lock, "").unwrap();
    assert!(matches!(SqliteStore::open(filled.path()), Err(StoreError::Owned { .. })));
    drop(first);
    filled.open();
}

#[test]
fn files_are_for_their_owner_only() {
    let filled = Filled::new();
    let store = filled.open();
    keep_record(&store, "a", b"b").unwrap();
    for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "lock"] {
        assert_eq!(mode(&filled.path().join(file)), 0o600, "{file}");
    }
    let address = Address::of(b"one").to_string();
    let file = filled.path().join("artifacts").join(&address[..2]).join(&address[2..]);
    assert_eq!(mode(&file), 0o600);
    for folder in [filled.path().as_path(), file.parent().unwrap(), &filled.path().join("artifacts")] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}

#[test]
fn store_is_created_once_and_opened_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Missing { .. })));
    assert!(matches!(SqliteStore::open_read_only(&path), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
    SqliteStore::create(&path).unwrap();
    assert!(matches!(SqliteStore::create(&path), Err(StoreError::Exists { .. })));
    SqliteStore::open(&path).unwrap();
}

/// ONE-05
#[test]
fn creation_that_was_cut_off_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ledger.db.new"), b"half a database").unwrap();
    fs::write(folder.path().join("ledger.db.new-journal"), b"half a journal").unwrap();
    assert!(matches!(SqliteStore::open(folder.path()), Err(StoreError::Missing { .. })));
    let store = SqliteStore::create(folder.path()).unwrap();
    assert_eq!(store.check(&mut |_| {}).unwrap(), []);
}

#[test]
fn log_without_its_database_is_not_replayed_into_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ledger.db-wal"), b"the log of another database").unwrap();
    let error = SqliteStore::create(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(fs::read(folder.path().join("ledger.db-wal")).unwrap(), b"the log of another database");
}

/// LED-29
#[test]
fn ledger_is_neither_changed_nor_deleted_by_sql() {
    let filled = Filled::new();
    let raw = filled.raw();
    for sql in [
        "UPDATE events SET bytes = x'00' WHERE ordinal = 3",
        "UPDATE events SET head = NULL",
        "UPDATE events SET ordinal = ordinal + 1000",
        "DELETE FROM events WHERE ordinal = 3",
        "DELETE FROM events",
        "UPDATE traces SET opened = 0",
        "DELETE FROM traces",
        "UPDATE events SET content = x'00', content_salt = x'' WHERE ordinal = 10",
        "UPDATE events SET content = x'' WHERE ordinal = 10",
        "UPDATE events SET artifact = NULL, artifact_salt = NULL WHERE ordinal = 10",
    ] {
        let error = raw.execute(sql, []).unwrap_err();
        assert!(error.to_string().contains("is never"), "{sql}: {error}");
    }
    drop(raw);
    assert_eq!(filled.open().check(&mut |_| {}).unwrap(), []);
}

#[test]
fn erased_content_reads_as_erased_and_the_rest_stands() {
    let filled = Filled::new();
    let sql = "UPDATE events SET content = x'', content_salt = x'' WHERE ordinal = 9;
               UPDATE events SET content = x'', content_salt = x'', artifact = x'', artifact_salt = x''
               WHERE ordinal = 10";
    filled.raw().execute_batch(sql).unwrap();
    let store = filled.open();
    let eighth = store.changes(Cursor::START, 8).unwrap()[7].0;
    let changes = store.changes(eighth, 3).unwrap();
    assert_eq!((&changes[0].1.content, &changes[0].1.artifact), (&Kept::Erased, &Kept::Absent));
    assert_eq!((&changes[1].1.content, &changes[1].1.artifact), (&Kept::Erased, &Kept::Erased));
    assert!(matches!(changes[2].1.content, Kept::Here(_)));
    // Nobody recorded it: that is found.
    let problems = store.check(&mut |_| {}).unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|problem| format!("{problem:?}").contains("no event says by whom")));
}

#[test]
fn lock_of_another_program_is_reported_and_survived() {
    let mut filled = Filled::new();
    let store = filled.open();
    filled.sample.record(&mut filled.work, b"one");
    let append = filled.sample.append(&mut filled.work);

    let other = filled.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(commit(&store, slice::from_ref(&append)), Err(StoreError::Locked)));
    assert!(matches!(keep_record(&store, "a", b"b"), Err(StoreError::Locked)));
    // Who only reads does not notice.
    assert_eq!(store.traces(None, 10).unwrap().len(), 3);
    other.execute_batch("ROLLBACK").unwrap();
    done(&store, &[append]);
}

/// Otherwise a process that goes on would have lost its right to write, and its end would look like a crash.
#[test]
fn lease_that_could_not_be_ended_lives_and_is_ended_again() {
    let filled = Filled::new();
    let store = filled.open();
    let lease = store.begin_lease(sha256(b"rules")).unwrap();
    let before = store.leases().unwrap();
    let other = filled.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.end_lease(lease.id), Err(StoreError::Locked)));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.leases().unwrap(), before);
    store.renew_lease(lease.id).unwrap();
    store.end_lease(lease.id).unwrap();
    assert_eq!(store.leases().unwrap().len(), before.len() - 1);
}

#[test]
fn reader_in_the_middle_of_a_page_does_not_hold_the_writer_up() {
    let mut filled = Filled::new();
    let store = filled.open();
    let reader = filled.raw();
    reader.execute_batch("BEGIN").unwrap();
    let mut statement = reader.prepare("SELECT sequence FROM events ORDER BY ordinal").unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut seen = 0;
    while let Some(_row) = rows.next().unwrap() {
        seen += 1;
        if seen % 5 == 0 {
            filled.sample.record(&mut filled.work, b"one");
            done(&store, &[filled.sample.append(&mut filled.work)]);
        }
    }
    // The reader saw the moment at which it began.
    assert_eq!(seen, 33);
    assert_eq!(store.changes(Cursor::START, 1000).unwrap().len(), 33 + 6);
}

#[test]
fn log_comes_to_an_end_under_steady_load() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::create(folder.path()).unwrap();
    let log = folder.path().join("ledger.db-wal");
    let value = vec![7; 1 << 20];
    // Once the log is reused its file stays as it is while far more than its length is written.
    let (mut length, mut unchanged) = (0, 0);
    for _ in 0..2000 {
        keep_record(&store, "load", &value).unwrap();
        let now = fs::metadata(&log).unwrap().len();
        unchanged = if now == length { unchanged + (1 << 20) } else { 0 };
        length = now;
        if unchanged > 2 * length {
            return;
        }
    }
    panic!("the log grew to {length} bytes and was never reused");
}

/// LED-17
#[test]
fn same_bytes_from_many_threads_are_one_file() {
    let filled = Filled::new();
    let store = filled.open();
    let bytes = vec![42; 1 << 20];
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| store.put_artifact(&bytes).unwrap());
        }
    });
    let files = |folder: &Path| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let artifacts = filled.path().join("artifacts");
    let kept: Vec<_> = files(&artifacts).flat_map(|shard| files(&shard)).collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert_eq!(files(&artifacts.join("new")).count(), 0);
}

/// LED-12
#[test]
fn artifact_with_other_bytes_is_reported_never_returned_or_replaced() {
    let filled = Filled::new();
    let store = filled.open();
    let address = Address::of(b"one");
    let text = address.to_string();
    let file = filled.path().join("artifacts").join(&text[..2]).join(&text[2..]);
    for damage in [b"onE".as_slice(), b"on", b""] {
        fs::write(&file, damage).unwrap();
        assert!(matches!(store.artifact(&address), Err(StoreError::Corrupt { .. })));
        assert!(matches!(store.put_artifact(b"one"), Err(StoreError::Corrupt { .. })));
        assert_eq!(fs::read(&file).unwrap(), damage);
    }
    assert!(!store.artifact(&address).unwrap_err().to_string().contains(&text));
}

#[test]
fn unfinished_artifacts_of_a_dead_process_are_swept_up() {
    let filled = Filled::new();
    let unfinished = filled.path().join("artifacts/new/1234-5");
    fs::write(&unfinished, b"half an artif").unwrap();
    let store = filled.open();
    assert!(!unfinished.exists());
    assert_eq!(store.events(filled.work.trace(), Sequence::FIRST, 100).unwrap().len(), 14);
}

/// The lock of the folder is the lease: whoever has it knows that all others are dead.
#[test]
fn every_lease_of_an_earlier_opening_is_dead() {
    let filled = Filled::new();
    let store = filled.open();
    let (crashed, ended) =
        (store.begin_lease(sha256(b"a")).unwrap(), store.begin_lease(sha256(b"b")).unwrap());
    store.end_lease(ended.id).unwrap();
    drop(store);
    let store = filled.open();
    let left = store.leases().unwrap();
    assert!(left.iter().all(|lease| !lease.lives) && left.iter().any(|lease| lease.id == crashed.id));
    assert!(left.iter().all(|lease| lease.id != ended.id));
    assert!(matches!(store.renew_lease(crashed.id), Err(StoreError::LeaseLost)));
    store.end_lease(crashed.id).unwrap();
    assert_eq!(store.leases().unwrap(), left, "it did not end in good order");
    assert!(store.begin_lease(sha256(b"c")).unwrap().id > ended.id);
    let reader = SqliteStore::open_read_only(filled.path()).unwrap();
    assert!(matches!(reader.begin_lease(sha256(b"d")), Err(StoreError::ReadOnly)));
}

/// ONE-05
#[test]
fn store_whose_files_are_gone_acknowledges_nothing_more() {
    for (name, replaced) in [("ledger.db", false), ("ledger.db-wal", false), ("ledger.db", true)] {
        let mut filled = Filled::new();
        let store = filled.open();
        store.expect_in_place().unwrap();
        let path = filled.path().join(name);
        if replaced {
            fs::copy(&path, filled.path().join("copy")).unwrap();
            fs::rename(filled.path().join("copy"), &path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        filled.sample.record(&mut filled.work, b"late");
        store.put_artifact(b"late").unwrap();
        let refused = commit(&store, slice::from_ref(&filled.sample.append(&mut filled.work)));
        assert!(matches!(refused, Err(StoreError::Gone { .. })), "{name}: {refused:?}");
        assert!(matches!(store.expect_in_place(), Err(StoreError::Gone { .. })));
    }
}

/// Copies a folder with everything in it, as a crash would leave it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).unwrap();
        }
    }
}
