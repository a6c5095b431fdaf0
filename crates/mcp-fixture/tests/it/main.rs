//! The official conformance suite of MCP against the fixture server, which stands on the transport of the product.
#![expect(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod expected;

use std::{collections::BTreeSet, process::Command};

use demur_mcp_fixture::{Listening, SuiteOutcome, judge};

fn run(revision: &str) -> SuiteOutcome {
    let server = Listening::start(&mut Command::new(env!("CARGO_BIN_EXE_demur-mcp-fixture")));
    judge(&server.url, revision, Some(&expected::path()))
}

/// Returns the scenarios that failed.
fn failures(outcome: &SuiteOutcome) -> impl Iterator<Item = &str> {
    let failed = outcome
        .scenarios
        .iter()
        .filter(|(_, checks)| checks.iter().any(|check| check["status"] == "FAILURE"));
    failed.map(|(name, _)| name.as_str())
}

#[test]
fn suite_finds_what_is_listed_and_nothing_else() {
    let (new, old) = (run("2026-07-28"), run("2025-11-25"));
    assert!(new.scenarios.len() >= 37, "the suite ran only {} scenarios", new.scenarios.len());
    assert!(old.scenarios.len() >= 30, "the suite ran only {} scenarios", old.scenarios.len());
    let failures: BTreeSet<&str> = failures(&new).chain(failures(&old)).collect();
    let listed = expected::read();
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let unexpected: Vec<_> = failures.difference(&listed).collect();
    assert!(unexpected.is_empty(), "not listed: {unexpected:?}\n{}\n{}", new.report, old.report);
    let stale: Vec<_> = listed.difference(&failures).collect();
    assert!(stale.is_empty(), "listed, but no longer failing: {stale:?}");
    for SuiteOutcome { passed, report, .. } in [new, old] {
        // What the suite itself says about the scenarios that count.
        assert!(passed, "{report}");
    }
}
