//! The exclusions, one a line, each with its reason.

use std::{fs, path::PathBuf};

/// Returns the scenarios that may fail.
pub(crate) fn read() -> Vec<String> {
    fs::read_to_string(path()).unwrap().lines().filter_map(entry).collect()
}

/// Returns where they are listed.
pub(crate) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp/expected-failures.yml")
}

fn entry(line: &str) -> Option<String> {
    let Some((name, reason)) = line.trim().strip_prefix("- ")?.split_once(" # ") else {
        panic!("no reason is given in `{line}`");
    };
    assert!(reason.trim().len() > 10, "the reason is too short in `{line}`");
    Some(name.trim().to_owned())
}

#[test]
#[should_panic(expected = "no reason is given")]
fn exclusion_without_a_reason_is_refused() {
    entry("  - ping");
}

#[test]
fn exclusion_is_read_without_its_reason() {
    assert_eq!(entry("  - ping # nobody has sent one since"), Some("ping".to_owned()));
    assert_eq!(entry("server:"), None);
}
