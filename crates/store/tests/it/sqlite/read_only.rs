//! Reading beside the owner, and folders and files that cannot be written.

use std::{
    env, fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};

use demur_ledger::name::Sequence;
use demur_store::{
    contract::{Failure, LeaseId, RecordKey, Store as _, StoreError, Swap, Version, Write},
    sqlite::SqliteStore,
};
use demur_testing::sample::{commit, done};

use super::Filled;

#[test]
fn reader_beside_the_owner_sees_every_commit_at_once() {
    let mut filled = Filled::new();
    let owner = filled.open();
    let reader = SqliteStore::open_read_only(filled.path()).unwrap();
    for _ in 0..3 {
        filled.sample.record(&mut filled.work, b"one");
        done(&owner, &[filled.sample.append(&mut filled.work)]);
        assert_eq!(reader.heads().unwrap(), owner.heads().unwrap());
        assert_eq!(reader.trace(filled.work.trace()).unwrap().unwrap().head, filled.work.head());
    }
}

#[test]
fn reader_writes_nothing() {
    let mut filled = Filled::new();
    let before = fs::read(filled.database()).unwrap();
    filled.sample.record(&mut filled.work, b"one");
    let append = filled.sample.append(&mut filled.work);
    let reader = SqliteStore::open_read_only(filled.path()).unwrap();
    let swap = Swap { key: RecordKey::new("a").unwrap(), was: Version::ABSENT, next: None };
    let of_records = Write::of_records(LeaseId::NONE, vec![swap]);
    let failure = Failure { sequence: None, code: "CHAIN".to_owned() };
    assert!(matches!(commit(&reader, &[append]), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.put_artifact(b"new"), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.commit(&[of_records]), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.mark_failed(filled.work.trace(), &failure), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.rebuild(), Err(StoreError::ReadOnly)));
    assert_eq!(reader.events(filled.work.trace(), Sequence::FIRST, 100).unwrap().len(), 14);
    // Its owner is not hindered.
    filled.open();
    drop(reader);
    assert_eq!(fs::read(filled.database()).unwrap(), before);
}

/// Permissions mean nothing to root, so the test runs its second half as somebody else.
#[test]
fn folder_or_file_that_cannot_be_written_is_reported() {
    if let Some(path) = env::var_os(CHILD) {
        let said = match SqliteStore::open(path) {
            Ok(_) => "it opened".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        eprintln!("said: {said}");
        return;
    }
    let filled = Filled::new();
    // Cleanly closed, so that the database is one file. The owner's folder is opened to everybody for this test.
    chmod(filled.folder.path(), 0o755);
    let program = filled.folder.path().join("program");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    chmod(&program, 0o755);

    let (folder, lock) = (filled.path(), filled.path().join("lock"));
    chmod(&folder, 0o555);
    chmod(&lock, 0o444);
    chmod(&filled.database(), 0o444);
    assert_eq!(said_by_another_user(&program, &folder), "ReadOnly");
    // The folder and the lock can be written, the database cannot.
    chmod(&folder, 0o777);
    chmod(&lock, 0o666);
    assert_eq!(said_by_another_user(&program, &folder), "ReadOnly");
}

fn said_by_another_user(program: &Path, store: &Path) -> String {
    let mut command = Command::new(program);
    command.env(CHILD, store).args(["--exact", "--nocapture"]);
    command.arg("sqlite::read_only::folder_or_file_that_cannot_be_written_is_reported");
    if fs::metadata(program).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let said = text.lines().find_map(|line| line.strip_prefix("said: "));
    said.unwrap_or_else(|| panic!("the child said nothing: {text}")).to_owned()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Names the store that a child process is to open.
const CHILD: &str = "DEMUR_TEST_READ_ONLY_STORE";

/// The user who owns nothing.
const NOBODY: u32 = 65534;
