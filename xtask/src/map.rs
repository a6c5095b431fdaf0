//! The map of the workspace, `ARCHITECTURE.md`, held against the files: every path that it names is there, and every crate is
//! on it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// Returns what the map says that is not so.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let map = workspace.read(MAP)?;
    let mut crates = Vec::new();
    for entry in fs::read_dir(workspace.root.join(CRATES)).context("cannot list the crates")? {
        crates.push(entry?.file_name().to_string_lossy().into_owned());
    }
    crates.sort_unstable();
    let missing = crates.iter().filter(|name| !names(&map, name));
    let missing = missing.map(|name| format!("{MAP} does not name {CRATES}/{name}: give it a line"));
    let lost = paths(&map).filter(|path| !is_there(&workspace.root, path));
    let lost = lost.map(|path| format!("{MAP} names {path}, which is not there"));
    Ok(missing.chain(lost).collect())
}

/// Returns whether a line of the map begins with this crate.
fn names(map: &str, name: &str) -> bool {
    let named =
        |line: &str| line.split_whitespace().next()?.strip_prefix("crates/").map(|found| found == name);
    map.lines().any(|line| named(line).unwrap_or(false))
}

/// Returns the paths in a text, below the root or below `crates`; braces stand for several.
fn paths(text: &str) -> impl Iterator<Item = String> {
    let spans = text
        .lines()
        .filter(|line| !line.starts_with(FENCE))
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| is_path(span)).flat_map(expanded)
}

/// Addresses, commands and requests have slashes, too.
fn is_path(span: &str) -> bool {
    span.contains('/') && !span.starts_with('/') && !span.contains(' ')
}

fn expanded(span: &str) -> Vec<String> {
    let parts = span.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        Some((before, inside, after))
    });
    let Some((before, inside, after)) = parts else { return vec![span.to_owned()] };
    inside.split(',').flat_map(|part| expanded(&format!("{before}{part}{after}"))).collect()
}

fn is_there(root: &Path, path: &str) -> bool {
    [root.to_owned(), root.join(CRATES)].iter().any(|folder| match path.split_once('*') {
        None => folder.join(path).exists(),
        Some((start, end)) => has(folder, start, end),
    })
}

/// Returns whether a folder has something whose name begins and ends so.
fn has(folder: &Path, start: &str, end: &str) -> bool {
    let (inner, start) = start.rsplit_once('/').unwrap_or((".", start));
    let fits = |name: &str| name.starts_with(start) && name.ends_with(end);
    fs::read_dir(folder.join(inner)).is_ok_and(|mut all| {
        all.any(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(fits)))
    })
}

const MAP: &str = "ARCHITECTURE.md";
const CRATES: &str = "crates";
/// What the drawing stands between.
const FENCE: &str = "```";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_a_text_is_found_and_nothing_else() {
        let text = "```\n crates/cli  the command\n```\n| `a/src/{b,c}.rs`, `a/src/d*` | `GET /v1/x`, `/mcp`, `Desk::call` |\n";
        assert_eq!(paths(text).collect::<Vec<_>>(), ["a/src/b.rs", "a/src/c.rs", "a/src/d*"]);
        assert!(names(text, "cli") && !names(text, "cl"));
    }

    #[test]
    fn path_that_is_gone_is_told_from_one_that_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(
            is_there(root, "src/map.rs") && is_there(root, "src/m*.rs") && is_there(root, "src/licences*")
        );
        assert!(!is_there(root, "src/gone.rs") && !is_there(root, "src/gone*") && !is_there(root, "gone/*"));
    }
}
