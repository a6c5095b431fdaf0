//! Their side: a Python program with the graph of LangGraph's manual.

use std::{
    env,
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde::de::DeserializeOwned;

use super::Side;

/// Returns the interpreter that has LangGraph, if somebody made one ready.
pub(crate) fn interpreter() -> Option<OsString> {
    env::var_os(INTERPRETER_VARIABLE)
}

/// Returns what came of this many races with each checkpointer.
pub(super) fn race(interpreter: &OsString, races: u32) -> Result<Vec<Side>> {
    lines(interpreter, "langgraph_race.py", &[&races.to_string()])
}

/// Runs a program beside this crate, with these arguments and a folder of its own, and returns the lines of JSON that it
/// printed.
pub(crate) fn lines<T: DeserializeOwned>(
    interpreter: &OsString,
    program: &str,
    arguments: &[&str],
) -> Result<Vec<T>> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let ran = Command::new(interpreter)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("race").join(program))
        .args(arguments)
        .arg(folder.path())
        // It must not report to anybody, whatever the environment says.
        .env("LANGSMITH_TRACING", "false")
        .env("LANGCHAIN_TRACING_V2", "false")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start Python")?;
    ensure!(ran.status.success(), "{program} ended with {}", ran.status);
    let lines = String::from_utf8(ran.stdout).context("it printed something that is no text")?;
    lines.lines().map(|line| serde_json::from_str(line).context("it printed an unexpected line")).collect()
}

/// The variable that `cargo xtask bench race` sets.
const INTERPRETER_VARIABLE: &str = "DEMUR_RACE_PYTHON";
