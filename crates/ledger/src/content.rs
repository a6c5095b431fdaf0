//! Content: the words of an event, committed to by a salted hash and erasable (`docs/format.md` 6). Plain
//! hashes stand only here, never in facts.

mod claim;
mod desk;
mod plan;
mod question;
mod run;
mod tool;

use std::collections::BTreeSet;

use demur_core::{
    canonical,
    commitment::{Commitment, Salt},
    limit::Limits,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use claim::{ClaimContent, FinalClaim, FinalStatementContent, ReasonContent};
pub use desk::{NameContent, NoteContent, RefusalContent};
pub use plan::{
    AttestationContent, ConfirmationContent, OperationContent, PlanContent, Provenance, RulesContent,
};
pub use question::{
    ActContent, AnswerClaimContent, AnswerContent, AnswerValue, Choice, DefaultContent, DeliveryContent,
    QuestionContent, RuleName, Sealed, Shown, Terms, TermsError, Wording, Wordings,
};
pub use run::{ProposalContent, ProposalReviewContent, SessionContent, VerificationContent};
pub use tool::{
    ArtifactContent, ExecutionContent, ExecutionResultContent, FailureContent, IntentContent,
    RationaleContent,
};

use crate::{
    event_type::{Content, Facts},
    facts::{AnswerKind, Question, QuestionAnswered},
};

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

/// Checks that content says nothing else than the facts beside it.
pub fn agrees(facts: &Facts, content: &Content) -> Result<(), ContentMismatch> {
    let holds = match (facts, content) {
        (Facts::ProposalReviewed(facts), Content::ProposalReviewed(content)) => {
            facts.conditions.as_u64() == content.conditions.len() as u64
        }
        (Facts::FinalStatementSigned(facts), Content::FinalStatementSigned(content)) => {
            facts.claims.iter().eq(content.claims.iter().map(|claim| &claim.claim))
        }
        (Facts::QuestionAsked(facts), Content::QuestionAsked(content)) => asks(&facts.0, content),
        (Facts::GapFound(facts), Content::GapFound(content)) => asks(&facts.0, content),
        (Facts::QuestionAnswered(facts), Content::QuestionAnswered(content)) => answers(facts, content),
        (Facts::AnswerSuperseded(facts), Content::AnswerSuperseded(content)) => {
            answers(&facts.answer, content)
        }
        (_, Content::AnswerClaimed(content)) => !content.answer.is_sealed(),
        (_, Content::QuestionDefaulted(content)) => !content.default.is_sealed(),
        _ => true,
    };
    if holds { Ok(()) } else { Err(ContentMismatch) }
}

/// As many choices as the facts count, no value twice, and a default exactly if the facts say so, of a kind that
/// fits (AEP-11, AEP-16). What the asker offers is there to be read, and a secret has nothing on offer.
fn asks(facts: &Question, content: &QuestionContent) -> bool {
    let choices = content.choices.as_slice();
    let distinct = choices.iter().map(|choice| choice.value.as_str()).collect::<BTreeSet<_>>();
    let fits = |value: &AnswerValue| facts.kinds.iter().any(|kind| value.fits(*kind, choices));
    let offered = content.recommendation.is_some() || !content.suggestions.is_empty();
    let sealed = content.default.iter().chain(&content.recommendation).any(AnswerValue::is_sealed);
    facts.choices.as_u64() == choices.len() as u64
        && distinct.len() == choices.len()
        && facts.default == content.default.is_some()
        && content.default.as_ref().is_none_or(fits)
        && !sealed
        && !(offered && facts.is_secret())
}

/// The value is of the kind that the facts name. Which choice a value belongs to, only the question can tell.
fn answers(facts: &QuestionAnswered, content: &AnswerContent) -> bool {
    match facts.kind {
        AnswerKind::Secret => content.answer.is_sealed() && content.signed.is_none(),
        AnswerKind::MultipleChoice => matches!(content.answer, AnswerValue::Text(_)),
        kind => content.answer.fits(kind, &[]),
    }
}

/// Content that contradicts the facts it travels with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content names other conditions, claims, choices or values than the facts")]
pub struct ContentMismatch;
