//! Which crate may need which: the map of `ARCHITECTURE.md`, held against every `Cargo.toml`. What tests alone need is free.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::workspace::Workspace;

/// Returns what is wrong with the arrows between the crates of the workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut crates = BTreeMap::new();
    for path in workspace.files_with_extension(&["toml"])? {
        if is_manifest(&path) {
            let (name, needs) =
                read(&workspace.read(&path)?).with_context(|| format!("cannot read {}", path.display()))?;
            crates.insert(name, needs);
        }
    }
    Ok(findings(&crates, MAY))
}

/// The names of crates, and what each needs outside of its tests.
type Crates = BTreeMap<String, BTreeSet<String>>;

fn is_manifest(path: &Path) -> bool {
    path.starts_with("crates") && path.components().count() == 3 && path.ends_with("Cargo.toml")
}

/// Returns the name of a crate and what it needs, ours without their prefix.
fn read(manifest: &str) -> Result<(String, BTreeSet<String>)> {
    let manifest: Table = manifest.parse()?;
    let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
    let name = short(name.context("the package has no name")?);
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain([&manifest]);
    let needs = tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)));
    let needs = needs.flatten().filter_map(Value::as_table).flat_map(Table::keys);
    Ok((name, needs.map(|need| short(need)).collect()))
}

fn short(name: &str) -> String {
    name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
}

/// Returns what is wrong: an arrow that may not be, a crate that has no row.
fn findings(crates: &Crates, may: &[(&str, &[&str])]) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, needs) in crates {
        let Some((_, allowed)) = may.iter().find(|(known, _)| known == name) else {
            findings.push(format!("nothing says what `{name}` may need: give it a row in {HERE}"));
            continue;
        };
        for need in needs {
            let is_ours = crates.contains_key(need);
            if is_ours && !allowed.contains(&need.as_str()) {
                findings
                    .push(format!("`{name}` needs `{need}`, which it may not: ARCHITECTURE.md has the map"));
            }
            if need == DATABASE && name != STORE {
                findings.push(format!("`{name}` needs `{DATABASE}`: only `{STORE}` knows a database"));
            }
        }
    }
    findings
}

/// What each crate may need of the others. Not every arrow here has to be there.
const MAY: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("clarify", &["core"]),
    ("aaep", &["core"]),
    ("ledger", &["core"]),
    ("rules", &["clarify", "core"]),
    ("engine", &["core", "ledger"]),
    ("plan", &["clarify", "core", "engine", "ledger", "rules"]),
    ("run", &["core", "ledger"]),
    ("sandbox", &[]),
    ("api", &["clarify", "core", "ledger"]),
    ("store", &["core", "ledger"]),
    ("sequencer", &["core", "engine", "ledger", "store"]),
    (
        "desk",
        &["aaep", "api", "clarify", "core", "engine", "ledger", "plan", "rules", "run", "sequencer", "store"],
    ),
    ("web", &["api", "clarify", "core", "ledger"]),
    ("mcp", &["api", "clarify", "core", "ledger"]),
    ("server", &["api", "clarify", "core", "desk", "ledger", "mcp", "web"]),
    (
        "cli",
        &[
            "api", "clarify", "core", "desk", "ledger", "mcp", "plan", "rules", "run", "sandbox", "server",
            "store",
        ],
    ),
    // For tests only: nothing may need these two, so they may need what they like.
    (
        "testing",
        &["api", "clarify", "core", "desk", "engine", "ledger", "plan", "rules", "run", "sequencer", "store"],
    ),
    ("mcp-fixture", &[]),
];

/// What the names of our crates begin with.
const PREFIX: &str = "demur-";
/// The database, and the crate that knows it.
const DATABASE: &str = "rusqlite";
const STORE: &str = "store";
/// Where the rows are.
const HERE: &str = "xtask/src/walls.rs";

#[cfg(test)]
mod tests {
    use super::*;

    fn crates(all: &[(&str, &[&str])]) -> Crates {
        let needs = |needs: &[&str]| needs.iter().map(|need| (*need).to_owned()).collect();
        all.iter().map(|(name, all)| ((*name).to_owned(), needs(all))).collect()
    }

    const UP: &[(&str, &[&str])] = &[("core", &[]), ("store", &["core"]), ("web", &["core"])];

    #[test]
    fn arrows_that_may_be_are_no_finding() {
        let sound = crates(&[("core", &["serde"]), ("store", &["core", "rusqlite"]), ("web", &[])]);
        assert_eq!(findings(&sound, UP), [""; 0]);
    }

    #[test]
    fn an_arrow_that_may_not_be_is_named() {
        let wrong = crates(&[("core", &[]), ("store", &[]), ("web", &["store"])]);
        assert_eq!(
            findings(&wrong, UP),
            ["`web` needs `store`, which it may not: ARCHITECTURE.md has the map"]
        );
    }

    #[test]
    fn a_crate_without_a_row_and_a_second_friend_of_the_database_are_findings() {
        let found = findings(&crates(&[("core", &["rusqlite"]), ("new", &["core"])]), UP);
        assert_eq!(
            found,
            [
                "`core` needs `rusqlite`: only `store` knows a database",
                "nothing says what `new` may need: give it a row in xtask/src/walls.rs"
            ]
        );
    }

    #[test]
    fn what_tests_need_is_free_and_what_one_system_needs_is_not() {
        let manifest = "[package]\nname = \"demur-web\"\n[dependencies]\ndemur-core.workspace = true\nserde = \"1\"\n\
                        [dev-dependencies]\ndemur-desk.workspace = true\n[target.'cfg(unix)'.dependencies]\ndemur-store = {}\n";
        let (name, needs) = read(manifest).unwrap();
        let expected = ["core", "serde", "store"].map(str::to_owned);
        assert_eq!((name.as_str(), needs), ("web", BTreeSet::from(expected)));
    }

    #[test]
    fn no_row_allows_what_a_row_above_it_may_not_see() {
        for (at, (name, allowed)) in MAY.iter().enumerate() {
            for need in *allowed {
                let below = MAY[..at].iter().any(|(known, _)| known == need);
                assert!(
                    below,
                    "`{name}` may need `{need}`, which comes after it: arrows would go in a circle"
                );
            }
        }
    }
}
