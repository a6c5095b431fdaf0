//! The list of confirmations: what a row says, how it follows from a folded state, and what a reader may ask for. It is a list of
//! its own: no question is in it, and none of it is among the questions.

use std::collections::BTreeSet;

use demur_core::time::Timestamp;
use demur_ledger::{
    confirmation::{Confirmation, ConfirmationStanding, Confirmations, touched_confirmation},
    entry::Entry,
    event_type::Facts,
    name::{PrincipalId, Sequence, TraceId},
};

use super::Cursor;

/// What the list says about a confirmation. Everything in it follows from the events of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmationRow {
    /// What became of it so far.
    pub outcome: ConfirmationStanding,
    /// Whether something was started on it.
    pub spent: bool,
    /// Whether people may give or refuse it.
    pub people: bool,
    /// Whoever asked.
    pub asker: PrincipalId,
    /// When it ends refused.
    pub deadline: Option<Timestamp>,
    /// The newest event of its trace that changed it.
    pub changed: Sequence,
}

impl From<&Confirmation> for ConfirmationRow {
    fn from(asked: &Confirmation) -> Self {
        let facts = asked.facts();
        Self {
            outcome: asked.outcome().standing(),
            spent: !asked.starts().is_empty(),
            people: facts.answerers.people,
            asker: asked.asker(),
            deadline: facts.deadline,
            changed: asked.changed(),
        }
    }
}

/// A confirmation as the list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmationSummary {
    /// Its place in the order of asking over all traces: that of the event that asked.
    pub cursor: Cursor,
    /// Its trace.
    pub trace: TraceId,
    /// The event that asked.
    pub sequence: Sequence,
    /// When that was recorded.
    pub asked: Timestamp,
    /// How it stands.
    pub row: ConfirmationRow,
}

/// Which confirmations a reader wants to see, and from which end. The default is all of them, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfirmationFilter {
    /// Only those with one of these outcomes.
    pub outcomes: Option<Vec<ConfirmationStanding>>,
    /// Only those of this trace.
    pub trace: Option<TraceId>,
    /// Only what this principal asked for.
    pub asker: Option<PrincipalId>,
    /// Only those that people may give, or only those that they may not.
    pub people: Option<bool>,
    /// From the newest to the oldest.
    pub newest_first: bool,
}

impl ConfirmationFilter {
    /// Returns whether a confirmation is to be shown.
    pub fn admits(&self, confirmation: &ConfirmationSummary) -> bool {
        let ConfirmationSummary { trace, row, .. } = confirmation;
        self.outcomes.as_ref().is_none_or(|outcomes| outcomes.contains(&row.outcome))
            && self.trace.is_none_or(|wanted| wanted == *trace)
            && self.asker.is_none_or(|asker| asker == row.asker)
            && self.people.is_none_or(|people| people == row.people)
    }
}

/// Returns the confirmations that new events touched, each once and as it stands after them.
pub fn touched_confirmations(entries: &[Entry], after: &Confirmations) -> Vec<(Sequence, ConfirmationRow)> {
    let spent = |entry: &Entry| match entry.event.said().ok()?.facts {
        Facts::ToolExecutionStarted(facts) => after.about(facts.intent).map(|(at, _)| at),
        _ => None,
    };
    let touched = |entry: &Entry| touched_confirmation(&entry.event).or_else(|| spent(entry));
    let touched: BTreeSet<_> = entries.iter().filter_map(touched).collect();
    touched
        .into_iter()
        .filter_map(|at| after.find(at).map(|asked| (at, ConfirmationRow::from(asked))))
        .collect()
}
