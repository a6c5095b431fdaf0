//! Their side: LangGraph asks with `interrupt` and is resumed with the answer, each step in its SQLite checkpointer.

use anyhow::Result;
use serde::Deserialize;

use crate::race::langgraph::{interpreter, lines};

/// What one side brought.
#[derive(Debug, Deserialize)]
pub(super) struct Side {
    pub(super) name: String,
    /// How many callers, each with a thread of its own.
    pub(super) threads: usize,
    /// How many cores were busy on average.
    pub(super) busy: f64,
    /// Round trips per second.
    pub(super) rate: f64,
}

/// Returns its rates with one caller and with many; none without an interpreter that has it.
pub(super) fn rates() -> Result<Option<Vec<Side>>> {
    interpreter().map(|interpreter| lines(&interpreter, "langgraph_ask.py", &[])).transpose()
}
