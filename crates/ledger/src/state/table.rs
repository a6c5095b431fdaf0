//! The transition table (LED-04): the eight transitions of seed 002 and those it implies, as data. The code
//! looks its next phase up here, the docs are drawn from here, and a pair that is not here is refused.

use Phase::{Aborted, Auditing, Claiming, Completed, Executing, Failed, Initialized, Planning, Reviewing};

use super::{GuardError, Phase, State};
use crate::{
    event_type::{EventType, Facts},
    facts::ProposalDecision,
};

/// One row: in one of `from`, this event leads to `to` when the condition holds. Earlier rows win.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// The phases it applies in.
    pub from: &'static [Phase],
    /// The event.
    pub event: EventType,
    /// The condition.
    pub when: When,
    /// The phase it leads to; none leaves the phase as it is.
    pub to: Option<Phase>,
    /// Where it comes from.
    pub source: &'static str,
}

/// The condition of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// No condition.
    Always,
    /// The review approves, with or without conditions.
    Approved,
    /// The review does not approve, and other proposals wait for theirs.
    OthersWait,
    /// The review does not approve, and an approved proposal is there to go on with.
    OthersApproved,
    /// The review does not approve, and nothing else is there.
    NothingLeft,
    /// The verdict is pass or pass with warnings.
    Passed,
    /// The verdict is fail.
    NotPassed,
}

impl When {
    /// Returns the condition in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::Approved => "approved or conditionally approved",
            Self::OthersWait => "blocked or rejected, others wait for review",
            Self::OthersApproved => "blocked or rejected, another is approved",
            Self::NothingLeft => "blocked or rejected, nothing else left",
            Self::Passed => "pass or pass with warnings",
            Self::NotPassed => "fail",
        }
    }

    fn holds(self, state: &State, facts: &Facts) -> bool {
        match (self, facts) {
            (Self::Always, _) => true,
            (Self::Passed, Facts::VerificationRunCompleted(facts)) => facts.status.completes(),
            (Self::NotPassed, Facts::VerificationRunCompleted(facts)) => !facts.status.completes(),
            (Self::Approved, Facts::ProposalReviewed(facts)) => facts.decision.approves(),
            (_, Facts::ProposalReviewed(facts)) if facts.decision.approves() => false,
            (Self::OthersWait, Facts::ProposalReviewed(facts)) => state.others_wait(facts.proposal),
            (Self::OthersApproved, Facts::ProposalReviewed(_)) => state.any_approved(),
            (Self::NothingLeft, Facts::ProposalReviewed(_)) => true,
            _ => false,
        }
    }
}

impl ProposalDecision {
    /// Returns whether execution may follow.
    pub const fn approves(self) -> bool {
        matches!(self, Self::Approved | Self::ConditionallyApproved)
    }
}

/// Returns the phase that an event leads to.
pub(super) fn next(state: &State, kind: EventType, facts: &Facts) -> Result<Phase, GuardError> {
    TRANSITIONS
        .iter()
        .find(|row| row.event == kind && row.from.contains(&state.phase) && row.when.holds(state, facts))
        .map(|row| row.to.unwrap_or(state.phase))
        .ok_or(GuardError::OutOfPhase { phase: state.phase, kind })
}

/// Phases after the run has opened.
const OPENED: &[Phase] = &[Planning, Reviewing, Executing, Claiming, Auditing];
/// Phases in which the desk may still note a refused command or an erasure.
const ANY_OPENED: &[Phase] =
    &[Planning, Reviewing, Executing, Claiming, Auditing, Completed, Failed, Aborted];

/// The table.
pub const TRANSITIONS: &[Transition] = &[
    row(&[Initialized], EventType::SessionInitialized, When::Always, Some(Planning), "seed 1"),
    row(&[Planning], EventType::PolicyRecorded, When::Always, None, "the policy in full"),
    row(&[Planning], EventType::ProposalCreated, When::Always, Some(Reviewing), "seed 2"),
    row(&[Reviewing], EventType::ProposalCreated, When::Always, None, "several proposals at once"),
    row(&[Reviewing], EventType::ProposalReviewed, When::Approved, Some(Executing), "seed 3"),
    row(&[Reviewing], EventType::ProposalReviewed, When::OthersWait, None, "several proposals at once"),
    row(
        &[Reviewing],
        EventType::ProposalReviewed,
        When::OthersApproved,
        Some(Executing),
        "a fallback was refused",
    ),
    row(
        &[Reviewing],
        EventType::ProposalReviewed,
        When::NothingLeft,
        Some(Planning),
        "rejection back to planning",
    ),
    row(&[Executing], EventType::ProposalReviewed, When::Always, None, "several proposals at once"),
    row(&[Executing], EventType::ProposalCreated, When::Always, Some(Reviewing), "fallback after a failure"),
    row(&[Executing], EventType::ToolIntentSigned, When::Always, None, "tool workflow"),
    row(
        &[Claiming],
        EventType::ToolIntentSigned,
        When::Always,
        Some(Executing),
        "more evidence after a challenge",
    ),
    row(&[Executing], EventType::ToolIntentReviewed, When::Always, None, "tool workflow"),
    row(&[Executing], EventType::ConditionJudged, When::Always, None, "conditions are shown"),
    row(
        &[Executing, Claiming],
        EventType::CheckStated,
        When::Always,
        None,
        "conditions and claims are shown",
    ),
    row(&[Executing], EventType::ToolExecutionStarted, When::Always, None, "tool workflow"),
    row(&[Executing], EventType::ToolExecutionCompleted, When::Always, None, "tool workflow"),
    row(&[Executing], EventType::ToolExecutionFailed, When::Always, None, "tool workflow"),
    row(&[Executing, Claiming], EventType::ArtifactRecorded, When::Always, None, "tool workflow"),
    row(&[Executing, Claiming], EventType::ClaimIssued, When::Always, Some(Claiming), "seed 4"),
    row(&[Executing, Claiming], EventType::ClaimRevised, When::Always, Some(Claiming), "claim workflow"),
    row(&[Claiming], EventType::ClaimChallenged, When::Always, None, "claim workflow"),
    row(&[Claiming], EventType::ClaimRetracted, When::Always, None, "claim workflow"),
    row(&[Claiming], EventType::ClaimResolved, When::Always, None, "claim workflow"),
    row(&[Claiming], EventType::FinalStatementSigned, When::Always, Some(Auditing), "seed 5"),
    row(&[Auditing], EventType::VerificationRunStarted, When::Always, None, "auditor workflow"),
    row(&[Auditing], EventType::ReportRecorded, When::Always, None, "auditor workflow"),
    row(&[Auditing], EventType::VerificationRunCompleted, When::Passed, Some(Completed), "seed 6"),
    row(&[Auditing], EventType::VerificationRunCompleted, When::NotPassed, Some(Failed), "a failed audit"),
    row(OPENED, EventType::QuestionAsked, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionDelivered, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionAnswered, When::Always, None, "questions"),
    row(OPENED, EventType::AnswerClaimed, When::Always, None, "questions"),
    row(OPENED, EventType::AnswerRejected, When::Always, None, "questions"),
    row(OPENED, EventType::AnswerSuperseded, When::Always, None, "questions"),
    row(OPENED, EventType::AnswerRevoked, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionDeclined, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionPassedOn, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionEscalated, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionExtended, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionCancelled, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionExpired, When::Always, None, "questions"),
    row(OPENED, EventType::QuestionDefaulted, When::Always, None, "questions"),
    row(OPENED, EventType::ConfirmationAsked, When::Always, None, "confirmations"),
    row(OPENED, EventType::ConfirmationGiven, When::Always, None, "confirmations"),
    row(OPENED, EventType::ConfirmationRefused, When::Always, None, "confirmations"),
    row(OPENED, EventType::ConfirmationExpired, When::Always, None, "confirmations"),
    row(OPENED, EventType::SessionAborted, When::Always, Some(Aborted), "seed 8"),
    row(&[Aborted], EventType::QuestionExpired, When::Always, None, "what is open ends with the run"),
    row(&[Aborted], EventType::ConfirmationExpired, When::Always, None, "what is open ends with the run"),
    row(OPENED, EventType::RecoveryRecorded, When::Always, None, "recovery"),
    row(ANY_OPENED, EventType::CommandRefused, When::Always, None, "refusals are recorded"),
    row(ANY_OPENED, EventType::ContentErased, When::Always, None, "words can be erased at any time"),
];

const fn row(
    from: &'static [Phase],
    event: EventType,
    when: When,
    to: Option<Phase>,
    source: &'static str,
) -> Transition {
    Transition { from, event, when, to, source }
}
