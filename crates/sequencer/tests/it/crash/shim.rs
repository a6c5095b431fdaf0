//! The shim that stands between a child and its files (`shim.c`): it records every call, and makes one fail if asked.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// The shim, compiled.
pub(super) struct Shim {
    place: TempDir,
}

impl Shim {
    /// Compiles the shim. Whoever can build SQLite has what it takes.
    pub(super) fn compile() -> Self {
        let place = tempfile::tempdir().unwrap();
        let compiler = std::env::var_os("CC").unwrap_or("cc".into());
        let mut process = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-x", "c", "-", "-ldl", "-pthread", "-o"])
            .arg(place.path().join(LIBRARY))
            .stdin(Stdio::piped())
            .spawn()
            .expect("a C compiler is needed, as for SQLite itself");
        process.stdin.take().unwrap().write_all(SOURCE.as_bytes()).unwrap();
        assert!(process.wait().unwrap().success(), "the shim does not compile");
        Self { place }
    }

    /// Has a command record what it does below this folder.
    pub(super) fn record(&self, command: &mut Command, root: &Path) {
        self.load(command, root).env("DEMUR_SHIM_LOG", self.log());
    }

    /// Has one call that a command makes below this folder fail.
    pub(super) fn fail(&self, command: &mut Command, root: &Path, call: usize, errno: i32) {
        self.load(command, root).env("DEMUR_SHIM_FAIL", format!("{call} {errno}"));
    }

    /// Returns the record.
    pub(super) fn recorded(&self) -> Vec<u8> {
        let bytes = fs::read(self.log()).expect("the shim was loaded");
        assert!(!bytes.is_empty(), "the shim saw nothing");
        bytes
    }

    fn load<'a>(&self, command: &'a mut Command, root: &Path) -> &'a mut Command {
        command.env("LD_PRELOAD", self.place.path().join(LIBRARY)).env("DEMUR_SHIM_ROOT", root)
    }

    fn log(&self) -> PathBuf {
        self.place.path().join("log")
    }
}

const SOURCE: &str = include_str!("shim.c");
const LIBRARY: &str = "shim.so";
