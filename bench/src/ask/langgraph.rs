//! Their side: LangGraph asks with `interrupt` and is resumed with the answer, each step in its SQLite checkpointer.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::race::langgraph::interpreter;

/// What one side brought.
#[derive(Debug, Deserialize)]
pub(super) struct Side {
    pub(super) name: String,
    pub(super) threads: u32,
    /// Round trips per second.
    pub(super) rate: f64,
}

/// Returns its rates with one caller and with many; none without an interpreter that has it.
pub(super) fn rates() -> Result<Option<Vec<Side>>> {
    let Some(interpreter) = interpreter() else { return Ok(None) };
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("race").join("langgraph_ask.py");
    let ran = Command::new(interpreter)
        .arg(program)
        .arg(folder.path())
        // It must not report to anybody, whatever the environment says.
        .env("LANGSMITH_TRACING", "false")
        .env("LANGCHAIN_TRACING_V2", "false")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start Python")?;
    ensure!(ran.status.success(), "LangGraph ended with {}", ran.status);
    let lines = String::from_utf8(ran.stdout).context("it printed something that is no text")?;
    let sides = lines.lines().map(|line| serde_json::from_str(line).context("it printed an unexpected line"));
    sides.collect::<Result<Vec<_>>>().map(Some)
}
