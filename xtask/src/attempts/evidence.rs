//! What shows that an attempt is made: a test that exists and speaks of the code, or a file of the attack corpus with that code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::list::Attempt;
use crate::source::{Function, SourceMap};
use crate::workspace::Workspace;

/// The sources of the tests that were looked at, and the attack corpus.
pub(crate) struct Evidence<'a> {
    workspace: &'a Workspace,
    cases: BTreeMap<String, AttackCase>,
    sources: BTreeMap<PathBuf, Option<TestSource>>,
}

/// One file of the corpus.
#[derive(Debug, Deserialize)]
struct AttackCase {
    name: String,
    verdict: String,
    code: Option<String>,
    /// What is found besides.
    #[serde(default)]
    finds: Vec<String>,
}

impl AttackCase {
    fn meets(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code) || self.finds.iter().any(|found| found == code)
    }
}

/// One source file of tests.
struct TestSource {
    text: String,
    tests: Vec<String>,
}

impl<'a> Evidence<'a> {
    /// Returns what the workspace holds.
    pub(crate) fn new(workspace: &'a Workspace) -> Result<Self> {
        let cases: Vec<AttackCase> =
            serde_json::from_str(&workspace.read(CASES)?).with_context(|| format!("{CASES} is not valid"))?;
        let cases = cases.into_iter().map(|case| (case.name.clone(), case)).collect();
        Ok(Self { workspace, cases, sources: BTreeMap::new() })
    }

    /// Returns why an attempt is not shown by what it names, if it is not.
    pub(crate) fn problem(&mut self, attempt: &Attempt) -> Result<Option<String>> {
        let Attempt { refusal, test, .. } = attempt;
        if let Some(name) = test.strip_prefix("attack::") {
            return Ok(match self.cases.get(name) {
                None => Some(format!("the corpus has no case `{name}`")),
                Some(case) if case.verdict == "pass" => Some(format!("the case `{name}` passes")),
                Some(case) if is_code(refusal) && !case.meets(refusal) => {
                    Some(format!("the case `{name}` is not refused with {refusal}"))
                }
                Some(_) => None,
            });
        }
        let Some((path, name)) = place(test) else {
            return Ok(Some(format!("expected `CRATE::MODULE::TEST`, found `{test}`")));
        };
        let Some(source) = self.source(&path)? else {
            return Ok(Some(format!("there is no file {}", path.display())));
        };
        if !source.tests.iter().any(|known| known == name) {
            return Ok(Some(format!("{} has no test `{name}`", path.display())));
        }
        let speaks = !is_code(refusal)
            || source.text.contains(refusal.as_str())
            || source.text.contains(&format!("Code::{}", camel_case(refusal)));
        Ok((!speaks).then(|| format!("{} does not speak of {refusal}", path.display())))
    }

    fn source(&mut self, path: &Path) -> Result<Option<&TestSource>> {
        if !self.sources.contains_key(path) {
            let source = if self.workspace.root.join(path).is_file() {
                let text = self.workspace.read(path)?;
                let functions = SourceMap::new(&text).functions;
                let tests = functions.into_iter().filter(Function::is_test);
                Some(TestSource { tests: tests.map(|test| test.name).collect(), text })
            } else {
                None
            };
            self.sources.insert(path.to_owned(), source);
        }
        Ok(self.sources.get(path).and_then(Option::as_ref))
    }
}

/// Returns the file and the name of a test `CRATE::MODULE::TEST`.
fn place(test: &str) -> Option<(PathBuf, &str)> {
    let (module, name) = test.rsplit_once("::")?;
    let (package, module) = module.split_once("::")?;
    Some((PathBuf::from(format!("crates/{package}/tests/it/{}.rs", module.replace("::", "/"))), name))
}

/// Returns whether a refusal is a code; otherwise it says in words what a report shows.
fn is_code(refusal: &str) -> bool {
    refusal.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// Returns a code as its variant is called: `INPUT_MISMATCH` is `InputMismatch`.
fn camel_case(code: &str) -> String {
    let word = |word: &str| word.chars().take(1).chain(word.to_ascii_lowercase().chars().skip(1)).collect();
    code.split('_').map(word).collect::<Vec<String>>().concat()
}

const CASES: &str = "conformance/ledger/attacks/cases.json";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempts::list::{Speaker, Way};

    #[test]
    fn test_that_is_not_there_shows_nothing() {
        let workspace = Workspace::locate().unwrap();
        let mut evidence = Evidence::new(&workspace).unwrap();
        let mut problem = |refusal: &str, test: &str| {
            let (refusal, test) = (refusal.to_owned(), test.to_owned());
            let attempt = Attempt { who: Speaker::Agent, way: Way::Http, refusal, test };
            evidence.problem(&attempt).unwrap().unwrap_or_default()
        };
        assert_eq!(problem("", "nothing"), "expected `CRATE::MODULE::TEST`, found `nothing`");
        assert_eq!(problem("", "server::no::a"), "there is no file crates/server/tests/it/no.rs");
        assert_eq!(problem("", "server::run::no"), "crates/server/tests/it/run.rs has no test `no`");
        let known = "server::race::one_answer_wins_and_every_other_is_told_who_when_and_how";
        assert_eq!(problem("NO_CODE", known), "crates/server/tests/it/race.rs does not speak of NO_CODE");
        assert_eq!(problem("in words", known), "");
        assert_eq!(problem("", "attack::no"), "the corpus has no case `no`");
        assert_eq!(problem("", "attack::valid-full-run"), "the case `valid-full-run` passes");
    }
}
