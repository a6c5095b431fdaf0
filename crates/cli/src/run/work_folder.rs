//! Where the tools of a run work: apart from the data folder, whose path no tool is told.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use demur_desk::{data::DataFolder, durable};
use demur_ledger::name::TraceId;

use crate::failure::Failure;

/// Makes the folder for the tools of a run; returns its whole path. Not every user has a home to write in: then it is made where
/// temporary files are.
pub(super) fn make(data: &DataFolder, trace: TraceId) -> Result<PathBuf, Failure> {
    let usual = usual(&|name| std::env::var_os(name)).filter(|usual| is_apart(usual, data));
    let made = usual.map(|usual| create(&usual.join(trace.to_string())));
    // Others write there, too: the trace is drawn by lot, and the folder must not be there yet.
    made.and_then(Result::ok)
        .map_or_else(|| make_at(&std::env::temp_dir().join(format!("demur-{trace}"))), Ok)
}

/// Makes the folder for the tools of a run here; returns its whole path.
pub(super) fn make_at(path: &Path) -> Result<PathBuf, Failure> {
    create(path).map_err(|error| Failure::file("make", path, &error))
}

/// Makes a folder for this user alone that nobody else can have made before.
fn create(path: &Path) -> io::Result<PathBuf> {
    if let Some(parent) = path.parent() {
        durable::create_folder(parent)?;
    }
    DirBuilder::new().mode(0o700).create(path)?;
    path.canonicalize()
}

/// Returns whether a path does not lie in the data folder.
fn is_apart(path: &Path, data: &DataFolder) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    !absolute(path).starts_with(absolute(data.path()))
}

/// Returns where tools work, below what programs keep that outlives them and is not for people. An empty variable counts as unset, and a relative
/// XDG_STATE_HOME is ignored as its specification asks.
fn usual(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named("XDG_STATE_HOME").or_else(|| named("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("demur/tools"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_work_where_state_is_kept() {
        let found = |variables: &[(&str, &str)]| {
            usual(&|name| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(found(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/demur/tools".into()));
        assert_eq!(
            found(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]),
            Some("/h/.local/state/demur/tools".into())
        );
        assert_eq!(found(&[("HOME", "")]), None);
    }

    #[test]
    fn tools_work_outside_of_the_data_folder() {
        let data = DataFolder::at("/home/ada/.local".into());
        assert!(!is_apart(Path::new("/home/ada/.local/state/demur/tools"), &data));
        assert!(is_apart(Path::new("/home/ada/.locale"), &data));
    }

    #[test]
    fn folder_that_is_there_is_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools/1");
        assert_eq!(make_at(&path).unwrap(), path.canonicalize().unwrap());
        assert!(make_at(&path).is_err());
    }
}
