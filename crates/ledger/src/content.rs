//! Content: the words of an event, committed to by a salted hash and erasable (`docs/format.md` 6). Plain
//! hashes stand only here, never in facts.

mod check;
mod claim;
mod confirmation;
mod desk;
mod plan;
mod policy;
mod question;
mod run;
mod tool;

use demur_core::{
    canonical,
    commitment::{Commitment, Salt},
    limit::Limits,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use check::{CheckContent, CheckPlace, CheckValue, Comparison};
pub use claim::{ClaimContent, FinalClaim, FinalStatementContent, ReasonContent};
pub use confirmation::{
    ConfirmationAskContent, ConfirmationGivenContent, ConfirmationRefusedContent, OperationContent,
    OperationEndContent, OperationObject, call_operation, operation_digest,
};
pub use desk::{ErasureContent, LabelContent, NameContent, NoteContent, RefusalContent};
pub use plan::{
    AmendedContent, AttestationContent, ConfirmationContent, PaperContent, PlanContent, Provenance,
    RulesContent,
};
pub use policy::{PolicyContent, PolicyDocument, PolicySandbox, PolicyTool, PolicyTools};
pub use question::{
    ActContent, AnswerClaimContent, AnswerContent, AnswerValue, Choice, DefaultContent, DeliveryContent,
    QuestionContent, RejectedContent, RuleName, Sealed, Shown, Terms, TermsError, Wording, Wordings,
};
pub use run::{ProposalContent, ProposalReviewContent, SessionContent, VerificationContent};
pub use tool::{
    ArtifactContent, ExecutionContent, ExecutionResultContent, FailureContent, IntentContent,
    RationaleContent,
};

use crate::event_type::Content;

/// Whether an event type has content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentRule {
    /// The commitment must be there.
    Required,
    /// The commitment must be null: the event is facts entirely.
    Absent,
}

/// What the content of every event type can do.
pub trait EventContent {
    /// Whether there is any.
    const RULE: ContentRule = ContentRule::Required;
}

/// The content of an event that has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoContent {}

impl EventContent for NoContent {
    const RULE: ContentRule = ContentRule::Absent;
}

/// Content with the salt that opens its commitment: what travels beside an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Canonical JSON.
    pub bytes: Vec<u8>,
    /// The author-drawn salt.
    pub salt: Salt,
}

impl Opening {
    /// Returns the opening of canonical JSON bytes; other bytes are refused.
    pub fn new(bytes: Vec<u8>, salt: Salt) -> Result<Self, canonical::ReadError> {
        canonical::check(&bytes, &Limits::CONTENT)?;
        Ok(Self { bytes, salt })
    }

    /// Returns the opening of content. The salt must be fresh: one salt, one content.
    pub(crate) fn of(content: &Content, salt: Salt) -> Result<Self, canonical::WriteError> {
        Ok(Self { bytes: canonical::to_vec(content)?, salt })
    }

    /// Returns the commitment that this opens.
    pub fn commitment(&self) -> Commitment {
        Commitment::to_content(&self.salt, &self.bytes)
    }
}
