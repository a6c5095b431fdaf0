//! A new user's machine: an empty home folder, `demur` on the path, the project's examples at hand.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use super::page::project;
use crate::sandbox::{Sandbox, redact};

/// The machine of somebody who has just installed demur.
pub(crate) struct Home {
    pub(crate) sandbox: Sandbox,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { sandbox: Sandbox::new() };
        for folder in ["home", "bin", "demur"] {
            fs::create_dir(home.path(folder)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_demur"), home.path("bin/demur")).unwrap();
        let python = std::env::var("DEMUR_PYTHON").expect("DEMUR_PYTHON is not set: run `cargo xtask test`");
        home.program("python3", &format!("exec '{python}' \"$@\""));
        // No browser opens while somebody else works here.
        home.program("xdg-open", "exit 0");
        let copied = Command::new("cp").arg("-r").arg(project("examples")).arg(home.checkout()).status();
        assert!(copied.unwrap().success());
        symlink(fs::canonicalize(project("conformance")).unwrap(), home.checkout().join("conformance"))
            .unwrap();
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path(name)
    }

    /// Returns the folder in which the commands are run: the project, as far as pages use it.
    pub(crate) fn checkout(&self) -> PathBuf {
        self.path("demur")
    }

    /// Returns the socket of the server, which may not run.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path("home/.local/share/demur/socket")
    }

    /// Returns a call of a program with the variables of a new user and no others.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new("env");
        command.arg("-i").args(self.variables()).arg(program.as_ref()).current_dir(self.checkout());
        command
    }

    /// Returns the variables of a new user.
    pub(crate) fn variables(&self) -> Vec<String> {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let (home, temporary) = (self.path("home"), self.path(""));
        vec![
            format!("HOME={}", home.display()),
            format!("PATH={path}"),
            format!("TMPDIR={}", temporary.display()),
            "TERM=screen".to_owned(),
            "LC_ALL=C.UTF-8".to_owned(),
        ]
    }

    /// Returns a text with everything masked that differs from walk to walk.
    pub(crate) fn mask(&self, text: &str) -> String {
        let text = text.replace(self.path("home").to_str().unwrap(), "/home/you");
        redact(&text.replace(self.path("").to_str().unwrap().trim_end_matches('/'), "[DIR]"))
    }

    fn program(&self, name: &str, script: &str) {
        let file = self.path("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A server that a command started ends with the walk.
impl Drop for Home {
    fn drop(&mut self) {
        if self.socket().exists() {
            let _ = self.command("demur").arg("stop").output();
        }
    }
}
