//! What `cargo xtask test` does on a machine that lacks Python. `PATH` holds nothing but the scripts of a test.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that serves as the whole `PATH`.
struct Machine {
    folder: PathBuf,
}

impl Machine {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    fn with_program(self, name: &str, script: &str) -> Self {
        let path = self.folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn with_apt_get(self) -> Self {
        let log = self.log();
        self.with_program("apt-get", &format!("echo \"$@\" >> '{}'", log.display()))
    }

    fn test(&self) -> Output {
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg("test").env("PATH", &self.folder).output().unwrap()
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log.txt")
    }
}

#[test]
fn without_root_names_the_packages_and_installs_nothing() {
    let machine = Machine::new("without-root").with_program("id", "echo 1000").with_apt_get();
    let output = machine.test();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains(
            "install these packages (Debian names) and call again: python3 python3-venv tmux curl jq procps chromium systemd\n"
        ),
        "{text}"
    );
    let log = fs::read_to_string(machine.log()).unwrap();
    assert_eq!(log, "--version\n");
}

#[test]
fn without_apt_names_the_packages() {
    let output = Machine::new("without-apt").with_program("id", "echo 0").test();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("python3 python3-venv"));
}

#[test]
fn root_is_told_first_and_gets_what_is_missing_only() {
    let python = "case \"$2\" in *version_info*) exit 0;; *) exit 1;; esac";
    let machine =
        Machine::new("root").with_program("id", "echo 0").with_program("python3", python).with_apt_get();
    let output = machine.test();
    let told = String::from_utf8(output.stdout).unwrap();
    let announcement = told.find("  python3-venv: needed for").unwrap();
    assert!(announcement < told.find("$ apt-get update").unwrap(), "{told}");
    let log = fs::read_to_string(machine.log()).unwrap();
    assert_eq!(
        log,
        "--version\nupdate\ninstall -y --no-install-recommends python3-venv tmux curl jq procps chromium systemd\n"
    );
    // The script installs nothing, so the need is still unmet, and that is said too.
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("python3-venv was installed, but"));
}
