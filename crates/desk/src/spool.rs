//! A file that is read more than once, though it came in a stream: it has no name and goes away with the process.

use std::{
    env,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
};

use demur_core::random::Random as _;

use crate::{durable, operating_system::OperatingSystem};

/// Returns a new file whose name is gone already, however the process ends. Nobody else can open it.
pub fn nameless() -> io::Result<File> {
    let mut suffix = [0; 8];
    OperatingSystem::open().map_err(|error| io::Error::other(error.to_string()))?.fill(&mut suffix);
    let path = env::temp_dir().join(format!("demur-spool-{:016x}", u64::from_be_bytes(suffix)));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    durable::discard(&path);
    Ok(file)
}
