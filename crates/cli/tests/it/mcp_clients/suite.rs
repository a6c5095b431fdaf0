//! The official conformance suite against `demur serve` itself: whatever it can judge without fixture tools. (With them it
//! judges `crates/mcp-fixture`.)

use std::{path::Path, process::Command};

use demur_mcp_fixture::{Listening, judge, variable};
use serde_json::Value;

use super::client::http;
use crate::{sandbox::Sandbox, server_life::serve};

/// Starts a proxy that brings the token, which the suite cannot.
fn proxy(server: &Value) -> Listening {
    let mut command = Command::new(variable("DEMUR_MCP_NODE"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp/proxy.mjs"));
    command.args([server["url"].as_str().unwrap(), server["token"].as_str().unwrap()]);
    Listening::start(&mut command)
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
    // The suite leaves every session open, and all of them are of one token.
    let mut serving = serve(&sandbox, &["--max-mcp-sessions", "512"]);
    let proxy = proxy(&http(&sandbox, "suite", "all"));
    for (revision, must_pass, messages) in [("2026-07-28", &MODERN[..], 40), ("2025-11-25", &LEGACY[..], 25)]
    {
        let found = judge(&proxy.url, revision, None).scenarios;
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
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
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
