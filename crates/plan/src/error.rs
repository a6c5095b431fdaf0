//! What can be wrong with a session or with what somebody wants of it.

use demur_clarify::error::FieldError;
use demur_core::{
    limit::LimitError,
    reason::{BUG, Reason},
};
use demur_ledger::name::Sequence;
use demur_rules::error::{JudgeError, PackError, PlanError, TooManyGaps};

/// No. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace is not that of a plan, or lacks what a session is read from.
    #[error("event {at}: expected {expected}")]
    Trace {
        /// The event.
        at: Sequence,
        /// What a plan's trace has there.
        expected: &'static str,
    },
    /// The rules in the trace cannot be used.
    #[error("the rules of the session: {0}")]
    Rules(#[from] PackError),
    /// The plan cannot be used.
    #[error("the plan: {0}")]
    Plan(#[from] PlanError),
    /// More gaps than a session can have.
    #[error(transparent)]
    TooManyGaps(#[from] TooManyGaps),
    /// An answer that cannot be judged.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// No gap of this name.
    #[error("expected an open gap of this session, found {found}; open are: {open}")]
    NoGap {
        /// What was named.
        found: String,
        /// Those that are.
        open: String,
    },
    /// A document of the clarification protocol cannot be made.
    #[error(transparent)]
    Clarify(#[from] demur_clarify::Error),
    /// A value that is too long or too short.
    #[error("{field}: {error}")]
    Limit {
        /// Which.
        field: &'static str,
        /// How.
        error: LimitError,
    },
    /// Another gap at the same field demands more.
    #[error(
        "{gap}: expected an answer with at least the assurance {least:?}, because {other} asks about the same field"
    )]
    Stricter {
        /// The gap that was answered.
        gap: String,
        /// The one that demands more.
        other: String,
        /// What it demands.
        least: &'static str,
    },
    /// The rules no longer find an open gap.
    #[error("{gap}: the session moved on meanwhile: read it again")]
    OutOfDate {
        /// The gap.
        gap: String,
    },
    /// An amended plan that changes what somebody answered.
    #[error("{field}: expected what was answered to {gap}, found another value")]
    FieldAnswered {
        /// The field.
        field: String,
        /// The gap.
        gap: String,
    },
    /// A gap that is settled, so that nobody has to be asked again.
    #[error("{gap}: expected a gap that nobody settled, found one that is {outcome}")]
    Settled {
        /// The gap.
        gap: String,
        /// What became of it.
        outcome: &'static str,
    },
    /// A plan with a member that an attestation adds.
    #[error("the plan: expected no member {name:?}: an attestation adds it")]
    Reserved {
        /// The member.
        name: &'static str,
    },
    /// A plan with more values than a confirmation can name the sources of.
    #[error("the plan: expected at most {most} values, found {found}")]
    TooManyValues {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Nothing is open: there is no document that asks.
    #[error("every gap is settled: there is nothing to ask")]
    NothingOpen,
}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::Clarify(error.into())
    }
}

/// Names the field of a value that does not fit.
pub(crate) fn limit(field: &'static str) -> impl Fn(LimitError) -> Error {
    move |error| Error::Limit { field, error }
}

impl Reason for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::NoGap { .. } => "GAP_UNKNOWN",
            Self::Trace { .. } | Self::Rules(_) => "SESSION_UNREADABLE",
            Self::Plan(_) | Self::Reserved { .. } | Self::TooManyValues { .. } => "PLAN_MALFORMED",
            Self::Stricter { .. } => "ASSURANCE_TOO_LOW",
            Self::OutOfDate { .. } => "MOVED",
            Self::FieldAnswered { .. } => "FIELD_ANSWERED",
            Self::Settled { .. } => "QUESTION_CLOSED",
            Self::TooManyGaps(_) => "TOO_MANY_GAPS",
            Self::Judge(_) | Self::Limit { .. } => "ANSWER_INVALID",
            Self::Clarify(_) => "DOCUMENT_INVALID",
            Self::NothingOpen => BUG,
        }
    }

    fn cure(&self) -> Option<&'static str> {
        match self {
            Self::Stricter { .. } => Some("answer the other gap first"),
            Self::FieldAnswered { .. } => {
                Some("leave it as it was answered; whoever answered can replace the answer or take it back")
            }
            _ => None,
        }
    }
}
