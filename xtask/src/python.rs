//! The Python environments of tests and benchmarks, below the target directory and pinned by hash.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace::{Workspace, output_of};

/// The variable that hands the interpreter to the tests.
pub(crate) const INTERPRETER_VARIABLE: &str = "DEMUR_PYTHON";

/// Returns the interpreter of the tests.
pub(crate) fn interpreter(workspace: &Workspace) -> Result<PathBuf> {
    environment(workspace, "demur-python", REQUIREMENTS)
}

/// Returns the interpreter of an environment below the target directory that holds exactly what the requirements file
/// lists.
pub(crate) fn environment(workspace: &Workspace, name: &str, requirements: &str) -> Result<PathBuf> {
    let folder = workspace.target.join(name);
    let interpreter = folder.join("bin").join("python");
    let stamp = stamp(&base_version()?, &workspace.read(requirements)?);

    // Two runs may share a target directory, and a half-filled environment must not be seen by the other.
    let _lock = lock(&workspace.target, name)?;
    if !is_current(&folder, &interpreter, &stamp) {
        println!("Preparing a Python environment in {}", folder.display());
        create(&folder, &interpreter, &workspace.root.join(requirements))?;
        fs::write(folder.join(STAMP), &stamp).context("cannot write the stamp of the Python environment")?;
    }
    Ok(interpreter)
}

/// Returns what an environment is made from: it is stale as soon as any of it changes.
fn stamp(base_version: &str, requirements: &str) -> String {
    format!("{}\n{requirements}", base_version.trim())
}

fn base_version() -> Result<String> {
    let mut python = Command::new("python3");
    python.args(["-c", "import sys; print(sys.executable, sys.version)"]);
    Ok(String::from_utf8_lossy(&output_of(python)?).into_owned())
}

/// Returns a lock that ends with the value: two runs may share a target directory.
pub(crate) fn lock(target: &Path, name: &str) -> Result<File> {
    fs::create_dir_all(target).with_context(|| format!("cannot create {}", target.display()))?;
    let path = target.join(format!("{name}.lock"));
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

fn is_current(folder: &Path, interpreter: &Path, stamp: &str) -> bool {
    interpreter.exists() && fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp)
}

fn create(folder: &Path, interpreter: &Path, requirements: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    must_succeed(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    must_succeed(
        Command::new(interpreter)
            .args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"])
            // A source distribution would need a compiler and would run foreign code while it installs.
            .args(["--require-hashes", "--only-binary", ":all:", "--requirement"])
            .arg(requirements),
    )
}

/// Runs a command that has to end with success.
pub(crate) fn must_succeed(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let name = command.get_program().to_string_lossy().into_owned();
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let status = status.with_context(|| format!("cannot run `{name}`"))?;
    if !status.success() {
        bail!("`{name} {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

const REQUIREMENTS: &str = "conformance/python/requirements.txt";
const STAMP: &str = "demur-stamp.txt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_changes_with_interpreter_and_requirements() {
        let first = stamp("python 3.11\n", "cryptography==1");
        assert_eq!(first, stamp("python 3.11", "cryptography==1"));
        assert_ne!(first, stamp("python 3.12", "cryptography==1"));
        assert_ne!(first, stamp("python 3.11", "cryptography==2"));
    }

    #[test]
    fn environment_that_is_not_there_is_not_current() {
        let folder = Path::new("no-such-folder");
        assert!(!is_current(folder, &folder.join("bin/python"), ""));
    }

    #[test]
    fn every_package_of_the_project_is_pinned_with_a_hash() {
        for requirements in [
            include_str!("../../conformance/python/requirements.txt"),
            include_str!("../../conformance/mcp/requirements.txt"),
            include_str!("../../bench/race/requirements.txt"),
        ] {
            let is_comment = |line: &str| line.trim_start().starts_with('#');
            let lines: Vec<&str> = requirements.lines().filter(|line| !is_comment(line)).collect();
            let packages: Vec<usize> =
                (0..lines.len()).filter(|index| !lines[*index].starts_with(' ')).collect();
            assert!(!packages.is_empty());
            for index in packages {
                assert!(lines[index].contains("==") && lines[index].ends_with('\\'), "{}", lines[index]);
                assert!(lines[index + 1].starts_with("    --hash=sha256:"), "{}", lines[index + 1]);
            }
        }
    }
}
