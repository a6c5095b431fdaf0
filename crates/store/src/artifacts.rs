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

use demur_core::limit::Limits;
use demur_ledger::entry::Address;
use rustix::{fs::OFlags, io::Errno};

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
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some((file, length)) = open(&self.file(address))? else { return Ok(None) };
            let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
            file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        match read() {
            Ok(Some(bytes)) if Address::of(&bytes) == *address => Ok(Some(bytes)),
            Ok(None) => Ok(None),
            Ok(Some(_)) => Err(other_bytes(address)),
            Err(error) if is_no_file(&error) => Err(other_bytes(address)),
            Err(error) => Err(io_trouble("read an artifact")(error)),
        }
    }

    /// Returns whether there is a file for this address, without opening it.
    pub fn has(&self, address: &Address) -> Result<bool, StoreError> {
        match self.file(address).symlink_metadata() {
            Ok(metadata) => Ok(metadata.is_file()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io_trouble("look for an artifact")(error)),
        }
    }

    /// Removes the bytes of an address, durably. Where there are none, nothing happens.
    pub fn remove(&self, address: &Address) -> Result<(), StoreError> {
        let path = self.file(address);
        let remove = || {
            remove_if_there(&path)?;
            sync_folder(path.parent().unwrap_or(&self.path))
        };
        remove().map_err(io_trouble("remove an artifact"))
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

/// Opens the file of an artifact, with its length, or nothing if there is none. A pipe, device or link in its place is
/// neither waited for nor followed, and a file longer than an artifact is not read.
fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        // Neither there nor missing: whoever asks is told of trouble.
        return Err(ErrorKind::IsADirectory.into());
    }
    if metadata.is_file() && metadata.len() <= MAX_BYTES {
        Ok(Some((file, metadata.len())))
    } else {
        Err(ErrorKind::InvalidData.into())
    }
}

/// Returns whether something that is no file of an artifact has its name: a link, a socket, or what is too long.
fn is_no_file(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    error.kind() == ErrorKind::InvalidData
        || [Errno::LOOP, Errno::NXIO].iter().any(|one| code == Some(one.raw_os_error()))
}

/// Returns whether the file holds exactly these bytes, or nothing if there is no file. A damaged file must not
/// swallow a good copy.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<Option<bool>> {
    let (mut file, length) = match open(path) {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(None),
        Err(error) if is_no_file(&error) => return Ok(Some(false)),
        Err(error) => return Err(error),
    };
    if length != bytes.len() as u64 {
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
    let file = format!("artifacts/{shard}/{}...", &name[..4]);
    StoreError::Corrupt { what: format!("the file {file} holds other bytes, or is no plain file") }
}

/// How long an artifact can be: more does not fit into a line of an export.
const MAX_BYTES: u64 = Limits::LINE.bytes as u64;

/// How much of a file is compared at once.
const CHUNK_BYTES: usize = 64 * 1024;
