//! The folder of a demo: new, or at least empty.

use std::{
    env,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use demur_core::random::Random as _;
use demur_desk::{durable, operating_system::OperatingSystem, visible::visible_path};

use crate::failure::Failure;

/// Returns a folder that nothing else uses: the one named, or one in the system's temporary directory.
pub(super) fn make_folder(named: Option<&Path>, system: &mut OperatingSystem) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => make_named(path),
        None => make_temporary(system),
    }
}

fn make_named(path: &Path) -> Result<PathBuf, Failure> {
    let trouble = |error| Failure::file("create the folder", path, &error);
    durable::create_folder(path).map_err(trouble)?;
    if path.read_dir().map_err(trouble)?.next().is_some() {
        let message = format!("expected a new or empty folder, found files in {}", visible_path(path));
        return Err(Failure::input("FOLDER_NOT_EMPTY", message).with_hint("name another with --keep"));
    }
    Ok(path.to_owned())
}

fn make_temporary(system: &mut OperatingSystem) -> Result<PathBuf, Failure> {
    let mut suffix = [0; 8];
    system.fill(&mut suffix);
    let path = env::temp_dir().join(format!("demur-demo-{:016x}", u64::from_be_bytes(suffix)));
    // Not recursive: a folder that is there already belongs to somebody else.
    let created = DirBuilder::new().mode(0o700).create(&path);
    created.map_err(|error| Failure::file("create the folder", &path, &error))?;
    Ok(path)
}
