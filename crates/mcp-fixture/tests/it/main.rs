//! The official conformance suite of MCP against the fixture server, which stands on the transport of the product.
#![expect(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod expected;
mod suite;

use std::collections::BTreeSet;

use crate::suite::{Outcome, run};

#[test]
fn suite_finds_what_is_listed_and_nothing_else() {
    let (new, old) = (run("2026-07-28"), run("2025-11-25"));
    assert!(new.scenarios.len() >= 37, "the suite ran only {} scenarios", new.scenarios.len());
    assert!(old.scenarios.len() >= 30, "the suite ran only {} scenarios", old.scenarios.len());
    let failures: BTreeSet<&str> = new.failures().chain(old.failures()).collect();
    let listed = expected::read();
    let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let unexpected: Vec<_> = failures.difference(&listed).collect();
    assert!(unexpected.is_empty(), "not listed: {unexpected:?}\n{}\n{}", new.report, old.report);
    let stale: Vec<_> = listed.difference(&failures).collect();
    assert!(stale.is_empty(), "listed, but no longer failing: {stale:?}");
    for Outcome { passed, report, .. } in [new, old] {
        // What the suite itself says about the scenarios that count.
        assert!(passed, "{report}");
    }
}
