//! Why an event may not happen now, by blame, each with a stable code, the field and the cure.

use super::Phase;
use crate::{
    confirmation::ConfirmationError,
    envelope::Disagreement,
    erasure::ErasureError,
    event_type::{EventType, TraceKind, TypeName},
    meaning::MeaningError,
    name::{PrincipalId, Sequence},
    question::QuestionError,
    role::Role,
    trace_state::PlanStage,
};

/// A guard said no. The state has not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// The event has no body, or two.
    #[error(transparent)]
    Shape(Disagreement),
    /// An event type that does not stand in this kind of trace.
    #[error("expected an event of a {}, found {kind}", trace.as_str())]
    NotOfThisTrace {
        /// The type.
        kind: TypeName,
        /// The kind of trace.
        trace: TraceKind,
    },
    /// A trace is opened that is open already.
    #[error("expected an event of a {} that is open, found {kind}, which opens one", trace.as_str())]
    OpenedAlready {
        /// The type.
        kind: EventType,
        /// The kind of trace.
        trace: TraceKind,
    },
    /// Not at this point of a plan.
    #[error("{kind} cannot happen while the plan is {}", plan.as_str())]
    OutOfPlan {
        /// Where the plan stands.
        plan: PlanStage,
        /// The type.
        kind: EventType,
    },
    /// A rule of questions.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// A rule of confirmations.
    #[error(transparent)]
    Confirmation(#[from] ConfirmationError),
    /// A rule of erasure.
    #[error(transparent)]
    Erasure(#[from] ErasureError),
    /// A demand on what the event means; its order is right.
    #[error(transparent)]
    Meaning(MeaningError),
    /// A proposal before the policy.
    #[error("expected the policy of the run before its first proposal, found none")]
    PolicyMissing,
    /// A second policy.
    #[error("expected one policy, which holds until the end of the run, found a second")]
    PolicyFixed,
    /// Out of sequence.
    #[error("expected event {expected} of the trace, found {found}")]
    Place {
        /// The place that comes next.
        expected: u64,
        /// The place found.
        found: Sequence,
    },
    /// The role guard (LED-02).
    #[error("the role {role} may not emit {kind}")]
    RoleForbidden {
        /// The role.
        role: Role,
        /// The type.
        kind: EventType,
    },
    /// Somebody who was not named when the run opened.
    #[error(
        "{principal} does not take part in this trace as {role}: only those named when it opened may speak"
    )]
    NotParticipant {
        /// Who.
        principal: PrincipalId,
        /// As what.
        role: Role,
    },
    /// The table has no such transition.
    #[error("{kind} cannot happen while the run is {phase}")]
    OutOfPhase {
        /// Where the run stands.
        phase: Phase,
        /// The type.
        kind: EventType,
    },
    /// The run has not been opened.
    #[error("expected session_initialized, plan_submitted, question_asked or confirmation_asked first")]
    NotOpened,
    /// Planner, executor or critic is missing (LED-01).
    #[error("expected at least a planner, an executor and a critic, found no {role}")]
    RoleMissing {
        /// The missing role.
        role: Role,
    },
    /// A participant in a role that runs do not have.
    #[error("expected planner, executor, critic or auditor, found {role}")]
    RoleNotOfARun {
        /// The role.
        role: Role,
    },
    /// A critic or auditor who also plans or executes.
    #[error("{principal} cannot be {role} of its own work: name another principal")]
    JudgesOwnWork {
        /// Who.
        principal: PrincipalId,
        /// As what.
        role: Role,
    },
    /// A reference to an event that is not what it must be.
    #[error("{field}: expected {expected}, found event {sequence}")]
    Reference {
        /// The fact.
        field: &'static str,
        /// The event it names.
        sequence: Sequence,
        /// What it should name.
        expected: &'static str,
    },
    /// A list that is not in order, or names something twice.
    #[error("{field}: expected ascending order, each once")]
    Ascending {
        /// The fact.
        field: &'static str,
    },
    /// Conditions without a conditional approval, or the other way round.
    #[error("expected conditions exactly with conditionally_approved, found {found}")]
    ConditionCount {
        /// How many.
        found: u64,
    },
    /// An intent under a proposal that may not execute.
    #[error("proposal {proposal} is not approved: wait for its review, or revise it")]
    ProposalNotApproved {
        /// The proposal.
        proposal: Sequence,
    },
    /// A condition of the approval is not met (LED-10).
    #[error("meets: expected every one of the {conditions} conditions of the approval, in order")]
    ConditionsUnmet {
        /// How many there are.
        conditions: u64,
    },
    /// The action guard (LED-23).
    #[error("intent {intent} is risky and needs the critic's approval before it starts")]
    ApprovalMissing {
        /// The intent.
        intent: Sequence,
    },
    /// The critic blocked it (LED-11).
    #[error("intent {intent} was blocked: sign a revised one")]
    IntentBlocked {
        /// The intent.
        intent: Sequence,
    },
    /// It was carried out already (LED-21).
    #[error("intent {intent} was carried out already: a retry is a new intent")]
    IntentUsed {
        /// The intent.
        intent: Sequence,
    },
    /// The bound on retries (LED-32).
    #[error("the policy allows {limit} retries: claim the failure, or fall back to another proposal")]
    RetryLimit {
        /// How many the policy allows.
        limit: u64,
    },
    /// A proposal while executing must say which failure it falls back from.
    #[error("expected fallback_for: while tools run, only a fallback after a failure may be proposed")]
    FallbackNeeded,
    /// The policy allows no fallback (LED-20).
    #[error("the policy of this run allows no fallback proposals")]
    FallbackForbidden,
    /// More tools after claiming need a reason.
    #[error("expected an open challenge: after the first claim, tools run only for more evidence")]
    ChallengeNeeded,
    /// An execution without stored input or output (LED-27).
    #[error("execution {started} has neither an input nor an output artifact: record one first")]
    NoArtifact {
        /// The execution.
        started: Sequence,
    },
    /// Something still runs.
    #[error("execution {started} has not ended yet")]
    ExecutionOpen {
        /// The execution.
        started: Sequence,
    },
    /// The evidence guard (LED-24).
    #[error("expected at least {minimum} artifacts as evidence, found {found}")]
    EvidenceMinimum {
        /// The policy's minimum.
        minimum: u64,
        /// How many are cited.
        found: usize,
    },
    /// A final statement that leaves claims out, or names others (LED-14).
    #[error("expected all {expected} claims in play, in order, found {found} others or fewer")]
    BundleIncomplete {
        /// How many are in play.
        expected: usize,
        /// How many the bundle names.
        found: usize,
    },
    /// More is open than a run may have open.
    #[error("a run has at most {limit} {what} open at once: close some first")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// A verification run is open already.
    #[error("verification run {started} has not ended yet")]
    VerificationOpen {
        /// The run.
        started: Sequence,
    },
}

/// Who has to do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The author sent something that can never be right.
    Malformed,
    /// The author may not do this.
    Forbidden,
    /// Not now: something has to happen first.
    TooEarly,
}

impl GuardError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape(_) => "SHAPE",
            Self::NotOfThisTrace { trace: TraceKind::Run, .. } => "NOT_OF_A_RUN",
            Self::NotOfThisTrace { .. } => "NOT_OF_THIS_TRACE",
            Self::OpenedAlready { .. } => "TRACE_EXISTS",
            Self::OutOfPlan { .. } => "OUT_OF_PLAN",
            Self::Question(error) => error.code(),
            Self::Confirmation(error) => error.code(),
            Self::Erasure(error) => error.code(),
            Self::Meaning(error) => error.code(),
            Self::PolicyMissing => "POLICY_MISSING",
            Self::PolicyFixed => "POLICY_FIXED",
            Self::Place { .. } => "PLACE",
            Self::RoleForbidden { .. } => "ROLE_FORBIDDEN",
            Self::NotParticipant { .. } => "NOT_PARTICIPANT",
            Self::OutOfPhase { .. } => "OUT_OF_PHASE",
            Self::NotOpened => "NOT_OPENED",
            Self::RoleMissing { .. } => "ROLE_MISSING",
            Self::RoleNotOfARun { .. } => "ROLE_NOT_OF_A_RUN",
            Self::JudgesOwnWork { .. } => "JUDGES_OWN_WORK",
            Self::Reference { .. } => "REFERENCE",
            Self::Ascending { .. } => "ASCENDING",
            Self::ConditionCount { .. } => "CONDITION_COUNT",
            Self::ProposalNotApproved { .. } => "PROPOSAL_NOT_APPROVED",
            Self::ConditionsUnmet { .. } => "CONDITIONS_UNMET",
            Self::ApprovalMissing { .. } => "APPROVAL_MISSING",
            Self::IntentBlocked { .. } => "INTENT_BLOCKED",
            Self::IntentUsed { .. } => "INTENT_USED",
            Self::RetryLimit { .. } => "RETRY_LIMIT",
            Self::FallbackNeeded => "FALLBACK_NEEDED",
            Self::FallbackForbidden => "FALLBACK_FORBIDDEN",
            Self::ChallengeNeeded => "CHALLENGE_NEEDED",
            Self::NoArtifact { .. } => "NO_ARTIFACT",
            Self::ExecutionOpen { .. } => "EXECUTION_OPEN",
            Self::EvidenceMinimum { .. } => "EVIDENCE_MINIMUM",
            Self::BundleIncomplete { .. } => "BUNDLE_INCOMPLETE",
            Self::TooMany { .. } => "TOO_MANY",
            Self::VerificationOpen { .. } => "VERIFICATION_OPEN",
        }
    }

    /// Returns who has to do something about it.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Shape(_)
            | Self::NotOfThisTrace { .. }
            | Self::RoleMissing { .. }
            | Self::RoleNotOfARun { .. }
            | Self::Ascending { .. }
            | Self::ConditionCount { .. }
            | Self::Reference { .. }
            | Self::BundleIncomplete { .. } => Blame::Malformed,
            Self::RoleForbidden { .. }
            | Self::NotParticipant { .. }
            | Self::JudgesOwnWork { .. }
            | Self::IntentBlocked { .. }
            | Self::IntentUsed { .. }
            | Self::RetryLimit { .. }
            | Self::PolicyFixed
            | Self::OpenedAlready { .. }
            | Self::FallbackForbidden => Blame::Forbidden,
            Self::Place { .. }
            | Self::OutOfPhase { .. }
            | Self::NotOpened
            | Self::PolicyMissing
            | Self::ProposalNotApproved { .. }
            | Self::ConditionsUnmet { .. }
            | Self::ApprovalMissing { .. }
            | Self::FallbackNeeded
            | Self::ChallengeNeeded
            | Self::NoArtifact { .. }
            | Self::ExecutionOpen { .. }
            | Self::EvidenceMinimum { .. }
            | Self::TooMany { .. }
            | Self::OutOfPlan { .. }
            | Self::VerificationOpen { .. } => Blame::TooEarly,
            Self::Question(error) => error.blame(),
            Self::Confirmation(error) => error.blame(),
            Self::Erasure(error) => error.blame(),
            Self::Meaning(error) => error.blame(),
        }
    }
}
