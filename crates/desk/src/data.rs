//! The data folder: where it is, and what lies in it: the store, which has one owner at a time, and the secret keys.

use std::{
    ffi::OsString,
    io::ErrorKind,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_store::{
    contract::{StoreError, StoreProgress},
    folder::Folder,
    sqlite::{Restored, SqliteStore},
};

use rustix::process::geteuid;

use crate::{
    error, person, token,
    visible::{shell_word, visible_path},
};

/// A data folder, which need not exist yet.
#[derive(Clone, Debug)]
pub struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// Returns the folder that `--data` names, or else the environment.
    pub fn locate(option: Option<&Path>) -> Result<Self, Refusal> {
        choose(option, &|name| std::env::var_os(name)).map(Self::at).ok_or_else(|| {
            let message =
                "expected a data folder, found neither --data nor DEMUR_DATA, XDG_DATA_HOME or HOME";
            Refusal::new(Code::NoDataFolder, message)
        })
    }

    /// Returns the folder that is used where nobody names one.
    pub fn usual() -> Option<Self> {
        let unnamed = |name: &str| std::env::var_os(name).filter(|_| name != "DEMUR_DATA");
        choose(None, &unnamed).map(Self::at)
    }

    /// Returns the data folder at this path.
    pub const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where its secret keys are.
    pub fn keys(&self) -> PathBuf {
        self.path.join("keys")
    }

    /// Returns whether there is a store in it. What lies in its place and is none is told.
    pub fn has_store(&self) -> Result<bool, Refusal> {
        let path = Folder::at(&self.path).database();
        // First the name itself: another process may make the file at this very moment.
        if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(false);
        }
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(true),
            Ok(_) => {
                let message = format!("expected {} to be a file, found something else", visible_path(&path));
                Err(Refusal::new(Code::StoreDamaged, message).with_cure(OTHER_FOLDER))
            }
            // A link that leads nowhere is there all the same, and must not be replaced.
            Err(error) => {
                let cure = "nothing was changed; name another data folder with --data";
                Err(error::unreadable(&path, &error).with_cure(cure))
            }
        }
    }

    /// Refuses a folder that another user owns or can write into: what lies in it, its keys and its socket among them, would be
    /// theirs. One that is not there is nobody's.
    pub fn expect_own(&self) -> Result<(), Refusal> {
        let Ok(metadata) = self.path.metadata() else { return Ok(()) };
        let (path, typed) = (visible_path(&self.path), shell_word(&self.path));
        let (owner, user) = (metadata.uid(), geteuid().as_raw());
        if owner != user {
            let message =
                format!("expected a data folder of user {user}, found {path}, which belongs to user {owner}");
            let cure = format!("do it as its user, or make it yours, as root: `chown -R {user} {typed}`");
            return Err(Refusal::new(Code::FolderOpen, message).with_cure(cure));
        }
        let mode = metadata.permissions().mode() & 0o777;
        if mode & WRITABLE_BY_OTHERS != 0 {
            let message = format!(
                "expected a data folder that nobody else can write into, found {path} with mode {mode:04o}"
            );
            return Err(Refusal::new(Code::FolderOpen, message)
                .with_cure(format!("close it to others: `chmod 700 {typed}`")));
        }
        Ok(())
    }

    /// Returns its store for reading only, whoever owns it; none where there is no store yet.
    pub fn read(&self) -> Result<Option<SqliteStore>, Refusal> {
        if !self.has_store()? {
            return Ok(None);
        }
        match SqliteStore::open_read_only(&self.path) {
            // An owner that died may have left work that only an owner can finish.
            Err(StoreError::ReadOnly) if SqliteStore::open(&self.path).is_ok() => {
                Ok(Some(SqliteStore::open_read_only(&self.path)?))
            }
            opened => Ok(Some(opened?)),
        }
    }

    /// Takes its store, for as long as what comes back lives.
    pub fn own_store(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.path)
    }

    /// Takes its store although it may be damaged, to look at it or to mend it.
    pub fn mend_store(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_to_mend(&self.path)
    }

    /// Returns its store for reading only, if it is whole: nothing is finished that an owner left.
    pub fn whole_store(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_read_only(&self.path)
    }

    /// Copies a backup of a store into this folder, which has none. Tokens, sessions in browsers and links that sign in stay
    /// behind: some of them may have been taken back since.
    pub fn restore(
        &self,
        backup: &Path,
        progress: &mut dyn FnMut(StoreProgress),
    ) -> Result<Restored, StoreError> {
        SqliteStore::restore(backup, &self.path, &[token::PREFIX, person::LINK_PREFIX], progress)
    }

    /// Returns the error of a folder in which nobody has made a key yet.
    pub fn no_keys(&self) -> Refusal {
        let message = format!("expected a key registry in {}, found none", visible_path(&self.path));
        Refusal::new(Code::NoKeys, message).with_cure(
            "make the first key with `demur keys new NAME --role ROLE`, or name another folder with --data",
        )
    }
}

/// An empty variable counts as unset, and a relative XDG_DATA_HOME is ignored as its specification asks.
fn choose(option: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let shared = || {
        let home = || named("HOME").map(|home| home.join(".local/share"));
        named("XDG_DATA_HOME").filter(|path| path.is_absolute()).or_else(home)
    };
    option
        .map(Path::to_owned)
        .or_else(|| named("DEMUR_DATA"))
        .or_else(|| shared().map(|folder| folder.join("demur")))
}

const OTHER_FOLDER: &str = "nothing was changed; restore a backup, or use another data folder";

/// The bits of a mode with which others write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(option: Option<&str>, variables: &[(&str, &str)]) -> Option<PathBuf> {
        let find = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        choose(option.map(Path::new), &find)
    }

    #[test]
    fn option_wins_over_variables_and_they_over_home() {
        let all = [("DEMUR_DATA", "/d"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(chosen(Some("here"), &all), Some("here".into()));
        assert_eq!(chosen(None, &all), Some("/d".into()));
        assert_eq!(chosen(None, &all[1..]), Some("/x/demur".into()));
        assert_eq!(chosen(None, &all[2..]), Some("/h/.local/share/demur".into()));
        assert_eq!(chosen(None, &[]), None);
    }

    #[test]
    fn empty_variables_and_a_relative_xdg_folder_do_not_count() {
        let variables = [("DEMUR_DATA", ""), ("XDG_DATA_HOME", "x"), ("HOME", "/h")];
        assert_eq!(chosen(None, &variables), Some("/h/.local/share/demur".into()));
    }
}
