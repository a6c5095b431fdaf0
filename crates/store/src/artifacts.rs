//! Artifacts as files, addressed by the plain SHA-256 of their bytes (`artifacts/ab/cdef...`; LED-12, LED-17).
//!
//! A file has its final name only when its bytes are on the disk, so whoever finds one need not ask who wrote
//! it. Writers take no lock: two that bring the same bytes rename two equal files to one name.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind, Read, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use demur_ledger::entry::Address;

use crate::{
    contract::StoreError,
    folder::{create_folders, io_trouble, remove_if_there, sync_folder},
};

/// The artifacts of a store.
#[derive(Debug)]
pub struct Artifacts {
    path: PathBuf,
    /// Numbers the files in the making.
    counter: AtomicU64,
}

impl Artifacts {
    /// Returns the artifacts in this folder; nothing is touched.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), counter: AtomicU64::new(0) }
    }

    /// Makes the folders that are missing, durably, and removes what a dead process left unfinished. For the
    /// owner only, before anybody writes.
    pub fn prepare(&self) -> Result<(), StoreError> {
        let prepare = || {
            create_folders(&self.path)?;
            for shard in 0..=u8::MAX {
                create_folder(&self.path.join(format!("{shard:02x}")))?;
            }
            let unfinished = self.unfinished();
            create_folder(&unfinished)?;
            for file in fs::read_dir(&unfinished)? {
                remove_if_there(&file?.path())?;
            }
            sync_folder(&self.path)
        };
        prepare().map_err(io_trouble("prepare the folders of artifacts"))
    }

    /// Keeps bytes and returns their address. Durable when it returns.
    pub fn put(&self, bytes: &[u8]) -> Result<Address, StoreError> {
        let address = Address::of(bytes);
        let path = self.file(&address);
        let there = holds(&path, bytes).map_err(io_trouble("read an artifact"))?;
        match there {
            Some(true) => {}
            Some(false) => return Err(other_bytes(&address)),
            None => self.write(&path, bytes).map_err(io_trouble("write an artifact"))?,
        }
        // Also when the file was there: its writer may not have come this far yet.
        let shard = path.parent().unwrap_or(&self.path);
        if let Err(error) = sync_folder(shard) {
            // The next sync may lie about this name, so whoever tries again must write it anew.
            let _ = fs::remove_file(&path);
            return Err(io_trouble("sync the folder of an artifact")(error));
        }
        Ok(address)
    }

    /// Returns kept bytes, if they are there and are what the address says.
    pub fn read(&self, address: &Address) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes = match fs::read(self.file(address)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_trouble("read an artifact")(error)),
        };
        if Address::of(&bytes) == *address { Ok(Some(bytes)) } else { Err(other_bytes(address)) }
    }

    /// Returns whether there is a file for this address, without reading it.
    pub fn has(&self, address: &Address) -> Result<bool, StoreError> {
        self.file(address).try_exists().map_err(io_trouble("look for an artifact"))
    }

    /// The path is made from a digest only, never from a name somebody chose.
    fn file(&self, address: &Address) -> PathBuf {
        let text = address.to_string();
        let (shard, name) = text.split_at(2);
        self.path.join(shard).join(name)
    }

    fn unfinished(&self) -> PathBuf {
        self.path.join("new")
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.unfinished().join(format!("{}-{number}", process::id()));
        let written = fill(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // The failure itself is what the caller hears about.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Returns whether the file holds exactly these bytes, or nothing if there is no file. A damaged file must not
/// swallow a good copy.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<Option<bool>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.len() != bytes.len() as u64 {
        return Ok(Some(false));
    }
    let mut chunk = vec![0; CHUNK_BYTES.min(bytes.len())];
    for expected in bytes.chunks(CHUNK_BYTES) {
        let found = &mut chunk[..expected.len()];
        file.read_exact(found)?;
        if found != expected {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

fn create_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created,
    }
}

/// Names the file by its first digits only: the whole address would let a reader of logs confirm a guess.
fn other_bytes(address: &Address) -> StoreError {
    let text = address.to_string();
    let (shard, name) = text.split_at(2);
    StoreError::Corrupt { what: format!("the file artifacts/{shard}/{}... holds other bytes", &name[..4]) }
}

/// How much of a file is compared at once.
const CHUNK_BYTES: usize = 64 * 1024;
