//! `cargo xtask licences`: what the workspace may depend on, checked against `xtask/dependencies.toml`.

mod expression;
mod graph;
mod rules;
mod settings;

use anyhow::{Context, Result};

use self::graph::Graph;
use self::settings::Settings;
use crate::verdict::Verdict;
use crate::workspace::{Workspace, output_of};

/// Returns whether the dependencies keep every rule; prints each one that does not.
pub(crate) fn run() -> Result<Verdict> {
    let workspace = Workspace::locate()?;
    let settings =
        Settings::parse(&workspace.read(SETTINGS)?).with_context(|| format!("{SETTINGS} is not valid"))?;
    let graph = graph(&workspace)?;
    let problems = rules::problems(&graph, &settings);
    for problem in &problems {
        println!("error: {problem}");
    }
    println!(
        "licences: {} packages of {} allowed, {} errors",
        graph.packages.len(),
        settings.packages.limit,
        problems.len()
    );
    Ok(Verdict::from_passed(problems.is_empty()))
}

fn graph(workspace: &Workspace) -> Result<Graph> {
    let mut cargo = workspace.cargo();
    // All features: what an optional one draws in is shipped to somebody too.
    cargo.args(["metadata", "--format-version", "1", "--all-features"]);
    serde_json::from_slice(&output_of(cargo)?).context("cargo metadata printed something unexpected")
}

const SETTINGS: &str = "xtask/dependencies.toml";
