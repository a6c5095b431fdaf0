//! Runs the official conformance suite of MCP against a server and reads what it found. For the tests of this crate and of
//! the command.
#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect has failed"
)]

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// What a run of the suite found.
#[derive(Debug)]
pub struct SuiteOutcome {
    /// Whether all that counts for the revision passed, by the suite's own word.
    pub passed: bool,
    /// Everything it printed.
    pub report: String,
    /// Scenarios, also those that do not count, with every check.
    pub scenarios: BTreeMap<String, Vec<Value>>,
}

/// Returns what the suite finds at an address with the requirements of a revision; what may fail is listed in a file.
pub fn judge(url: &str, revision: &str, listed: Option<&Path>) -> SuiteOutcome {
    let folder = tempfile::tempdir().unwrap();
    let suite = PathBuf::from(variable("DEMUR_MCP_MODULES"))
        .join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = Command::new(variable("DEMUR_MCP_NODE"));
    command.arg(suite).args(["server", "--url", url, "--requirements", revision, "--output-dir"]);
    command.arg(folder.path());
    if let Some(listed) = listed {
        command.arg("--expected-failures").arg(listed);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let report = report.into_owned();
    SuiteOutcome { passed: output.status.success(), report, scenarios: scenarios(folder.path()) }
}

/// Returns what was written about each scenario, in a folder `server-NAME-TIME` of its own.
fn scenarios(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut scenarios = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = name.strip_prefix("server-").unwrap();
        let (name, _time) = name.split_at(name.len() - "-2026-07-28T00-00-00-000Z".len());
        let checks = fs::read(entry.path().join("checks.json")).unwrap();
        scenarios.insert(name.to_owned(), serde_json::from_slice(&checks).unwrap());
    }
    scenarios
}

/// Returns what `cargo xtask test` makes ready.
pub fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: run `cargo xtask test`"))
}

/// A process that prints its address and ends with its input, and so with this value.
#[derive(Debug)]
pub struct Listening {
    child: Child,
    /// Its address.
    pub url: String,
}

impl Listening {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
