//! The gap: one field that is missing, ambiguous or contradictory, and the question about it (seed 000, 3 and 4).

use demur_core::limit::{List, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    error::FieldError,
    name::{FieldPath, GapId, Operation},
    read,
};

/// A question in one sentence or a few.
pub type Question = Text<1, 2000>;

/// What an answer says, or a suggestion for one.
pub type AnswerText = Text<1, 4000>;

/// How much depends on a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Must be answered: what it blocks is refused until then.
    Block,
    /// Must be answered or accepted explicitly.
    Warn,
}

/// One field that somebody must say something about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gap(Wire);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Wire {
    /// Its name within the session.
    id: GapId,
    /// The field it is about.
    field: FieldPath,
    /// How much depends on it.
    severity: Severity,
    /// What is asked.
    question: Question,
    /// What was found and why it is not enough.
    context: Text<0, 4000>,
    /// What could be answered; other answers are possible.
    suggestions: List<AnswerText, 0, 32>,
    /// What is refused while it is open; empty in a gap of severity WARN.
    blocked_operations: List<Operation, 0, 32>,
}

impl Gap {
    /// Returns a gap without context, suggestions and blocked operations.
    pub fn new(
        id: GapId,
        field: FieldPath,
        severity: Severity,
        question: Question,
    ) -> Result<Self, FieldError> {
        let (suggestions, blocked_operations) = (List::default(), List::default());
        let context = Text::try_from("").map_err(|error| FieldError::new("context", error, "none"))?;
        Self::try_from(Wire { id, field, severity, question, context, suggestions, blocked_operations })
    }

    /// Returns the gap with this context: what was found and why it is not enough.
    #[must_use]
    pub fn with_context(mut self, context: Text<0, 4000>) -> Self {
        self.0.context = context;
        self
    }

    /// Returns the gap with these suggestions; no two may be equal.
    pub fn with_suggestions(mut self, suggestions: List<AnswerText, 0, 32>) -> Result<Self, FieldError> {
        self.0.suggestions = suggestions;
        Self::try_from(self.0)
    }

    /// Returns the gap with these blocked operations; only a gap of severity BLOCK has any.
    pub fn with_blocked_operations(mut self, operations: List<Operation, 0, 32>) -> Result<Self, FieldError> {
        self.0.blocked_operations = operations;
        Self::try_from(self.0)
    }

    /// Returns its name within the session.
    pub const fn id(&self) -> &GapId {
        &self.0.id
    }

    /// Returns the field it is about.
    pub const fn field(&self) -> &FieldPath {
        &self.0.field
    }

    /// Returns how much depends on it.
    pub const fn severity(&self) -> Severity {
        self.0.severity
    }

    /// Returns the question.
    pub fn question(&self) -> &str {
        &self.0.question
    }

    /// Returns what was found and why it is not enough.
    pub fn context(&self) -> &str {
        &self.0.context
    }

    /// Returns what could be answered; other answers are possible.
    pub fn suggestions(&self) -> &[AnswerText] {
        &self.0.suggestions
    }

    /// Returns what is refused while the gap is open.
    pub fn blocked_operations(&self) -> &[Operation] {
        &self.0.blocked_operations
    }

    /// Returns whether this operation is refused while the gap is open.
    pub fn blocks(&self, operation: &Operation) -> bool {
        self.blocked_operations().contains(operation)
    }
}

impl<'de> Deserialize<'de> for Gap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read::object::<D, Wire, Self>(deserializer)
    }
}

impl TryFrom<Wire> for Gap {
    type Error = FieldError;

    fn try_from(wire: Wire) -> Result<Self, FieldError> {
        if let Some(twice) = repeated(&wire.suggestions) {
            return Err(FieldError::new("suggestions", "each suggestion once", format!("{twice:?} twice")));
        }
        if let Some(twice) = repeated(&wire.blocked_operations) {
            return Err(FieldError::new(
                "blocked_operations",
                "each operation once",
                format!("{twice} twice"),
            ));
        }
        if wire.severity == Severity::Warn && !wire.blocked_operations.is_empty() {
            let expected = "none in a gap of severity WARN; make it BLOCK";
            return Err(FieldError::new("blocked_operations", expected, wire.blocked_operations.len()));
        }
        Ok(Self(wire))
    }
}

/// Returns the first entry that stands in the list before.
pub(crate) fn repeated<T: Ord>(entries: &[T]) -> Option<&T> {
    let mut seen = std::collections::BTreeSet::new();
    entries.iter().find(|entry| !seen.insert(*entry))
}
