//! What becomes known when something happens to questions and confirmations: that it did, never their words.

use std::sync::OnceLock;

use bytes::Bytes;
use demur_api::{confirmation::ConfirmationId, question::QuestionId};
use demur_ledger::{confirmation::ConfirmationStanding, facts::Severity, question::OutcomeKind};
use demur_store::contract::Cursor;

/// What one event means for questions and confirmations, at least one of them.
#[derive(Debug)]
pub struct QuestionChange {
    /// The place of the event.
    pub at: Cursor,
    /// The questions that it touched.
    pub questions: Vec<ChangedQuestion>,
    /// The confirmation that it touched.
    pub confirmation: Option<ChangedConfirmation>,
    written: OnceLock<Bytes>,
}

/// A question that something happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedQuestion {
    /// Which.
    pub id: QuestionId,
    /// Whether it was asked now.
    pub is_new: bool,
    /// What became of it.
    pub state: OutcomeKind,
    /// How much depends on it.
    pub severity: Severity,
    /// Whether people may answer it.
    pub people: bool,
}

/// A confirmation that something happened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedConfirmation {
    /// Which.
    pub id: ConfirmationId,
    /// What became of it; open only if it was asked for now.
    pub state: ConfirmationStanding,
    /// Whether people may give or refuse it.
    pub people: bool,
}

impl QuestionChange {
    pub(super) const fn new(
        at: Cursor,
        questions: Vec<ChangedQuestion>,
        confirmation: Option<ChangedConfirmation>,
    ) -> Self {
        Self { at, questions, confirmation, written: OnceLock::new() }
    }

    /// Returns it as an interface writes it: made by the first who needs it, the same bytes for everybody else. One
    /// interface only writes changes down.
    pub fn written(&self, write: impl FnOnce(&Self) -> Bytes) -> Bytes {
        self.written.get_or_init(|| write(self)).clone()
    }
}
