//! What goes wrong with packs, rules, plans and answers. Every error names the place, what was expected and found,
//! and the cure where there is one.

use demur_core::canonical::{ReadError, WriteError};
use thiserror::Error;

/// A rule pack that cannot be used: the writer's mistake, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackError {
    /// The file, as the caller named it; `document` for rules that were read back.
    pub file: String,
    /// The line, counted from 1; none where the mistake is about the whole.
    pub line: Option<u32>,
    /// The column, counted from 1, where it is known.
    pub column: Option<u32>,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub cure: Option<String>,
}

impl std::fmt::Display for PackError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.file)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(formatter, ":{place}")?;
        }
        write!(formatter, ": expected {}, found {}", self.expected, self.found)?;
        self.cure.as_ref().map_or(Ok(()), |cure| write!(formatter, "; {cure}"))
    }
}

impl std::error::Error for PackError {}

/// A plan that cannot be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// It is no strict JSON, or too large or too deep.
    #[error("plan: expected strict JSON within the limits: {0}")]
    Json(#[from] ReadError),
    /// It is JSON, but no object.
    #[error(
        "plan: expected an object with named members, found {found}; send the members of the plan in an object"
    )]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// A member cannot be named by a dotted path, so nobody could ask about it.
    #[error(
        "{field}: expected a member named with letters, digits, _, $ and - and a path up to 200 characters; rename it"
    )]
    Name {
        /// Its path as far as it can be shown.
        field: String,
    },
    /// A member has the name that rules use for what they derived.
    #[error(
        "derived: expected a plan without a member of this name, found one; it is what rules derive from a plan"
    )]
    Reserved,
    /// An answer cannot be written where it belongs.
    #[error("{field}: expected a place in the plan, found {found} on the way; answer for the whole of it")]
    Place {
        /// The field.
        field: String,
        /// What stands in the way.
        found: &'static str,
    },
    /// A value has no canonical form.
    #[error("plan: {0}")]
    Write(#[from] WriteError),
}

/// A plan with more gaps than a document holds.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "plan: expected at most {limit} gaps, found more, the last at {field}; correct the plan and check it again"
)]
pub struct TooManyGaps {
    /// The most.
    pub limit: usize,
    /// The field of the first that was too many.
    pub field: String,
}

/// An answer that cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JudgeError {
    /// The finding is not one of this plan.
    #[error("{field}: expected an open gap of rule {rule}, found none; check the plan again")]
    NotOpen {
        /// The field.
        field: String,
        /// The rule.
        rule: String,
    },
    /// The plan has too many gaps.
    #[error(transparent)]
    TooMany(#[from] TooManyGaps),
}

/// A finding that cannot be accepted as it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: expected a gap of severity WARN, found BLOCK; answer it")]
pub struct NotAWarning {
    /// The field.
    pub field: String,
}

/// A mistake in one row, before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The key of the row; empty for the whole row.
    pub(crate) key: &'static str,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) cure: Option<String>,
}

impl Mistake {
    pub(crate) fn new(key: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { key, expected: expected.into(), found: found.into(), cure: None }
    }

    pub(crate) fn cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }
}
