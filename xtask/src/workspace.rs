//! The cargo workspace: where it is, where it builds, which files belong to it, and how to call cargo in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The workspace that the command was called in.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    /// Honours `CARGO_TARGET_DIR`, because cargo itself reports it.
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Returns the workspace around the current directory, as cargo sees it.
    pub(crate) fn locate() -> Result<Self> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
        serde_json::from_slice(&output_of(metadata)?).context("cargo metadata printed something unexpected")
    }

    /// Returns a cargo call that runs in the workspace root.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root);
        command
    }

    /// Returns the text of a file named relative to the root.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = self.root.join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Returns the files that git tracks, or would track, with one of these extensions; relative to the root.
    pub(crate) fn files_with_extension(&self, extensions: &[&str]) -> Result<Vec<PathBuf>> {
        let mut git = Command::new("git");
        git.current_dir(&self.root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listing = String::from_utf8(output_of(git)?).context("a file name is not UTF-8")?;
        let mut files: Vec<PathBuf> = listing
            .split('\0')
            .map(PathBuf::from)
            .filter(|path| has_extension(path, extensions))
            // A file that was removed but not yet committed is still listed.
            .filter(|path| self.root.join(path).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }
}

/// Returns what the command wrote to stdout, or an error that carries what it wrote to stderr.
pub(crate) fn output_of(mut command: Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run `{name}`"))?;
    if !output.status.success() {
        bail!("`{name}` ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

/// Returns a cargo call without what `cargo run` left in the environment for this program: cargo would pass it
/// on to build scripts, which then run again at every switch between `cargo` and `cargo xtask`.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    for (name, _) in env::vars_os() {
        if LEFT_BY_CARGO_RUN.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted))
}

const LEFT_BY_CARGO_RUN: [&str; 4] = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_NAME", "CARGO_CRATE_NAME"];
