//! The record that the shim makes (`shim.c`), as steps that a [`Disk`] can take.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use demur_ledger::name::{Position, TraceId};

use super::disk::{Disk, FileId};
use crate::crash::child;

/// One thing a process did to its files, or was told.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { path: PathBuf, file: FileId },
    MakeFolder { path: PathBuf },
    Write { file: FileId, offset: usize, bytes: Arc<[u8]> },
    Truncate { file: FileId, length: usize },
    SyncFile { file: FileId },
    SyncFolder { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf },
    Unlink { path: PathBuf },
    Acknowledge { trace: TraceId, position: Position },
}

/// Where the child notes what was acknowledged to it.
pub(super) const ACKNOWLEDGEMENTS: &str = "acknowledged";

/// A folder before a process worked in it.
pub(super) struct Before {
    root: PathBuf,
    pub(super) disk: Disk,
    files: BTreeMap<u64, FileId>,
    folders: BTreeMap<u64, PathBuf>,
}

impl Before {
    /// Returns what is in a folder now.
    pub(super) fn at(root: &Path) -> Self {
        let mut before = Self {
            root: root.to_path_buf(),
            disk: Disk::default(),
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
        };
        before.take_in(root);
        before
    }

    fn take_in(&mut self, folder: &Path) {
        let inode = fs::metadata(folder).unwrap().ino();
        self.folders.insert(inode, self.inside(folder));
        self.disk.has_folder(self.inside(folder));
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.take_in(&path);
            } else {
                let file = self.disk.has_file(self.inside(&path), fs::read(&path).unwrap());
                self.files.insert(fs::metadata(&path).unwrap().ino(), file);
            }
        }
    }

    /// Returns the steps in a record of what happened since.
    pub(super) fn steps(&self, mut record: &[u8]) -> Vec<Step> {
        let mut reader = Reader {
            before: self,
            files: self.files.clone(),
            folders: self.folders.clone(),
            next: self.disk.count(),
            told: None,
        };
        let mut steps = Vec::new();
        while let Some((entry, rest)) = Entry::first(record) {
            steps.extend(reader.step(&entry));
            record = rest;
        }
        assert!(record.is_empty(), "the record ends with an entry");
        steps
    }

    fn inside(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap().to_path_buf()
    }
}

/// One entry of a record.
struct Entry<'a> {
    kind: u8,
    inode: u64,
    offset: u64,
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    fn first(record: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (kind, record) = record.split_first()?;
        let (inode, record) = record.split_first_chunk()?;
        let (offset, record) = record.split_first_chunk()?;
        let (length, record) = record.split_first_chunk()?;
        let (bytes, rest) = record.split_at_checked(u32::from_ne_bytes(*length) as usize)?;
        let (inode, offset) = (u64::from_ne_bytes(*inode), u64::from_ne_bytes(*offset));
        Some((Self { kind: *kind, inode, offset, bytes }, rest))
    }
}

/// Knows which file an inode is at this point of the record.
struct Reader<'a> {
    before: &'a Before,
    files: BTreeMap<u64, FileId>,
    folders: BTreeMap<u64, PathBuf>,
    next: FileId,
    /// The file of acknowledgements.
    told: Option<FileId>,
}

impl Reader<'_> {
    fn step(&mut self, entry: &Entry<'_>) -> Option<Step> {
        let offset = usize::try_from(entry.offset).unwrap();
        Some(match entry.kind {
            b'c' => self.create(entry)?,
            b'd' => {
                let path = self.path(entry.bytes);
                let known = self.folders.insert(entry.inode, path.clone());
                return known.is_none().then_some(Step::MakeFolder { path });
            }
            b's' => match self.folders.get(&entry.inode) {
                Some(path) => Step::SyncFolder { path: path.clone() },
                None => Step::SyncFile { file: *self.files.get(&entry.inode)? },
            },
            b'w' if self.told.is_some() && self.files.get(&entry.inode) == self.told.as_ref() => {
                let line = std::str::from_utf8(entry.bytes).unwrap();
                let (trace, position) = child::acknowledged(line.trim_end()).unwrap();
                Step::Acknowledge { trace, position }
            }
            b'w' => Step::Write { file: *self.files.get(&entry.inode)?, offset, bytes: entry.bytes.into() },
            b't' => Step::Truncate { file: *self.files.get(&entry.inode)?, length: offset },
            b'r' => {
                let middle = entry.bytes.iter().position(|byte| *byte == 0).unwrap();
                let (from, to) = (self.path(&entry.bytes[..middle]), self.path(&entry.bytes[middle + 1..]));
                Step::Rename { from, to }
            }
            b'u' => Step::Unlink { path: self.path(entry.bytes) },
            other => panic!("an entry of an unknown kind: {other}"),
        })
    }

    /// Files that a restart makes anew are left out: the shared memory of SQLite and the lock.
    fn create(&mut self, entry: &Entry<'_>) -> Option<Step> {
        let path = self.path(entry.bytes);
        self.folders.remove(&entry.inode);
        self.files.remove(&entry.inode);
        if path.as_os_str().as_bytes().ends_with(b"-shm") {
            return None;
        }
        let file = self.next;
        self.next += 1;
        self.files.insert(entry.inode, file);
        if path.as_os_str() == ACKNOWLEDGEMENTS {
            self.told = Some(file);
        }
        Some(Step::Create { path, file })
    }

    fn path(&self, bytes: &[u8]) -> PathBuf {
        self.before.inside(Path::new(std::ffi::OsStr::from_bytes(bytes)))
    }
}
