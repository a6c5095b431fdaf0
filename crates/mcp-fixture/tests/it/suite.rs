//! Runs the suite and reads what it found.

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

use crate::expected;

/// What a run of the suite found.
pub(crate) struct Outcome {
    /// Whether all that counts for the revision passed, by the suite's own word.
    pub(crate) passed: bool,
    /// Everything it printed.
    pub(crate) report: String,
    /// Scenarios, also those that do not count, and whether any check of them failed.
    pub(crate) scenarios: BTreeMap<String, bool>,
}

impl Outcome {
    /// Returns the scenarios that failed.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().filter(|(_, failed)| **failed).map(|(name, _)| name.as_str())
    }
}

/// Returns what the suite finds with the requirements of a revision.
pub(crate) fn run(revision: &str) -> Outcome {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let suite = PathBuf::from(variable("DEMUR_MCP_MODULES"))
        .join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let output = Command::new(variable("DEMUR_MCP_NODE"))
        .arg(suite)
        .args(["server", "--url", &server.url, "--requirements", revision, "--output-dir"])
        .arg(folder.path())
        .arg("--expected-failures")
        .arg(expected::path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let report = report.into_owned();
    Outcome { passed: output.status.success(), report, scenarios: scenarios(folder.path()) }
}

/// Returns what was written about each scenario, in a folder `server-NAME-TIME` of its own.
fn scenarios(folder: &Path) -> BTreeMap<String, bool> {
    let mut scenarios = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = name.strip_prefix("server-").unwrap();
        let (name, _time) = name.split_at(name.len() - "-2026-07-28T00-00-00-000Z".len());
        let checks = fs::read(entry.path().join("checks.json")).unwrap();
        let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
        let failed = checks.iter().any(|check| check["status"] == "FAILURE");
        scenarios.insert(name.to_owned(), failed);
    }
    scenarios
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("{name} is not set: run `cargo xtask test`"))
}

/// The fixture server, which ends with this value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_demur-mcp-fixture"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}
