//! Secrets: gone from every file once they are forgotten, never in a backup.

use std::{
    fs,
    path::{Path, PathBuf},
};

use demur_core::{
    commitment::{Commitment, Salt},
    random::{Random as _, Seeded},
};
use demur_store::{
    contract::{Store as _, StoreError},
    sqlite::SqliteStore,
};
use demur_testing::sample::keep_record;

use super::Filled;

/// Returns the files below a folder that hold these bytes.
pub(super) fn holding(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
    found
}

/// Returns a value of this length that stands nowhere else.
fn value(seed: u64, length: usize) -> Vec<u8> {
    let mut value = vec![0; length];
    Seeded::from_number(seed).fill(&mut value);
    value
}

/// Returns a commitment that stands for this number.
fn committed(number: u8) -> Commitment {
    Commitment::to_secret(&Salt::from_bytes([number; 32]), b"")
}

/// Returns a part of a value that lies on one page, wherever the pages end.
fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.chunks_exact(16)
}

/// SQLite keeps small values with their row and large ones on pages of their own.
const LENGTHS: [usize; 4] = [16, 400, 5_000, 100_000];

#[test]
fn no_file_holds_a_forgotten_secret() {
    let filled = Filled::new();
    let store = filled.open();
    // A neighbour on the same page stays.
    let kept = value(99, 64);
    store.keep_secret(&committed(100), &kept).unwrap();
    for (number, length) in (0..).zip(LENGTHS) {
        let (secret, replaced) = (value(number.into(), length), value(50 + u64::from(number), length));
        let at = &committed(number);
        store.keep_secret(at, &replaced).unwrap();
        store.keep_secret(at, &secret).unwrap();
        assert_eq!(store.secret(at).unwrap().as_ref(), Some(&secret));
        assert!(parts(&secret).any(|part| !holding(&filled.path(), part).is_empty()));
        store.forget_secret(at).unwrap();
        for part in parts(&secret).chain(parts(&replaced)).step_by(97) {
            assert_eq!(holding(&filled.path(), part), Vec::<PathBuf>::new(), "{length} bytes");
        }
    }
    assert_eq!(store.secret(&committed(100)).unwrap(), Some(kept));
}

/// A reader in the middle of a page holds the log, but not the secrets.
#[test]
fn secret_is_forgotten_although_somebody_reads() {
    let filled = Filled::new();
    let store = filled.open();
    let (at, secret) = (&committed(1), value(1, 32));
    let reader = filled.raw();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    store.keep_secret(at, &secret).unwrap();
    keep_record(&store, "a", b"b").unwrap();
    store.forget_secret(at).unwrap();
    assert_eq!(holding(&filled.path(), &secret), Vec::<PathBuf>::new());
}

#[test]
fn secret_outlives_a_restart_and_is_for_its_owner_only() {
    let filled = Filled::new();
    let store = filled.open();
    let file = filled.path().join("secrets.db");
    assert!(!file.exists());
    let at = &committed(1);
    store.keep_secret(at, b"swordfish").unwrap();
    assert_eq!(super::mode(&file), 0o600);
    drop(store);
    let reader = SqliteStore::open_read_only(filled.path()).unwrap();
    let store = filled.open();
    for store in [&reader, &store] {
        assert_eq!(store.secret(at).unwrap().as_deref(), Some(b"swordfish".as_slice()));
    }
    assert!(matches!(reader.forget_secret(at), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.keep_secret(at, b""), Err(StoreError::ReadOnly)));
    store.forget_secret(at).unwrap();
    assert_eq!(reader.secret(at).unwrap(), None);
    drop(store);
    assert_eq!(filled.open().secret(at).unwrap(), None);
}

/// A file that a crash left empty is no obstacle.
#[test]
fn unfinished_file_of_secrets_is_finished() {
    let filled = Filled::new();
    fs::write(filled.path().join("secrets.db"), b"").unwrap();
    let at = &committed(1);
    let store = filled.open();
    assert_eq!(store.secret(at).unwrap(), None);
    store.forget_secret(at).unwrap();
    store.keep_secret(at, b"swordfish").unwrap();
    assert_eq!(store.secret(at).unwrap().as_deref(), Some(b"swordfish".as_slice()));
}

#[test]
fn backup_and_restored_store_hold_no_secret() {
    let filled = Filled::new();
    let store = filled.open();
    let (at, secret) = (&committed(1), value(1, 5_000));
    store.keep_secret(at, &secret).unwrap();
    let (backup, restored) = (filled.folder.path().join("backup"), filled.folder.path().join("restored"));
    store.backup(&backup, &mut |_| {}).unwrap();
    SqliteStore::restore(&backup, &restored, &[], &mut |_| {}).unwrap();
    for folder in [&backup, &restored] {
        for part in parts(&secret).step_by(37) {
            assert_eq!(holding(folder, part), Vec::<PathBuf>::new());
        }
    }
    let copy = SqliteStore::open(&restored).unwrap();
    assert_eq!(copy.secret(at).unwrap(), None);
    assert_eq!(store.secret(at).unwrap(), Some(secret));
}
