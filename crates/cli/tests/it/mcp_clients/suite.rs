//! The official conformance suite against `demur serve` itself: whatever it can judge without fixture tools. (With them it
//! judges `crates/mcp-fixture`.)

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use super::client::{http, variable};
use crate::sandbox::Sandbox;

/// A proxy that brings the token, which the suite cannot; it ends with this value.
struct Proxy {
    child: Child,
    url: String,
}

impl Proxy {
    fn start(server: &Value) -> Self {
        let mut child = Command::new(variable("DEMUR_MCP_NODE"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp/proxy.mjs"))
            .args([server["url"].as_str().unwrap(), server["token"].as_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Returns what the suite found, by scenario.
fn judge(url: &str, revision: &str) -> BTreeMap<String, Vec<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let suite = PathBuf::from(variable("DEMUR_MCP_MODULES"))
        .join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    Command::new(variable("DEMUR_MCP_NODE"))
        .arg(suite)
        .args(["server", "--url", url, "--requirements", revision, "--output-dir"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = name.strip_prefix("server-").unwrap();
        let name = &name[..name.len() - "-2026-07-28T00-00-00-000Z".len()];
        let checks = fs::read(entry.path().join("checks.json")).unwrap();
        found.insert(name.to_owned(), serde_json::from_slice(&checks).unwrap());
    }
    found
}

/// Returns whether a check failed although it could be made.
fn fails(check: &Value) -> bool {
    let words = check["errorMessage"].as_str().unwrap_or_default();
    check["status"] == "FAILURE"
        && !words.starts_with("Not testable: server does not list the diagnostic tool")
}

#[test]
fn conformance_suite_finds_no_fault_in_the_server_itself() {
    let sandbox = Sandbox::new();
    sandbox.run(&["inbox", "--list"]).expect_code(0);
    let proxy = Proxy::start(&http(&sandbox, "suite", "all"));
    for (revision, must_pass, messages) in [("2026-07-28", &MODERN[..], 40), ("2025-11-25", &LEGACY[..], 25)]
    {
        let found = judge(&proxy.url, revision);
        for name in must_pass {
            let checks = found.get(*name).unwrap_or_else(|| panic!("{revision}: {name} did not run"));
            let failed: Vec<&Value> = checks.iter().filter(|check| fails(check)).collect();
            assert!(failed.is_empty(), "{revision} {name}: {failed:#?}");
        }
        // Every message of every scenario has the shape that the schema of the revision asks for.
        let is_shape = |check: &&Value| check["id"] == "wire-schema-valid";
        let shapes: Vec<&Value> = found.values().flatten().filter(is_shape).collect();
        assert!(shapes.len() >= messages, "{revision}: only {} scenarios were judged", shapes.len());
        let wrong: Vec<&&Value> = shapes.iter().filter(|check| fails(check)).collect();
        assert!(wrong.is_empty(), "{revision}: {wrong:#?}");
    }
}

/// What needs no fixture tool.
const MODERN: [&str; 12] = [
    "server-stateless",
    "completion-complete",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "http-header-validation",
];
const LEGACY: [&str; 9] = [
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-session-lifecycle",
];
