//! The configuration file of a client: found without being led astray by links, read as a whole, and replaced as a whole, with
//! the mode that it had.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process,
};

use demur_desk::{durable, visible::visible_path};

use super::{edit::Edited, malformed::Place};
use crate::failure::Failure;

/// A configuration file, which need not be there yet.
#[derive(Debug)]
pub(super) struct Target {
    /// Where the client looks for it.
    pub(super) path: PathBuf,
    /// Where it is: behind a link, if there is one.
    real: PathBuf,
    /// What it says; none where it is not there.
    pub(super) before: Option<String>,
    mode: u32,
    is_link: bool,
}

impl Target {
    /// Returns the file. What lies outside of this folder is not touched, unless links are to be followed.
    pub(super) fn open(path: &Path, within: &Path, follow_links: bool, mode: u32) -> Result<Self, Failure> {
        let is_link = match path.symlink_metadata() {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                check_place(path, &existing_part(path)?, within, follow_links)?;
                let (path, real) = (path.to_owned(), path.to_owned());
                return Ok(Self { path, real, before: None, mode, is_link: false });
            }
            Err(error) => return Err(Failure::unreadable(path, &error)),
        };
        let real = path.canonicalize().map_err(|error| {
            let hint =
                if is_link { "the link leads nowhere; remove it or make what it leads to" } else { RIGHTS };
            Failure::unreadable(path, &error).with_hint(hint)
        })?;
        check_place(path, &real, within, follow_links)?;
        let metadata = real.metadata().map_err(|error| Failure::unreadable(path, &error))?;
        check_file(path, &metadata)?;
        let before = Some(read(path, &real)?);
        Ok(Self { path: path.to_owned(), real, before, mode: metadata.mode() & 0o7777, is_link })
    }

    /// Writes what the file says now, or removes it. If it changed since it was read, nothing is done.
    pub(super) fn write(&self, edited: &Edited) -> Result<(), Failure> {
        let text = match edited {
            Edited::Unchanged => return Ok(()),
            Edited::Text(text) => text.as_str(),
            // A link stays one, to a file that says nothing.
            Edited::Gone if self.is_link => self.nothing(),
            Edited::Gone => return self.remove(),
        };
        self.check_unchanged()?;
        let trouble = |error: &io::Error| Failure::file("write", &self.path, error).with_hint(RIGHTS);
        let folder = self.real.parent().unwrap_or(Path::new("."));
        // Others may read what is in a project; what is the user's is the user's.
        let folder_mode = if self.mode & 0o044 == 0 { 0o700 } else { 0o777 };
        DirBuilder::new()
            .recursive(true)
            .mode(folder_mode)
            .create(folder)
            .map_err(|error| trouble(&error))?;
        let temporary = folder.join(format!(".demur-setup-{}", process::id()));
        let written = self.fill(&temporary, text).and_then(|()| fs::rename(&temporary, &self.real));
        if written.is_err() {
            durable::discard(&temporary);
        }
        written.and_then(|()| durable::sync_folder_of(&self.real)).map_err(|error| trouble(&error))
    }

    fn fill(&self, temporary: &Path, text: &str) -> io::Result<()> {
        // What lies there was left by a process with the same number, which is dead.
        durable::remove(temporary)?;
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(self.mode & 0o777).open(temporary)?;
        if self.before.is_some() {
            file.set_permissions(Permissions::from_mode(self.mode))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn remove(&self) -> Result<(), Failure> {
        self.check_unchanged()?;
        let removed = durable::remove(&self.real).map(|_| ());
        removed.map_err(|error| Failure::file("remove", &self.path, &error).with_hint(RIGHTS))
    }

    fn check_unchanged(&self) -> Result<(), Failure> {
        let now = match self.real.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ => Some(read(&self.path, &self.real)?),
        };
        if now == self.before {
            return Ok(());
        }
        let message = format!("{} was changed by somebody else just now", visible_path(&self.path));
        Err(Failure::refused("FILE_CHANGED", message).with_hint("nothing was written; try again"))
    }

    fn nothing(&self) -> &'static str {
        if self.path.extension().is_some_and(|end| end == "json") { "{}\n" } else { "" }
    }
}

/// Returns where the part of a path really is that is there already.
fn existing_part(path: &Path) -> Result<PathBuf, Failure> {
    let mut part = path.parent();
    while let Some(folder) = part {
        match folder.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound && folder.symlink_metadata().is_err() => {
                part = folder.parent();
            }
            found => return found.map_err(|error| Failure::unreadable(folder, &error)),
        }
    }
    Ok(PathBuf::from("/"))
}

/// A link may lead to another place in the same folder, but not out of it unasked.
fn check_place(path: &Path, real: &Path, within: &Path, follow_links: bool) -> Result<(), Failure> {
    // Where the folder itself is still to be made, nothing in it can lead away.
    let Ok(within) = within.canonicalize() else { return Ok(()) };
    if follow_links || real.starts_with(&within) {
        return Ok(());
    }
    let (path, real, within) = (visible_path(path), visible_path(real), visible_path(&within));
    let message = format!("{path} leads to {real}, out of {within}");
    Err(Failure::refused("LINK_LEADS_AWAY", message)
        .with_hint("nothing was changed; --follow-links writes there all the same"))
}

fn check_file(path: &Path, metadata: &fs::Metadata) -> Result<(), Failure> {
    let shown = visible_path(path);
    let refuse = |code, message: String, hint| Err(Failure::refused(code, message).with_hint(hint));
    if !metadata.is_file() {
        return refuse("NOT_A_FILE", format!("expected {shown} to be a file, found something else"), NOTHING);
    }
    if metadata.mode() & 0o200 == 0 {
        let hint = "nothing was changed; `chmod u+w` lets it be written";
        return refuse("FILE_READ_ONLY", format!("{shown} is read-only"), hint);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return refuse("FILE_FOREIGN", format!("{shown} belongs to another user"), NOTHING);
    }
    if metadata.len() > MAX_FILE_BYTES {
        let found = metadata.len();
        return refuse(
            "FILE_TOO_LARGE",
            format!("expected {shown} to have up to {MAX_FILE_BYTES} bytes, found {found}"),
            NOTHING,
        );
    }
    Ok(())
}

fn read(path: &Path, real: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let opened = File::open(real).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    opened.map_err(|error| Failure::unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let place = Place::of(&text, text.len());
        let message = format!("{}, {place}: expected UTF-8, found another byte", visible_path(path));
        Failure::refused("CONFIG_MALFORMED", message).with_hint(NOTHING)
    })
}

/// No client has a configuration of more bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;
const NOTHING: &str = "nothing was changed; `--print` shows what to put in by hand";
const RIGHTS: &str = "nothing was changed; look who may write there";
