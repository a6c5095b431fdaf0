//! Facts of confirmations: one operation is put before somebody, who approves or refuses exactly that one (ONE-09), and of the
//! operations that are carried out on them. Which operation it is stands in the content, by digest.

use demur_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answerers, Assurance, Attribution, EventFacts, MaybeAttribution};
use crate::name::{Operation, Position, Sequence, present};

/// Somebody wants a yes before an operation is carried out. Nobody's silence is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationAsked {
    /// The intent of a run that waits for it; null in a piece of work.
    #[serde(deserialize_with = "present")]
    pub about: Option<Sequence>,
    /// Who may confirm or refuse.
    pub answerers: Answerers,
    /// The least assurance a yes or a no must have.
    pub assurance: Assurance,
    /// When it ends refused.
    #[serde(deserialize_with = "present")]
    pub deadline: Option<Timestamp>,
}

/// Somebody entitled says yes to exactly this operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationGiven {
    /// How sure one can be who said it.
    pub assurance: Assurance,
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// What was asked, by number and hash: a yes belongs to one operation.
    pub confirmation: Position,
}

/// Somebody entitled says no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationRefused {
    /// How sure one can be who said it.
    pub assurance: Assurance,
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
    /// What was asked, by number and hash.
    pub confirmation: Position,
}

/// The deadline passed. That is a no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationExpired {
    /// What was asked.
    pub confirmation: Sequence,
}

/// The agent begins an operation. Refused while an open question blocks it (CLR-62), and on a confirmation that was not given
/// for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationStarted {
    /// The confirmation that this spends.
    #[serde(deserialize_with = "present")]
    pub confirmation: Option<Sequence>,
    /// What kind of operation, by the name that questions block it under.
    pub operation: Operation,
}

/// An operation that was begun is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationEnded {
    /// Whether it failed.
    pub failed: bool,
    /// Its beginning.
    pub started: Sequence,
}

impl EventFacts for ConfirmationAsked {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.about.into_iter().for_each(visit);
    }
}

impl EventFacts for ConfirmationGiven {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.confirmation.sequence);
    }

    attributed!();
}

impl EventFacts for ConfirmationRefused {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.confirmation.sequence);
    }

    attributed!();
}

impl EventFacts for ConfirmationExpired {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.confirmation);
    }
}

impl EventFacts for OperationStarted {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.confirmation.into_iter().for_each(visit);
    }
}

impl EventFacts for OperationEnded {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.started);
    }
}
