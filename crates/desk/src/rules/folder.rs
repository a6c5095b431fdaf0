//! A rule pack in its folder: `pack.toml` and the `*.cedar` files beside it. Nothing outside of the folder is read, and
//! nothing that is too large; what is read does not depend on the order in which the disk lists it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_rules::Pack;

use super::{cache::Mark, pack_error};
use crate::{error, visible::visible_path};

/// Returns the pack in this folder.
pub(super) fn read(folder: &Path) -> Result<Pack, Refusal> {
    let inside = folder.canonicalize().map_err(|error| error::unreadable(folder, &error))?;
    if !inside.is_dir() {
        let message = format!("expected a folder with a pack.toml, found a file: {}", visible_path(folder));
        let hint = "name the folder that the file lies in";
        return Err(Refusal::new(Code::FileUnreadable, message).with_cure(hint));
    }
    let mut files = Vec::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        let bytes = content(&path, &inside)?;
        files.push((visible_path(&path), bytes));
    }
    Pack::read(files).map_err(|error| pack_error(folder, &error))
}

/// Returns what tells whether a file of the pack has changed.
pub(super) fn marks(folder: &Path) -> Result<Vec<Mark>, Refusal> {
    let mark = |name: String| {
        let path = folder.join(name);
        let metadata = path.metadata().map_err(|error| error::unreadable(&path, &error))?;
        Ok((path, metadata.len(), metadata.modified().ok()))
    };
    names(folder)?.into_iter().map(mark).collect()
}

/// Returns the names of the files that make the pack, in order.
fn names(folder: &Path) -> Result<Vec<String>, Refusal> {
    let unreadable = |error: io::Error| error::unreadable(folder, &error);
    let mut names = Vec::new();
    for (count, entry) in folder.read_dir().map_err(unreadable)?.enumerate() {
        if count >= MAX_FOLDER_ENTRIES {
            let message = format!(
                "{}: expected at most {MAX_FOLDER_ENTRIES} entries, found more",
                visible_path(folder)
            );
            return Err(malformed(message).with_cure("keep a pack in a folder of its own"));
        }
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        if name != Path::new("pack.toml") && name.extension().is_none_or(|extension| extension != "cedar") {
            continue;
        }
        let Some(text) = name.to_str() else {
            let path = visible_path(&folder.join(&name));
            return Err(malformed(format!("{path}: expected a file name in UTF-8, found other bytes"))
                .with_cure("rename the file"));
        };
        names.push(text.to_owned());
        if names.len() > MAX_PACK_FILES {
            let message = format!(
                "{}: expected at most {MAX_PACK_FILES} files of a pack, found more",
                visible_path(folder)
            );
            return Err(malformed(message).with_cure("write more policies into each .cedar file"));
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns what a file says that lies in the folder, links followed.
fn content(path: &Path, inside: &Path) -> Result<Vec<u8>, Refusal> {
    let unreadable = |error: io::Error| error::unreadable(path, &error);
    let real = path.canonicalize().map_err(unreadable)?;
    if !real.starts_with(inside) {
        let message =
            format!("{}: expected a file in the pack's folder, found a link out of it", visible_path(path));
        return Err(malformed(message).with_cure("copy the file into the folder"));
    }
    // Before it is opened: a pipe would wait for a writer.
    if !real.metadata().map_err(unreadable)?.is_file() {
        return Err(malformed(format!("{}: expected a file, found something else", visible_path(path))));
    }
    let mut bytes = Vec::new();
    let file = File::open(&real).map_err(unreadable)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!("{}: expected at most {MAX_FILE_BYTES} bytes, found more", visible_path(path));
        return Err(malformed(message).with_cure("split the pack into layers"));
    }
    Ok(bytes)
}

fn malformed(message: String) -> Refusal {
    Refusal::new(Code::RulesMalformed, message)
}

/// How many entries of a folder are looked at: a pack has few, and somebody may name the wrong folder.
const MAX_FOLDER_ENTRIES: usize = 4096;

/// How many files a pack has at most.
const MAX_PACK_FILES: usize = 64;

/// How long a file of a pack is at most, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;
