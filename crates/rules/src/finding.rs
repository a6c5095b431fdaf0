//! A finding: one gap of a plan, with the rule that found it. It becomes a gap of the protocol once the session has
//! given it an id (seed 000, 4).

use std::collections::{BTreeMap, BTreeSet};

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

/// What people said about a plan beside its values: the WARN findings that somebody accepted explicitly, which are not found
/// again (CLR-32), and how sure one can be of who gave the values that were answered. Every other value is the agent's own word.
///
/// Its serialized form is the list of what was accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settled {
    accepted: BTreeSet<(RuleId, FieldPath)>,
    #[serde(skip)]
    answered: BTreeMap<String, Assurance>,
    /// Whether a value counts wherever it came from.
    #[serde(skip)]
    any_source: bool,
}

impl Finding {
    /// Returns rule and field, by which findings are told apart.
    pub fn place(&self) -> (&str, &str) {
        (self.rule.as_str(), self.field.as_str())
    }

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
        self.accepted.insert((finding.rule.clone(), finding.field.clone()));
        Ok(())
    }

    /// Takes back that somebody accepted what this rule found at this field.
    pub fn take_back(&mut self, rule: &str, field: &FieldPath) {
        self.accepted.retain(|(one, other)| one.as_str() != rule || other != field);
    }

    /// Takes up that the value at a field was answered.
    pub fn answer(&mut self, field: &FieldPath, assurance: Assurance) {
        self.answered.insert(field.to_string(), assurance);
    }

    /// Takes back that the value at a field was answered.
    pub fn forget_answer(&mut self, field: &FieldPath) {
        self.answered.remove(field.as_str());
    }

    /// Returns the same without any answer.
    #[must_use]
    pub fn without_answers(&self) -> Self {
        Self { answered: BTreeMap::new(), ..self.clone() }
    }

    /// Returns the same for somebody who does not ask where a value came from.
    #[must_use]
    pub fn from_any_source(&self) -> Self {
        Self { any_source: true, ..self.clone() }
    }

    /// Returns whether the value at a field is as sure as a rule demands that states an assurance; what states none demands none.
    pub(crate) fn is_sure(&self, field: &str, least: Assurance) -> bool {
        if self.any_source || least == Assurance::Agent {
            return true;
        }
        let parents = field.match_indices('.').map(|(end, _)| &field[..end]);
        parents.chain([field]).filter_map(|place| self.answered.get(place)).any(|source| *source >= least)
    }

    /// Returns whether a finding was accepted. One that blocks never is.
    pub fn contains(&self, finding: &Finding) -> bool {
        // The set is almost always empty; a clone per finding is not worth a second kind of key.
        finding.severity == Severity::Warn
            && !self.accepted.is_empty()
            && self.accepted.contains(&(finding.rule.clone(), finding.field.clone()))
    }

    /// Returns what was accepted: rule and field.
    pub fn iter(&self) -> impl Iterator<Item = &(RuleId, FieldPath)> {
        self.accepted.iter()
    }
}
