//! Their side: a Python program with the graph of LangGraph's manual.

use std::{
    env,
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

use super::Side;

/// Returns the interpreter that has LangGraph, if somebody made one ready.
pub(crate) fn interpreter() -> Option<OsString> {
    env::var_os(INTERPRETER_VARIABLE)
}

/// Returns what came of this many races with each checkpointer.
pub(super) fn race(interpreter: &OsString, races: u32) -> Result<Vec<Side>> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("race").join("langgraph_race.py");
    let ran = Command::new(interpreter)
        .arg(program)
        .arg(races.to_string())
        .arg(folder.path())
        // It must not report to anybody, whatever the environment says.
        .env("LANGSMITH_TRACING", "false")
        .env("LANGCHAIN_TRACING_V2", "false")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start Python")?;
    ensure!(ran.status.success(), "the races of LangGraph ended with {}", ran.status);
    let lines = String::from_utf8(ran.stdout).context("it printed something that is no text")?;
    lines.lines().map(|line| serde_json::from_str(line).context("it printed an unexpected line")).collect()
}

/// The variable that `cargo xtask bench race` sets.
const INTERPRETER_VARIABLE: &str = "DEMUR_RACE_PYTHON";
