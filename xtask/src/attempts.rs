//! `cargo xtask attempts`: what must not be, who tries it, through which way in, and the test that shows the refusal. The list is
//! `conformance/attempts.toml`, the page for people `docs/refusals.md`. Each named test has to exist and to speak of the code,
//! and each demand has to be tried through every way in that can say it.

mod evidence;
mod list;
mod page;

use anyhow::{Context, Result};

use self::evidence::Evidence;
use self::list::AttemptList;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// Returns whether the list is complete, its tests are there, and the page says the same.
pub(crate) fn run() -> Result<Verdict> {
    let workspace = Workspace::locate()?;
    let list = AttemptList::parse(&workspace.read(LIST)?).with_context(|| format!("{LIST} is not valid"))?;
    let mut problems = problems(&workspace, &list)?;
    if workspace.read(PAGE)? != page::render(&list) {
        problems.push(format!("{PAGE} is not what {LIST} says: DEMUR_BLESS=1 cargo test -p xtask attempts"));
    }
    println!("{} demands, {} attempts", list.demands.len(), list.attempts().count());
    for problem in &problems {
        println!("error: {problem}");
    }
    Ok(Verdict::from_passed(problems.is_empty()))
}

/// Returns a sentence for each demand that is not tried, each code without an attempt, and each test that does not show it.
fn problems(workspace: &Workspace, list: &AttemptList) -> Result<Vec<String>> {
    let mut evidence = Evidence::new(workspace)?;
    let mut problems = list.untried();
    problems.extend(list.codes_without_attempt(&workspace.read(CHECKS)?));
    for (demand, attempt) in list.attempts() {
        if let Some(problem) = evidence.problem(attempt)? {
            problems.push(format!("`{}`, {}: {problem}", demand.text, attempt.way.as_str()));
        }
    }
    Ok(problems)
}

const LIST: &str = "conformance/attempts.toml";
const PAGE: &str = "docs/refusals.md";
const CHECKS: &str = "docs/checks.md";

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    fn every_attempt_is_made_by_a_test_and_stands_on_the_page() {
        let workspace = Workspace::locate().unwrap();
        let list = AttemptList::parse(&workspace.read(LIST).unwrap()).unwrap();
        assert_eq!(problems(&workspace, &list).unwrap(), [""; 0]);
        let made = page::render(&list);
        if env::var_os("DEMUR_BLESS").is_some() {
            fs::write(workspace.root.join(PAGE), &made).unwrap();
        }
        let found = workspace.read(PAGE).unwrap_or_default();
        assert!(found == made, "{PAGE} is stale: run this test with DEMUR_BLESS=1 and look");
    }
}
