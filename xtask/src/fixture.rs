//! `cargo xtask fixture`: writes a generated export of any size, in release because signing takes time.

use std::path;

use anyhow::{Context, Result};

use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// Returns whether the fixture was written; the arguments are those of `demur-bench fixture`.
pub(crate) fn run(arguments: &[String]) -> Result<Verdict> {
    let workspace = Workspace::locate()?;
    let status = workspace
        .cargo()
        .args(["run", "--release", "--quiet", "--package", "demur-bench", "--", "fixture"])
        .args(with_absolute_out(arguments)?)
        .status()
        .context("cannot run cargo")?;
    Ok(Verdict::from_passed(status.success()))
}

/// The program runs in the workspace root, and the file is named from where the person is.
fn with_absolute_out(arguments: &[String]) -> Result<Vec<String>> {
    let mut arguments = arguments.to_vec();
    for index in 0..arguments.len() {
        if let Some(file) = arguments[index].strip_prefix("--out=") {
            arguments[index] = format!("--out={}", absolute(file)?);
        } else if arguments[index] == "--out"
            && let Some(file) = arguments.get_mut(index + 1)
        {
            *file = absolute(file)?;
        }
    }
    Ok(arguments)
}

fn absolute(file: &str) -> Result<String> {
    let path = path::absolute(file).with_context(|| format!("`{file}` is no path"))?;
    path.into_os_string().into_string().ok().context("the current folder has no name in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn file_is_named_from_the_current_folder() {
        let here = std::env::current_dir().unwrap().display().to_string();
        for (given, expected) in
            [("--out a.jsonl", "--out {}/a.jsonl"), ("--out=a.jsonl", "--out={}/a.jsonl")]
        {
            let found = with_absolute_out(&arguments(&format!("--events 25 {given}"))).unwrap();
            assert_eq!(found, arguments(&format!("--events 25 {}", expected.replace("{}", &here))));
        }
    }

    #[test]
    fn other_arguments_stay_as_they_are() {
        for line in ["--events 25 --out /a.jsonl --seed 3", "--events 25 --out"] {
            assert_eq!(with_absolute_out(&arguments(line)).unwrap(), arguments(line));
        }
    }
}
