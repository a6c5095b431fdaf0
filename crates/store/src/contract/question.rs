//! The list of questions: what a row says, how it follows from a folded state, and what a reader may ask for.

use std::collections::BTreeSet;

use demur_core::time::Timestamp;
use demur_ledger::{
    entry::Entry,
    facts::Severity,
    name::{PrincipalId, Sequence, TraceId},
    question::{Asked, OutcomeKind, Questions, touched},
};

use super::Cursor;

/// What the list says about a question. Everything in it follows from the events of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionRow {
    /// What became of it so far.
    pub outcome: OutcomeKind,
    /// How much depends on it.
    pub severity: Severity,
    /// Whether people may answer it now.
    pub people: bool,
    /// Whoever asked: the desk, for a gap.
    pub asker: PrincipalId,
    /// Whoever submitted the plan that a gap is in.
    pub submitter: Option<PrincipalId>,
    /// When it ends unanswered, as of its newest change.
    pub deadline: Option<Timestamp>,
    /// The newest event of its trace that changed it.
    pub changed: Sequence,
}

impl QuestionRow {
    /// Returns whose question it is: of whoever asked, and a gap of whoever submitted the plan.
    pub fn holder(&self) -> PrincipalId {
        self.submitter.unwrap_or(self.asker)
    }
}

impl From<&Asked> for QuestionRow {
    fn from(asked: &Asked) -> Self {
        let facts = asked.facts();
        Self {
            outcome: asked.outcome().kind(),
            severity: facts.severity,
            people: facts.answerers.people,
            asker: asked.asker(),
            submitter: asked.submitter(),
            deadline: facts.deadline,
            changed: asked.changed(),
        }
    }
}

/// A question as the list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionSummary {
    /// Its place in the order of asking over all traces: that of the event that asked.
    pub cursor: Cursor,
    /// Its trace.
    pub trace: TraceId,
    /// The event that asked.
    pub sequence: Sequence,
    /// When that was recorded.
    pub asked: Timestamp,
    /// How it stands.
    pub row: QuestionRow,
}

/// Which questions a reader wants to see, and from which end. The default is all of them, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionFilter {
    /// Only those with one of these outcomes.
    pub outcomes: Option<Vec<OutcomeKind>>,
    /// Only those of this trace.
    pub trace: Option<TraceId>,
    /// Only what this principal asked by itself.
    pub asker: Option<PrincipalId>,
    /// With an asker: also the gaps of plans that it submitted.
    pub with_gaps: bool,
    /// Only those of this severity.
    pub severity: Option<Severity>,
    /// Only those that people may answer, or only those that they may not.
    pub people: Option<bool>,
    /// From the newest to the oldest.
    pub newest_first: bool,
}

impl QuestionFilter {
    /// Returns whether a question is to be shown.
    pub fn admits(&self, question: &QuestionSummary) -> bool {
        let QuestionSummary { trace, row, .. } = question;
        self.outcomes.as_ref().is_none_or(|outcomes| outcomes.contains(&row.outcome))
            && self.trace.is_none_or(|wanted| wanted == *trace)
            && self
                .asker
                .is_none_or(|asker| asker == row.holder() && (self.with_gaps || row.submitter.is_none()))
            && self.severity.is_none_or(|severity| severity == row.severity)
            && self.people.is_none_or(|people| people == row.people)
    }
}

/// Returns the questions that new events touched, each once and as it stands after them; none where another question
/// stands in its place now.
pub fn touched_questions(entries: &[Entry], after: &Questions) -> Vec<(Sequence, Option<QuestionRow>)> {
    let touched: BTreeSet<_> = entries.iter().flat_map(|entry| touched(&entry.event)).collect();
    touched.into_iter().map(|at| (at, after.find(at).map(QuestionRow::from))).collect()
}
