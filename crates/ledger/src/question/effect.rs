//! What an event does to a question, said once: lists, marks, caches and counts go by it, and a new type of event is met here.

use super::OutcomeKind;
use crate::{envelope::Event, event_type::Facts, facts::Question, name::Sequence};

/// What an event does to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionEffect<'a> {
    /// It asks this one, perhaps in the place of another.
    Asked(&'a Question),
    /// That question has this outcome now, which is not [`OutcomeKind::Open`].
    Ended(Sequence, OutcomeKind),
    /// That question is open again.
    Reopened(Sequence),
    /// Something else about that question is new; its outcome is as it was.
    Changed(Sequence),
}

use QuestionEffect as Effect;

/// Returns what an event with these facts does to a question, if it does anything to one.
pub const fn question_effect(facts: &Facts) -> Option<QuestionEffect<'_>> {
    Some(match facts {
        Facts::QuestionAsked(facts) => Effect::Asked(&facts.0),
        Facts::GapFound(facts) => Effect::Asked(&facts.0),
        Facts::QuestionAnswered(facts) => Effect::Ended(facts.question.sequence, OutcomeKind::Answered),
        Facts::GapAccepted(facts) => Effect::Ended(facts.question.sequence, OutcomeKind::Accepted),
        Facts::GapWithdrawn(facts) => Effect::Ended(facts.question, OutcomeKind::Withdrawn),
        Facts::QuestionDeclined(facts) => Effect::Ended(facts.question, OutcomeKind::Declined),
        Facts::QuestionCancelled(facts) => Effect::Ended(facts.question, OutcomeKind::Cancelled),
        Facts::QuestionExpired(facts) => Effect::Ended(facts.question, OutcomeKind::Expired),
        Facts::QuestionDefaulted(facts) => Effect::Ended(facts.question, OutcomeKind::Defaulted),
        Facts::AnswerRevoked(facts) => Effect::Reopened(facts.question),
        Facts::QuestionEscalated(facts) => Effect::Reopened(facts.question),
        Facts::AnswerSuperseded(facts) => Effect::Changed(facts.answer.question.sequence),
        Facts::QuestionPassedOn(facts) => Effect::Changed(facts.question),
        Facts::QuestionExtended(facts) => Effect::Changed(facts.question),
        Facts::AnswerClaimed(facts) => Effect::Changed(facts.question),
        Facts::StoreCreated(_)
        | Facts::KeyRegistered(_)
        | Facts::KeyRotated(_)
        | Facts::KeyRetired(_)
        | Facts::KeyRevoked(_)
        | Facts::CheckpointRecorded(_)
        | Facts::StoreRestored(_)
        | Facts::ClientBound(_)
        | Facts::TokenMade(_)
        | Facts::TokenRevoked(_)
        | Facts::PersonAdded(_)
        | Facts::PersonChanged(_)
        | Facts::PersonRemoved(_)
        | Facts::PasskeyRooted(_)
        | Facts::PasskeyAdded(_)
        | Facts::PasskeyRemoved(_)
        | Facts::PasskeyReset(_)
        | Facts::JournalOpened(_)
        | Facts::SessionOpened(_)
        | Facts::SessionInitialized(_)
        | Facts::PolicyRecorded(_)
        | Facts::ProposalCreated(_)
        | Facts::ProposalReviewed(_)
        | Facts::ToolIntentSigned(_)
        | Facts::ToolIntentReviewed(_)
        | Facts::ConditionJudged(_)
        | Facts::CheckStated(_)
        | Facts::ToolExecutionStarted(_)
        | Facts::ToolExecutionCompleted(_)
        | Facts::ToolExecutionFailed(_)
        | Facts::ArtifactRecorded(_)
        | Facts::ClaimIssued(_)
        | Facts::ClaimChallenged(_)
        | Facts::ClaimRevised(_)
        | Facts::ClaimResolved(_)
        | Facts::ClaimRetracted(_)
        | Facts::FinalStatementSigned(_)
        | Facts::VerificationRunStarted(_)
        | Facts::ReportRecorded(_)
        | Facts::VerificationRunCompleted(_)
        | Facts::SessionAborted(_)
        | Facts::RecoveryRecorded(_)
        | Facts::CommandRefused(_)
        | Facts::ContentErased(_)
        | Facts::PlanSubmitted(_)
        | Facts::RulesRecorded(_)
        | Facts::QuestionDelivered(_)
        | Facts::AnswerRejected(_)
        | Facts::ConfirmationAsked(_)
        | Facts::ConfirmationGiven(_)
        | Facts::ConfirmationRefused(_)
        | Facts::ConfirmationExpired(_)
        | Facts::OperationStarted(_)
        | Facts::OperationEnded(_)
        | Facts::PlanAmended(_)
        | Facts::PlanWithdrawn(_)
        | Facts::PlanConfirmed(_)
        | Facts::PaperRecorded(_)
        | Facts::PlanAttested(_)
        | Facts::Unknown(_) => return None,
    })
}

/// Returns the questions that an event changes: the one it asks, the one it takes the place of, or the one it is about.
/// Whoever keeps a list of questions looks at these again.
pub fn touched(event: &Event) -> impl Iterator<Item = Sequence> {
    let effect = event.said().ok().and_then(|said| question_effect(said.facts));
    let (asked, other) = match effect {
        Some(QuestionEffect::Asked(question)) => (Some(event.envelope().sequence), question.repeats),
        Some(
            QuestionEffect::Ended(question, _)
            | QuestionEffect::Reopened(question)
            | QuestionEffect::Changed(question),
        ) => (None, Some(question)),
        None => (None, None),
    };
    asked.into_iter().chain(other)
}

/// Returns the earlier question that an event changes.
pub(crate) const fn subject(facts: &Facts) -> Option<Sequence> {
    match question_effect(facts) {
        Some(
            QuestionEffect::Ended(question, _)
            | QuestionEffect::Reopened(question)
            | QuestionEffect::Changed(question),
        ) => Some(question),
        Some(QuestionEffect::Asked(_)) | None => None,
    }
}
