//! What is said in a run: facts and content of its events, with the members that their schemas name. Limits are the desk's to
//! check, and so is whether an event that is named is there.

use demur_core::hash::Digest;
use demur_ledger::{
    facts::{FailureKind, ProposalDecision, Risk},
    name::Sequence,
};
use rmcp::model::JsonObject;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub(super) struct ProposalFacts {
    pub(super) replaces: Option<u64>,
    pub(super) fallback_for: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct ProposalContent<'a> {
    pub(super) objective: &'a str,
    pub(super) required_tools: &'a [String],
    pub(super) assumptions: &'a [String],
    pub(super) expected_evidence: &'a [String],
}

#[derive(Serialize)]
pub(super) struct ProposalReviewFacts {
    pub(super) proposal: u64,
    pub(super) decision: ProposalDecision,
    /// How many there are.
    pub(super) conditions: usize,
}

#[derive(Serialize)]
pub(super) struct ProposalReviewContent<'a> {
    pub(super) rationale: &'a str,
    pub(super) conditions: &'a [String],
}

#[derive(Serialize)]
pub(super) struct IntentFacts<'a> {
    pub(super) proposal: u64,
    pub(super) meets: &'a [u64],
    pub(super) retries: Option<u64>,
    pub(super) risk: Risk,
}

#[derive(Serialize)]
pub(super) struct IntentContent<'a> {
    pub(super) tool: &'a str,
    pub(super) input_hash: Digest,
    pub(super) justification: &'a str,
}

#[derive(Serialize)]
pub(super) struct IntentReviewFacts {
    pub(super) intent: u64,
    pub(super) decision: ProposalDecision,
}

#[derive(Serialize)]
pub(super) struct IntentReviewContent<'a> {
    pub(super) rationale: &'a str,
}

#[derive(Serialize)]
pub(super) struct JudgementFacts<'a> {
    pub(super) intent: u64,
    /// The others.
    #[serde(flatten)]
    pub(super) rest: &'a JsonObject,
}

#[derive(Serialize)]
pub(super) struct CheckFacts {
    pub(super) about: u64,
    pub(super) artifact: Option<Value>,
    pub(super) condition: Option<Value>,
}

#[derive(Serialize)]
pub(super) struct StartFacts {
    pub(super) intent: u64,
    pub(super) input: Option<Sequence>,
}

/// Whoever executes elsewhere says nothing about limits.
#[derive(Default, Serialize)]
pub(super) struct StartContent {
    limits: [(); 0],
}

#[derive(Serialize)]
pub(super) struct EndFacts {
    pub(super) started: u64,
    pub(super) outputs: Vec<Sequence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<FailureKind>,
}

#[derive(Serialize)]
pub(super) struct CompletionContent {
    pub(super) duration_ms: u64,
    pub(super) exit_status: Option<u64>,
    pub(super) note: Option<String>,
}

#[derive(Serialize)]
pub(super) struct FailureContent {
    pub(super) duration_ms: u64,
    pub(super) exit_status: Option<u64>,
    pub(super) message: String,
}

#[derive(Serialize)]
pub(super) struct ArtifactContent<'a> {
    pub(super) name: &'a str,
    pub(super) media_type: &'a str,
}

#[derive(Serialize)]
pub(super) struct ClaimFacts {
    pub(super) about_failure: bool,
    pub(super) evidence: Vec<u64>,
    pub(super) executions: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct ClaimContent<'a> {
    pub(super) text: &'a str,
    pub(super) confidence: u64,
}

/// What a dispute is about, under the name of what it is.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Disputed {
    Claim(u64),
    Challenge(u64),
}

#[derive(Serialize)]
pub(super) struct DisputeContent<'a> {
    pub(super) reason: &'a str,
}

#[derive(Serialize)]
pub(super) struct ConclusionFacts {
    pub(super) claims: Vec<Sequence>,
}

#[derive(Serialize)]
pub(super) struct ConclusionContent<'a> {
    pub(super) claims: Vec<ClaimWords<'a>>,
    pub(super) verdict: &'a str,
}

#[derive(Serialize)]
pub(super) struct ClaimWords<'a> {
    pub(super) claim: Sequence,
    pub(super) text: &'a str,
}
