//! Facts: what an event decides, open and never erased (`docs/format.md` 6). Ids, enums, numbers and hashes
//! only; every word a person or a model wrote is content. Fields stand in canonical order, so that writing
//! them costs no sorting.

/// Writes what [`EventFacts`] says of the way an act came, for facts that have it in a member called `attribution`.
macro_rules! attributed {
    () => {
        fn attribution(&self) -> Option<Option<&Attribution>> {
            Some(self.attribution.as_deref())
        }

        fn attribute(&mut self, attribution: Attribution) {
            self.attribution = Some(Box::new(attribution));
        }
    };
}

mod attribution;
mod check;
mod claim;
mod client;
mod confirmation;
mod desk;
mod journal;
mod key;
mod passkey;
mod plan;
mod question;
mod run;
mod tool;

pub use attribution::{Attribution, Door, MaybeAttribution, Root};
pub use check::{CheckStated, ConditionJudged};
pub use claim::{
    ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRetracted, ClaimRevised, FinalStatementSigned,
};
pub use client::{ClientBound, TokenMade, TokenRevoked, TokenScope};
pub use confirmation::{
    ConfirmationAsked, ConfirmationExpired, ConfirmationGiven, ConfirmationRefused, OperationEnded,
    OperationStarted,
};
pub use desk::{
    CommandRefused, ContentErased, RecoveryRecorded, RefusalCode, RefusalCodeError, SessionAborted,
};
pub use journal::{JournalOpened, SessionOpened};
pub use key::{
    CheckpointRecorded, KeyRegistered, KeyRetired, KeyRevoked, KeyRotated, PossessionClaim, RevocationReason,
    StoreCreated, StoreRestored,
};
pub use passkey::{
    Enrolment, PasskeyAdded, PasskeyRemoved, PasskeyReset, PasskeyRooted, PersonAdded, PersonChanged,
    PersonRemoved, PersonRole, RpId, WebOrigin,
};
pub use plan::{
    PaperKind, PaperRecorded, PlanAmended, PlanAttested, PlanConfirmed, PlanSubmitted, PlanWithdrawn,
    RulesRecorded,
};
pub use question::{
    AnswerClaimed, AnswerKind, AnswerRejected, AnswerRevoked, AnswerSuperseded, Answerers, Assurance,
    GapAccepted, GapFound, GapWithdrawn, Question, QuestionAnswered, QuestionAsked, QuestionCancelled,
    QuestionDeclined, QuestionDefaulted, QuestionDelivered, QuestionEscalated, QuestionExpired,
    QuestionExtended, QuestionPassedOn, Severity,
};
pub use run::{
    Participant, Policy, PolicyRecorded, ProposalCreated, ProposalDecision, ProposalReviewed, ReportRecorded,
    SessionInitialized, VerificationProfile, VerificationRunCompleted, VerificationRunStarted,
    VerificationStatus,
};
pub use tool::{
    ArtifactRecorded, FailureKind, IntentDecision, Risk, ToolExecutionCompleted, ToolExecutionFailed,
    ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned,
};

use demur_core::limit::List;

use crate::name::Sequence;

/// References to earlier events of the same trace.
pub type Cited<const MIN: usize> = List<Sequence, MIN, 256>;

/// What the facts of every event type can do.
pub trait EventFacts {
    /// Calls `visit` with every earlier event of this trace that the facts refer to. An author must have seen
    /// all of them, otherwise the desk could decide what a number means.
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        let _ = visit;
    }

    /// Returns what is said of the way the act came; nothing where the type has no such fact.
    fn attribution(&self) -> Option<Option<&Attribution>> {
        None
    }

    /// Says which way the act came, where the type has such a fact.
    fn attribute(&mut self, attribution: Attribution) {
        let _ = attribution;
    }
}
