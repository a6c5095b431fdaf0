//! Content: the words of an event, committed to by a salted hash and erasable (`docs/format.md` 6). Plain
//! hashes stand only here, never in facts.

mod claim;
mod desk;
mod run;
mod tool;

use demur_core::{
    canonical,
    commitment::{Commitment, Salt},
    limit::Limits,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use claim::{ClaimContent, FinalClaim, FinalStatementContent, ReasonContent};
pub use desk::{NameContent, NoteContent, RefusalContent};
pub use run::{ProposalContent, ProposalReviewContent, SessionContent, VerificationContent};
pub use tool::{
    ArtifactContent, ExecutionContent, ExecutionResultContent, FailureContent, IntentContent,
    RationaleContent,
};

use crate::event_type::{Content, Facts};

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
        _ => true,
    };
    if holds { Ok(()) } else { Err(ContentMismatch) }
}

/// Content that contradicts the facts it travels with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content names other conditions or claims than the facts")]
pub struct ContentMismatch;
