//! Content of claims, challenges and the final statement.

use demur_core::limit::{List, Text, Whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventContent;
use crate::name::Sequence;

/// What is claimed (LED-13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimContent {
    /// How sure its author is, in percent.
    pub confidence: Whole<0, 100>,
    /// The claim.
    pub text: Text<1, 16384>,
}

/// Why: of a challenge, a resolution, a retraction, an abort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReasonContent {
    /// The reason.
    pub reason: Text<1, 16384>,
}

/// The final claim bundle (LED-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalStatementContent {
    /// Every claim of the facts, in the same order, in its author's words.
    pub claims: List<FinalClaim, 1, 256>,
    /// What all of it amounts to.
    pub verdict: Text<1, 16384>,
}

/// One claim of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalClaim {
    /// The event that made it.
    pub claim: Sequence,
    /// Its text, the same as there.
    pub text: Text<1, 16384>,
}

impl EventContent for ClaimContent {}
impl EventContent for ReasonContent {}
impl EventContent for FinalStatementContent {}
