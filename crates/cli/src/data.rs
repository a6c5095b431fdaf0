//! The data folder: where it is, what lies in it, and the lock that makes its writers take turns.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use crate::{durable, error::CommandError, visible::visible_path};

/// A data folder, which need not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// Returns the folder that `--data` names, or else the environment.
    pub(crate) fn locate(option: Option<&Path>) -> Result<Self, CommandError> {
        choose(option, &|name| std::env::var_os(name)).map(Self::at).ok_or_else(|| {
            let message =
                "expected a data folder, found neither --data nor DEMUR_DATA, XDG_DATA_HOME or HOME";
            CommandError::input("NO_DATA_FOLDER", message).with_hint("name one with --data DIR")
        })
    }

    /// Returns the data folder at this path.
    pub(crate) const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where its registry is.
    pub(crate) fn registry(&self) -> PathBuf {
        self.path.join("registry.jsonl")
    }

    /// Returns where its secret keys are.
    pub(crate) fn keys(&self) -> PathBuf {
        self.path.join("keys")
    }

    /// Takes the folder for this process alone, creating it where needed.
    pub(crate) fn lock(&self) -> Result<Lock, CommandError> {
        durable::create_folder(&self.path)
            .map_err(|error| CommandError::file("create the data folder", &self.path, &error))?;
        let path = self.path.join("lock");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|error| CommandError::file("open", &path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another demur is writing here: it holds {}", visible_path(&path));
                Err(CommandError::refused("FOLDER_IN_USE", message)
                    .with_hint("nothing was changed; try again in a moment"))
            }
            Err(TryLockError::Error(error)) => Err(CommandError::file("lock", &path, &error)),
        }
    }
}

/// The right to write in a data folder. The kernel takes it back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
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

    #[test]
    fn second_lock_is_refused_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().join("data"));
        let first = data.lock().unwrap();
        assert_eq!(data.lock().unwrap_err().exit(), crate::exit::Exit::Refused);
        drop(first);
        data.lock().unwrap();
    }
}
