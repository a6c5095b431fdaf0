//! The files of artifacts are plain files: whatever else has the name of one is neither waited for nor followed.

use std::{fs, os::unix::fs::symlink};

use demur_ledger::entry::Address;
use demur_store::{artifacts::Artifacts, contract::StoreError};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// ONE-13
#[test]
fn pipes_links_and_endless_files_are_no_artifacts() {
    let folder = tempfile::tempdir().unwrap();
    let artifacts = Artifacts::at(folder.path());
    artifacts.prepare().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, b"linked").unwrap();
    let file = |bytes: &[u8]| {
        let text = Address::of(bytes).to_string();
        folder.path().join(&text[..2]).join(&text[2..])
    };
    mknodat(CWD, file(b"pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    symlink(&elsewhere, file(b"linked")).unwrap();
    symlink("/dev/zero", file(b"device")).unwrap();
    fs::File::create(file(b"long")).unwrap().set_len(1 << 40).unwrap();
    // Opening the pipe as a file would wait for a writer for good.
    for bytes in [b"pipe".as_slice(), b"linked", b"device", b"long"] {
        let found = artifacts.read(&Address::of(bytes));
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
        assert!(matches!(artifacts.put(bytes), Err(StoreError::Corrupt { .. })));
    }
    assert!(!artifacts.has(&Address::of(b"linked")).unwrap());
    let kept = artifacts.put(b"plain").unwrap();
    assert_eq!(artifacts.read(&kept).unwrap().as_deref(), Some(b"plain".as_slice()));
}
