//! Content of opening, planning, reviewing and verifying a run.

use demur_core::{
    hash::Digest,
    limit::{List, Text},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventContent;

/// What the run is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionContent {
    /// What must hold throughout.
    pub constraints: List<Text<1, 4096>, 0, 64>,
    /// What is to be reached.
    pub objective: Text<1, 16384>,
    /// The name of the task.
    pub task: Text<1, 256>,
}

/// What the planner proposes (LED-10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalContent {
    /// What is taken for granted.
    pub assumptions: List<Text<1, 4096>, 0, 64>,
    /// What will show that it worked.
    pub expected_evidence: List<Text<1, 4096>, 0, 64>,
    /// What this unit is to reach.
    pub objective: Text<1, 16384>,
    /// The tools it needs.
    pub required_tools: List<Text<1, 256>, 0, 64>,
}

/// Why the critic decided as it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalReviewContent {
    /// The conditions, as many as the facts say.
    pub conditions: List<Text<1, 4096>, 0, 64>,
    /// The reasons.
    pub rationale: Text<1, 16384>,
}

/// What the auditor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationContent {
    /// SHA-256 of the bytes of a recorded report.
    pub report: Digest,
    /// The verdict in words.
    pub summary: Text<1, 16384>,
}

impl EventContent for SessionContent {}
impl EventContent for ProposalContent {}
impl EventContent for ProposalReviewContent {}
impl EventContent for VerificationContent {}
