//! Artifacts that a store has lost, as a backup and its restoration name them.

use demur_ledger::name::{Sequence, TraceId};
use demur_store::sqlite::LostArtifact;
use serde::Serialize;

use crate::output::counted;

/// An artifact that is missing.
#[derive(Debug, Serialize)]
pub(super) struct Lost {
    trace: TraceId,
    /// The first event that names it.
    event: Sequence,
    /// Whether its file is there and holds other bytes.
    damaged: bool,
}

impl From<LostArtifact> for Lost {
    fn from(lost: LostArtifact) -> Self {
        Self { trace: lost.trace, event: lost.sequence, damaged: lost.damaged }
    }
}

/// Returns how many there are, in words.
pub(super) fn artifacts(lost: &[Lost]) -> String {
    counted(lost.len(), "artifact")
}

/// Returns a line for each of them, or for the first few.
pub(super) fn lines(lost: &[Lost]) -> Vec<String> {
    let mut lines: Vec<_> = lost.iter().take(MAX_LINES).map(line).collect();
    let more = lost.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.push(format!("  and {more} more: `--json` names all of them"));
    }
    lines
}

fn line(lost: &Lost) -> String {
    let what = if lost.damaged { "its file holds other bytes" } else { "its file is missing" };
    format!("  event {} of trace {}: {what}", lost.event, lost.trace)
}

/// How many are named in text.
const MAX_LINES: usize = 10;
