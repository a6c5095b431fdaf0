//! What the tests need from the machine beyond Rust, and how it gets there on Debian.
//!
//! A new need is a new row in [`NEEDS`].

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::verdict::Refusal;
use crate::workspace::output_of;

/// One thing that must be on the machine.
#[derive(Debug, PartialEq, Eq)]
struct Need {
    /// Ends with success when the need is met. A program that cannot be started means that it is not.
    probe: &'static [&'static str],
    /// The Debian package that provides it.
    package: &'static str,
    /// Completes the sentence "needed for ...".
    purpose: &'static str,
}

const NEEDS: [Need; 8] = [
    Need {
        probe: &["python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"],
        package: "python3",
        purpose: "the independent checks of signatures and exports, Python 3.11 or newer",
    },
    Need {
        // Debian ships the module `venv` with python3, but what fills the environment only with python3-venv.
        probe: &["python3", "-c", "import ensurepip, venv"],
        package: "python3-venv",
        purpose: "a Python environment of its own for those checks",
    },
    Need {
        probe: &["tmux", "-V"],
        package: "tmux",
        purpose: "the tests of `demur inbox` in a real terminal",
    },
    Need {
        probe: &["curl", "--version"],
        package: "curl",
        purpose: "the tests that call the server as the pages show it",
    },
    Need { probe: &["jq", "--version"], package: "jq", purpose: "the commands on the pages, which are run" },
    Need {
        // A shell has its own, but tests start the program.
        probe: &["kill", "--version"],
        package: "procps",
        purpose: "the tests that kill a process",
    },
    Need {
        probe: &["chromium", "--version"],
        package: "chromium",
        purpose: "the tests of the inbox in a browser",
    },
    Need {
        probe: &["systemd-analyze", "--version"],
        package: "systemd",
        purpose: "the test of the unit that runs the server",
    },
];

/// Returns once every need is met, after installing what was missing where that is possible.
pub(crate) fn provide() -> Result<()> {
    let missing = missing();
    match plan(&missing, is_root(), has_apt()) {
        Plan::Nothing => Ok(()),
        Plan::Install => install(&missing),
        Plan::Ask => Err(Refusal::error(request(&missing))),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    Install,
    Ask,
}

/// Returns what to do: only root on a machine with apt-get may install anything.
fn plan(missing: &[&Need], is_root: bool, has_apt: bool) -> Plan {
    match (missing.is_empty(), is_root && has_apt) {
        (true, _) => Plan::Nothing,
        (false, true) => Plan::Install,
        (false, false) => Plan::Ask,
    }
}

fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !succeeds(need.probe)).collect()
}

fn install(missing: &[&Need]) -> Result<()> {
    println!("This machine lacks what the tests need. Installing with apt-get:");
    println!("{}", reasons(missing));
    apt_get(&["update"])?;
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(missing.iter().map(|need| need.package));
    apt_get(&arguments)?;
    for need in missing {
        if !succeeds(need.probe) {
            return Err(Refusal::error(format!(
                "{} was installed, but `{}` still fails; is another python3 earlier in PATH?",
                need.package,
                need.probe.join(" ")
            )));
        }
    }
    Ok(())
}

/// Returns the sentence that tells a person what to install by hand.
fn request(missing: &[&Need]) -> String {
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    format!(
        "this machine lacks what the tests need, and only root on Debian can have it installed; \
         install these packages (Debian names) and call again: {}\n{}",
        packages.join(" "),
        reasons(missing)
    )
}

fn reasons(missing: &[&Need]) -> String {
    let reason = |need: &&Need| format!("  {}: needed for {}", need.package, need.purpose);
    missing.iter().map(reason).collect::<Vec<_>>().join("\n")
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    println!("$ apt-get {}", arguments.join(" "));
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .status()
        .context("cannot run apt-get")?;
    if !status.success() {
        bail!("`apt-get {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

fn is_root() -> bool {
    let mut id = Command::new("id");
    id.arg("-u");
    output_of(id).is_ok_and(|output| output.trim_ascii() == b"0")
}

fn has_apt() -> bool {
    succeeds(&["apt-get", "--version"])
}

fn succeeds(probe: &[&str]) -> bool {
    let [program, arguments @ ..] = probe else { return false };
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installs_only_as_root_with_apt() {
        let missing: Vec<&Need> = NEEDS.iter().collect();
        assert_eq!(plan(&missing, true, true), Plan::Install);
        assert_eq!(plan(&missing, true, false), Plan::Ask);
        assert_eq!(plan(&missing, false, true), Plan::Ask);
    }

    #[test]
    fn does_nothing_when_nothing_is_missing() {
        assert_eq!(plan(&[], true, true), Plan::Nothing);
        assert_eq!(plan(&[], false, false), Plan::Nothing);
    }

    #[test]
    fn request_names_every_package_and_its_purpose() {
        let missing: Vec<&Need> = NEEDS.iter().collect();
        let request = request(&missing);
        assert!(request.contains("python3 python3-venv tmux curl jq procps chromium systemd\n"), "{request}");
        for need in &NEEDS {
            assert!(request.contains(need.purpose), "{request}");
        }
    }

    #[test]
    fn program_that_does_not_exist_is_missing() {
        assert!(!succeeds(&["demur-no-such-program"]));
    }
}
