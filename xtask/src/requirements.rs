//! `cargo xtask requirements`: holds the ids that tests name against the list of promises.

mod list;
mod mention;
mod report;
mod scan;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use self::list::RequirementList;
use self::report::Coverage;
use self::scan::{NamedId, TestLanguage};
use crate::verdict::{Refusal, Verdict};
use crate::workspace::Workspace;

/// Returns whether every `done` requirement has a test and every test names requirements that exist.
pub(crate) fn run(arguments: &[String]) -> Result<Verdict> {
    let check_against = check_against(arguments)?;
    let workspace = Workspace::locate()?;
    let list =
        RequirementList::parse(&workspace.read(LIST)?).with_context(|| format!("{LIST} is not valid"))?;
    let named = named_ids(&workspace, &list.group_ids())?;

    let coverage = Coverage::new(&list, &named);
    print!("{coverage}");
    let mut problems = coverage.problems();
    if let Some(path) = check_against {
        let markdown =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(list.differences_from_markdown(&markdown));
    }
    for problem in &problems {
        println!("error: {problem}");
    }
    Ok(Verdict::from_passed(problems.is_empty()))
}

fn check_against(arguments: &[String]) -> Result<Option<PathBuf>> {
    match arguments {
        [] => Ok(None),
        [option, file] if option == "--check-against" => Ok(Some(PathBuf::from(file))),
        _ => Err(Refusal::error(format!(
            "`requirements` takes nothing or `--check-against FILE`, found `{}`",
            arguments.join(" ")
        ))),
    }
}

fn named_ids(workspace: &Workspace, groups: &[&str]) -> Result<Vec<NamedId>> {
    let mut named = Vec::new();
    for path in workspace.files_with_extension(&TestLanguage::EXTENSIONS)? {
        if let Some(language) = TestLanguage::of(&path) {
            named.extend(scan::ids_in_tests(language, &path, &workspace.read(&path)?, groups));
        }
    }
    Ok(named)
}

const LIST: &str = "conformance/requirements.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_file_to_check_against() {
        let arguments = ["--check-against".to_owned(), "list.md".to_owned()];
        assert_eq!(check_against(&arguments).unwrap(), Some(PathBuf::from("list.md")));
        assert_eq!(check_against(&[]).unwrap(), None);
    }

    #[test]
    fn refuses_other_arguments() {
        assert!(check_against(&["--check-against".to_owned()]).unwrap_err().is::<Refusal>());
        assert!(check_against(&["LED-05".to_owned()]).unwrap_err().is::<Refusal>());
    }

    #[test]
    fn list_of_the_project_is_valid() {
        let list = RequirementList::parse(include_str!("../../conformance/requirements.toml")).unwrap();
        assert_eq!(list.group_ids(), ["CLR", "AEP", "LED", "AAU", "CLW", "ONE"]);
    }
}
