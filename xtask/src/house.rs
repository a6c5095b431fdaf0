//! `cargo xtask house`: what the structure of the source is measured by, as a table: how many files know the database by name,
//! where JSON is written by hand or states are compared as words, and which public names mean several things.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;

use crate::source::SourceMap;
use crate::style::is_test_file;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// Prints the table, and below it every place that was counted.
pub(crate) fn run() -> Result<Verdict> {
    print!("{}", count(&Workspace::locate()?)?.report());
    Ok(Verdict::Passed)
}

/// Returns a sentence for each public name that means too many things.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    Ok(count(workspace)?.findings())
}

fn count(workspace: &Workspace) -> Result<Counted> {
    let mut counted = Counted::default();
    for path in workspace.files_with_extension(&["rs"])? {
        let name = path.to_string_lossy().into_owned();
        if !is_test_file(&path) {
            counted.add(&name, &workspace.read(&path)?);
        }
    }
    Ok(counted)
}

/// Places in the source of the crates, tests left out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    /// Files outside the store that name its type.
    database: Vec<String>,
    /// Lines of the MCP crate that write JSON by hand.
    json: Vec<String>,
    /// Lines that compare how a question stands as a word.
    states: Vec<String>,
    /// Public types by name, with the files that have one of that name.
    types: BTreeMap<String, Vec<String>>,
}

impl Counted {
    /// Counts what a file holds.
    fn add(&mut self, path: &str, text: &str) {
        let Some((name, "src", _)) = parts(path) else { return };
        let source = SourceMap::new(text);
        let mut names_database = false;
        for (index, (line, raw)) in source.lines.iter().zip(text.lines()).enumerate() {
            if source.is_test_line(index) || line.code.trim().is_empty() {
                continue;
            }
            let place = || format!("{path}:{}", index + 1);
            names_database |= has_word(&line.code, DATABASE);
            // Several on one line are several.
            let written = if name == "mcp" { line.code.matches("json!").count() } else { 0 };
            self.json.extend((0..written).map(|_| place()));
            if compares_state(raw) {
                self.states.push(place());
            }
            if let Some(named) = public_type(&line.code) {
                self.types.entry(named.to_owned()).or_default().push(path.to_owned());
            }
        }
        if names_database && name != "store" {
            self.database.push(path.to_owned());
        }
    }

    /// Returns the public names that mean several things.
    fn crowded(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.types.iter().filter(|(_, files)| files.len() >= MEANINGS)
    }

    fn findings(&self) -> Vec<String> {
        let finding = |(name, files): (&String, &Vec<String>)| {
            let (count, files) = (files.len(), files.join(", "));
            format!(
                "the public name `{name}` has {count} meanings, fewer than {MEANINGS} are allowed: rename one in {files}"
            )
        };
        self.crowded().map(finding).collect()
    }

    fn report(&self) -> String {
        let now = [self.database.len(), self.json.len(), self.states.len(), self.crowded().count()];
        let mut report = "measure | before | target | now\n---|---|---|---\n".to_owned();
        for ((measure, before, target), now) in MEASURES.iter().zip(now) {
            let _ = writeln!(report, "{measure} | {before} | {target} | {now}");
        }
        for (title, places) in
            [(MEASURES[0].0, &self.database), (MEASURES[1].0, &self.json), (MEASURES[2].0, &self.states)]
        {
            let _ = writeln!(report, "\n{title}:");
            for place in places {
                let _ = writeln!(report, "  {place}");
            }
        }
        let _ = writeln!(report, "\n{}:", MEASURES[3].0);
        for (name, files) in self.crowded() {
            let _ = writeln!(report, "  {name}: {}", files.join(", "));
        }
        report
    }
}

/// Returns the crate that a file belongs to, the folder in it, and the rest.
fn parts(path: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    let (folder, rest) = rest.split_once('/')?;
    Some((name, folder, rest))
}

fn has_word(code: &str, word: &str) -> bool {
    code.split(|character: char| !character.is_alphanumeric() && character != '_').any(|found| found == word)
}

/// Returns whether a line compares with the word of a state: beside `==` or `!=`, or as a pattern.
fn compares_state(line: &str) -> bool {
    STATES.iter().any(|state| {
        let word = format!("\"{state}\"");
        line.match_indices(&word).any(|(at, _)| {
            let (before, after) = (line[..at].trim_end(), line[at + word.len()..].trim_start());
            let beside = before.ends_with("==") || before.ends_with("!=");
            let arm = after.contains("=>") || after.starts_with('|');
            beside || arm || before.contains("matches!(")
        })
    })
}

/// Returns the name of the public type that a line begins.
fn public_type(code: &str) -> Option<&str> {
    let rest = code.trim_start().strip_prefix("pub ")?;
    let rest =
        ["struct ", "enum ", "trait ", "type ", "union "].iter().find_map(|word| rest.strip_prefix(word))?;
    let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

/// What is measured, what it was before the server alone owned the store, and what it is to be.
const MEASURES: [(&str, usize, &str); 4] = [
    ("files outside store naming `SqliteStore`", 16, "≤ 5"),
    ("`json!` in mcp", 54, "≤ 5"),
    ("lines that compare states as words", 66, "0"),
    ("`pub` type names with 3 meanings", 16, "0"),
];

/// The store's type for a database.
const DATABASE: &str = "SqliteStore";
/// How a question can stand.
const STATES: [&str; 8] =
    ["open", "answered", "accepted", "declined", "expired", "defaulted", "cancelled", "withdrawn"];
/// How many meanings are too many for one name.
const MEANINGS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is counted in these files.
    fn counted(files: &[(&str, &str)]) -> Counted {
        let mut counted = Counted::default();
        for (path, text) in files {
            counted.add(path, text);
        }
        counted
    }

    #[test]
    fn files_that_name_the_database_count_once_and_the_store_does_not() {
        let text = "use demur_store::SqliteStore;\nfn a(_: SqliteStore) {}\n";
        let found = counted(&[
            ("crates/cli/src/a.rs", text),
            ("crates/store/src/sqlite.rs", text),
            (
                "crates/cli/src/b.rs",
                "// SqliteStore\nstruct MySqliteStore;\n#[cfg(test)]\nmod tests { use SqliteStore; }\n",
            ),
            ("crates/cli/tests/it/a.rs", text),
            ("bench/src/a.rs", text),
        ]);
        assert_eq!(found.database, ["crates/cli/src/a.rs"]);
    }

    #[test]
    fn json_counts_each_time_in_mcp_only() {
        let text = "fn a() { b(json!({}), json!([])) }\n/// json!\nfn c() { json!(\"json!\") }\n";
        let found = counted(&[("crates/mcp/src/a.rs", text), ("crates/web/src/a.rs", text)]);
        let places = ["crates/mcp/src/a.rs:1", "crates/mcp/src/a.rs:1", "crates/mcp/src/a.rs:3"];
        assert_eq!(found.json, places);
    }

    #[test]
    fn states_count_where_they_are_compared_and_not_where_they_are_said() {
        for line in [
            "if question.state == \"open\" {",
            "if shown.state != \"answered\" && x {",
            "    \"declined\" => Exit::Declined,",
            "    \"answered\" | \"accepted\" => None,",
            "    (\"defaulted\", Some(value)) => value,",
            "matches!(state.as_str(), \"declined\" | \"expired\")",
        ] {
            assert!(compares_state(line), "{line}");
        }
        for line in [
            "(open, \"open\"),",
            "map_or_else(|| \"open\".to_owned(), clock)",
            "say(\"answered\")",
            "x == \"opened\"",
            "Self::Open => \"open\",",
        ] {
            assert!(!compares_state(line), "{line}");
        }
    }

    #[test]
    fn names_with_three_public_meanings_are_listed_with_their_files() {
        let found = counted(&[
            ("crates/a/src/a.rs", "pub struct Plan<'a> {\n}\npub enum Step {}\n"),
            ("crates/b/src/b.rs", "pub type Plan = u8;\npub(crate) struct Step;\npub struct Step(u8);\n"),
            (
                "crates/c/src/c.rs",
                "pub trait Plan {}\nstruct Step;\n#[cfg(test)]\nmod tests {\n    pub struct Step;\n}\n",
            ),
        ]);
        let files =
            ["crates/a/src/a.rs", "crates/b/src/b.rs", "crates/c/src/c.rs"].map(str::to_owned).to_vec();
        assert_eq!(found.crowded().collect::<Vec<_>>(), [(&"Plan".to_owned(), &files)]);
    }

    #[test]
    fn third_public_meaning_of_a_name_is_a_finding_and_a_second_is_none() {
        let file = |name| (name, "pub struct Plan;\n");
        let two = [file("crates/a/src/a.rs"), file("crates/b/src/b.rs")];
        assert_eq!(counted(&two).findings(), [""; 0]);
        let three = counted(&[two[0], two[1], file("crates/c/src/c.rs")]).findings();
        let expected = "the public name `Plan` has 3 meanings, fewer than 3 are allowed: rename one in \
             crates/a/src/a.rs, crates/b/src/b.rs, crates/c/src/c.rs";
        assert_eq!(three, [expected]);
    }

    #[test]
    fn report_is_a_table_and_then_the_places() {
        let report = counted(&[("crates/cli/src/a.rs", "use demur_store::SqliteStore;\n")]).report();
        let lines: Vec<_> = report.lines().collect();
        assert_eq!(lines[..2], ["measure | before | target | now", "---|---|---|---"]);
        assert!(
            lines[2].starts_with("files outside store naming `SqliteStore` | ") && lines[2].ends_with(" | 1")
        );
        assert!(report.contains("\n  crates/cli/src/a.rs\n"), "{report}");
    }
}
