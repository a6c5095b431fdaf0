//! `cargo xtask prove`: the tests named `proof_` and `fuzz_` at full count, in release, one after the other.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::outside::Outside;
use crate::tally::Tally;
use crate::verdict::Verdict;
use crate::workspace::{Workspace, output_of};
use crate::{needs, process, test};

/// Returns whether all proofs whose name contains one of the filters passed; no filter means every proof.
pub(crate) fn run(filters: &[String]) -> Result<Verdict> {
    needs::provide()?;
    let workspace = Workspace::locate()?;
    let outside = Outside::provide(&workspace)?;

    let mut tally = Tally::default();
    let mut times = Vec::new();
    for executable in build(&workspace)? {
        for name in executable.proofs(filters)? {
            println!("\n==> {} {name}", executable.target);
            let start = Instant::now();
            let passed = executable.prove(&name, &outside)?;
            let name = format!("{} {name}", executable.target);
            if passed.is_none() {
                tally
                    .troubles
                    .push(format!("{name} took longer than {} minutes and was ended", LIMIT.as_secs() / 60));
            }
            times.push((start.elapsed(), name));
            if passed == Some(true) { tally.passed += 1 } else { tally.failed += 1 }
        }
    }
    print_times(&times);
    test::report(&tally);
    Ok(Verdict::from_passed(tally.is_success()))
}

/// One test executable, as cargo built it.
#[derive(Debug)]
struct TestExecutable {
    path: PathBuf,
    manifest: PathBuf,
    target: String,
}

impl TestExecutable {
    fn proofs(&self, filters: &[String]) -> Result<Vec<String>> {
        let mut command = self.command();
        command.args(["--list", "--format", "terse"]);
        Ok(proofs_in(&String::from_utf8_lossy(&output_of(command)?), filters))
    }

    /// Returns whether a proof holds, or nothing if it took too long and was ended.
    fn prove(&self, name: &str, outside: &Outside) -> Result<Option<bool>> {
        let mut command = self.command();
        command
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env("DEMUR_PROOF", "full")
            .stdin(Stdio::null());
        outside.announce(&mut command);
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.path.display()))?;
        Ok(process::wait_at_most(&mut child, LIMIT)?.map(|status| status.success()))
    }

    /// Returns a call of the executable in the folder and with the variable that `cargo test` would give it.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        if let Some(folder) = self.manifest.parent() {
            command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        }
        command
    }
}

fn build(workspace: &Workspace) -> Result<Vec<TestExecutable>> {
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--workspace", "--all-targets", "--release", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    executables_in(&String::from_utf8_lossy(&output_of(cargo).context("the tests do not build in release")?))
}

/// Returns the test executables among the messages of a build, one JSON document per line.
fn executables_in(messages: &str) -> Result<Vec<TestExecutable>> {
    let mut executables = Vec::new();
    for line in messages.lines() {
        let message: Message = serde_json::from_str(line).context("cargo printed an unexpected message")?;
        if let Message::CompilerArtifact { executable: Some(path), manifest_path, profile, target } = message
            && profile.test
        {
            executables.push(TestExecutable { path, manifest: manifest_path, target: target.name });
        }
    }
    Ok(executables)
}

/// Returns the proofs in a listing of tests that contain one of the filters.
fn proofs_in(listing: &str, filters: &[String]) -> Vec<String> {
    let is_wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter));
    listing
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .filter(|name| PREFIXES.iter().any(|prefix| name.contains(prefix)) && is_wanted(name))
        .map(str::to_owned)
        .collect()
}

fn print_times(times: &[(Duration, String)]) {
    println!("\nTimes:");
    for (time, name) in times {
        println!("{:8.1} s  {name}", time.as_secs_f64());
    }
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        executable: Option<PathBuf>,
        manifest_path: PathBuf,
        profile: Profile,
        target: Target,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// How long one proof may take, on a busy machine too.
const LIMIT: Duration = Duration::from_hours(1);
const PREFIXES: [&str; 2] = ["proof_", "fuzz_"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_only_what_is_named_as_a_proof() {
        assert_eq!(proofs_in(LISTING, &[]), ["tests::proof_of_order", "fuzz_parser"]);
    }

    #[test]
    fn filter_narrows_the_proofs() {
        assert_eq!(proofs_in(LISTING, &["order".to_owned()]), ["tests::proof_of_order"]);
        assert!(proofs_in(LISTING, &["rejects".to_owned()]).is_empty());
    }

    #[test]
    fn takes_test_executables_from_the_messages() {
        let executables = executables_in(MESSAGES).unwrap();
        assert_eq!(executables.len(), 1);
        assert_eq!(executables[0].path, PathBuf::from("/target/it-1"));
        assert_eq!(executables[0].target, "it");
    }

    const LISTING: &str =
        "tests::proof_of_order: test\nrejects_everything: test\nfuzz_parser: test\nproof_x: benchmark\n";

    const MESSAGES: &str = r#"{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","target":{"name":"it"},"profile":{"test":true},"executable":"/target/it-1"}
{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","target":{"name":"a"},"profile":{"test":true},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/a/Cargo.toml","target":{"name":"demur"},"profile":{"test":false},"executable":"/target/demur"}
{"reason":"build-script-executed","package_id":"x"}
{"reason":"build-finished","success":true}"#;
}
