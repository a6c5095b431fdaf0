//! The files of a data folder: who can read them, and whether there is room for more.

use std::{
    fs::{self, Metadata},
    io::ErrorKind,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use demur_desk::{
    data::DataFolder,
    visible::{shell_word, visible_path},
};
use rustix::{
    fs::{Access, access, statvfs},
    process::geteuid,
};

use super::Check;
use crate::{client::log_file, output::counted};

/// Looks at the folder, its keys, its log and its disk.
pub(super) fn check(data: &DataFolder) -> Vec<Check> {
    let folder = data.path();
    let usual = DataFolder::usual().is_some_and(|usual| usual.path() == folder);
    let mut checks = vec![data_folder(folder, usual), disk(folder)];
    checks.extend(keys(&data.keys()));
    checks.extend(log(&log_file(folder)));
    checks
}

fn data_folder(folder: &Path, usual: bool) -> Check {
    let name = visible_path(folder);
    let metadata = match folder.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // The usual folder is made when it is needed. One that somebody named may be mistyped.
            return if usual {
                let found = format!("{name} is not there yet; the first question or key makes it");
                Check::note("folder", found)
            } else {
                Check::problem("folder", format!("{name} is not there"), NAMED)
            };
        }
        Err(error) => return Check::problem("folder", format!("{name}: {error}"), ANOTHER),
        Ok(metadata) if !metadata.is_dir() => {
            return Check::problem("folder", format!("{name} is no folder"), ANOTHER);
        }
        Ok(metadata) => metadata,
    };
    let check = private("folder", folder, &metadata, (0o700, 0o700));
    if check.hint.is_none() && access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return Check::problem("folder", format!("{name} cannot be written by you"), ANOTHER);
    }
    check
}

/// Returns whether a file or a folder is ours alone: it has the modes that we need, and no more than it may have.
pub(super) fn private(
    check: &'static str,
    path: &Path,
    metadata: &Metadata,
    (most, least): (u32, u32),
) -> Check {
    let (name, word) = (visible_path(path), shell_word(path));
    let mode = metadata.permissions().mode() & 0o777;
    let (owner, user) = (metadata.uid(), geteuid().as_raw());
    if owner != user {
        let found = format!("{name} belongs to user {owner}, and this is user {user}");
        return Check::problem(check, found, format!("as root: chown {user} {word}"));
    }
    let open = mode & !most != 0;
    if open || mode & least != least {
        let why = if open { "others get at it" } else { "you cannot use it yourself" };
        let found = format!("{name} has mode {mode:04o}: {why}");
        return Check::problem(check, found, format!("chmod {most:o} {word}"));
    }
    Check::ok(check, format!("{name}, mode {mode:04o}"))
}

fn keys(folder: &Path) -> Option<Check> {
    let metadata = folder.metadata().ok()?;
    let check = private("keys", folder, &metadata, (0o700, 0o700));
    if check.hint.is_some() {
        return Some(check);
    }
    let files = match fs::read_dir(folder) {
        Err(error) => {
            return Some(Check::problem("keys", format!("{}: {error}", visible_path(folder)), ANOTHER));
        }
        Ok(files) => files.filter_map(|file| file.ok().map(|file| file.path())),
    };
    let mut count: usize = 0;
    let is_secret = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "key" || extension == "secret")
    };
    for file in files.filter(is_secret) {
        count += 1;
        let Ok(metadata) = file.metadata() else { continue };
        let check = private("keys", &file, &metadata, (0o600, 0o400));
        if check.hint.is_some() {
            return Some(check);
        }
    }
    Some(Check { found: format!("{}, {}", check.found, counted(count, "secret")), ..check })
}

fn log(file: &Path) -> Option<Check> {
    let metadata = file.metadata().ok()?;
    let check = private("log", file, &metadata, (0o600, 0o200));
    if metadata.len() > MAX_LOG_BYTES {
        let found = format!("{}, {} MiB", visible_path(file), metadata.len() >> 20);
        return Some(Check::warning("log", found, "`demur stop`: the next server begins it anew"));
    }
    let found = format!("{}, {} KiB", check.found, metadata.len().div_ceil(1 << 10));
    Some(if check.hint.is_some() { check } else { Check { found, ..check } })
}

fn disk(folder: &Path) -> Check {
    let there = folder.ancestors().find(|path| path.is_dir()).unwrap_or_else(|| Path::new("/"));
    match statvfs(there) {
        Err(error) => Check::problem("disk", format!("{}: {error}", visible_path(there)), ANOTHER),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize) >> 20;
            if free < MIN_FREE_MIB {
                Check::problem(
                    "disk",
                    format!("{free} MiB free: nothing can be recorded"),
                    "make room on this disk",
                )
            } else if free < AMPLE_FREE_MIB {
                Check::warning("disk", format!("{free} MiB free"), "make room: a full disk records nothing")
            } else {
                Check::ok("disk", format!("{free} MiB free"))
            }
        }
    }
}

const NAMED: &str = "check --data and DEMUR_DATA; if it is the right one, the first question or key makes it";
const ANOTHER: &str = "name another data folder with --data, or make this one yours";
/// With how many MiB free the next record may fail.
const MIN_FREE_MIB: u64 = 4;
/// How many MiB there should be.
const AMPLE_FREE_MIB: u64 = 100;
/// How large a log grows before a server begins it anew, with what a busy one adds.
const MAX_LOG_BYTES: u64 = 64 << 20;
