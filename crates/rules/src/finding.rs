//! A finding: one gap of a plan, with the rule that found it. It becomes a gap of the protocol once the session has
//! given it an id (seed 000, 4).

use std::collections::BTreeSet;

use demur_clarify::{
    gap::Severity,
    name::{FieldPath, Operation},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::NotAWarning,
    name::RuleId,
    table::{Assurance, Kind},
};

/// One field that somebody must say something about, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The rule that found it.
    pub rule: RuleId,
    /// Which of the seed's conditions it is.
    pub condition: Condition,
    /// The field.
    pub field: FieldPath,
    /// How much depends on it.
    pub severity: Severity,
    /// What is asked.
    pub question: String,
    /// What was found and why it is not enough.
    pub context: String,
    /// What could be answered.
    pub suggestions: Vec<String>,
    /// The only answers, where the first kind is a choice.
    pub choices: Vec<String>,
    /// What an answer may be, tried in this order.
    pub kinds: Vec<Kind>,
    /// What is refused while it is open; empty for WARN.
    pub blocked_operations: Vec<Operation>,
    /// How an answer must have come in, at least.
    pub assurance: Assurance,
    /// Whether whoever submitted the plan may settle it.
    pub own_answers: bool,
    /// The pack, the row or policy, and what in the plan made it apply, in words.
    pub because: String,
}

/// The conditions of seed 000, section 3, in its order, and conditions of a pack's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A field that a plan must have is missing or not of its kind.
    MissingRequiredField,
    /// A value that names nothing, or several things.
    AmbiguousIdentifier,
    /// A standard covers another in part, and nobody confirmed it.
    UnresolvedComplianceOverlap,
    /// A standard and a deployment target do not go together.
    JurisdictionMismatch,
    /// A language without support, or without the layout it needs.
    UntranslatableLanguage,
    /// A condition of the pack cannot be decided: an input is missing.
    MissingValidationInput,
    /// A condition of the pack forbids the plan as it is.
    Policy,
    /// A field that no rule reads, whose name is almost that of a field that one does.
    UnreadField,
}

/// The WARN findings that somebody accepted explicitly. They are not found again (CLR-32).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settled(BTreeSet<(RuleId, FieldPath)>);

impl Finding {
    /// Returns whether another finding is the same rule at the same field.
    pub fn is_same(&self, other: &Self) -> bool {
        self.rule == other.rule && self.field == other.field
    }
}

impl Settled {
    /// Takes up a finding that somebody accepted; only a warning can be accepted.
    pub fn accept(&mut self, finding: &Finding) -> Result<(), NotAWarning> {
        if finding.severity != Severity::Warn {
            return Err(NotAWarning { field: finding.field.to_string() });
        }
        self.0.insert((finding.rule.clone(), finding.field.clone()));
        Ok(())
    }

    /// Returns whether a finding was accepted. One that blocks never is.
    pub fn contains(&self, finding: &Finding) -> bool {
        // The set is almost always empty; a clone per finding is not worth a second kind of key.
        finding.severity == Severity::Warn
            && !self.0.is_empty()
            && self.0.contains(&(finding.rule.clone(), finding.field.clone()))
    }

    /// Returns what was accepted: rule and field.
    pub fn iter(&self) -> impl Iterator<Item = &(RuleId, FieldPath)> {
        self.0.iter()
    }
}
