//! Facts of opening, planning, reviewing and verifying a run (seed 002: proposal and auditor workflow).

use demur_core::{
    commitment::Commitment,
    limit::{List, Whole},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EventFacts, Risk};
use crate::{
    name::{Position, PrincipalId, Sequence, present},
    role::Role,
};

/// Opens the trace of a run: who takes part as what, under which policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionInitialized {
    /// Everybody who may speak in this run, ordered by principal and role, each pair once.
    pub participants: List<Participant, 3, 64>,
    /// The numbers the guards go by.
    pub policy: Policy,
}

/// One principal in one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Participant {
    /// Who.
    pub principal: PrincipalId,
    /// As what: planner, executor, critic or auditor.
    pub role: Role,
}

/// What a run demands before it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The lowest risk class that needs the critic's approval before execution (LED-23).
    pub approval_from: Risk,
    /// How many artifacts a claim must cite at least (LED-24).
    pub evidence_minimum: Whole<1, 64>,
    /// Whether a failed tool call may be followed by a fallback proposal (LED-20).
    pub fallback: bool,
    /// How often one tool call may be tried again (LED-32).
    pub retry_limit: Whole<0, 16>,
}

/// The policy of the run stands in full: its content names the tools too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRecorded {}

/// A unit of work the planner proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalCreated {
    /// The failed intent this proposal falls back from, when it is made while executing.
    #[serde(deserialize_with = "present")]
    pub fallback_for: Option<Sequence>,
    /// The rejected or blocked proposal it revises.
    #[serde(deserialize_with = "present")]
    pub replaces: Option<Sequence>,
}

/// What the critic thinks of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalReviewed {
    /// How many conditions the approval names; their words are content. Above 0 exactly when conditional.
    pub conditions: Whole<0, 64>,
    /// The decision.
    pub decision: ProposalDecision,
    /// The proposal.
    pub proposal: Sequence,
}

/// The four answers to a proposal (LED-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProposalDecision {
    /// May execute.
    Approved,
    /// May execute once the named conditions are met.
    ConditionallyApproved,
    /// Waits for a revision.
    Blocked,
    /// Never executes.
    Rejected,
}

/// The auditor begins to verify everything before this event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationRunStarted {
    /// How strictly.
    pub profile: VerificationProfile,
}

/// How strictly a verification judges; integrity is the same in all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationProfile {
    /// Disputes fail.
    Strict,
    /// Disputes warn.
    Default,
    /// Evidence, role and finalization findings warn.
    Lenient,
}

/// The auditor's report, whose bytes are stored like those of an artifact; a verdict names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportRecorded {
    /// Commitment to the raw bytes, with a salt of its own.
    pub commitment: Commitment,
}

/// The auditor's verdict over the prefix that ends with `through`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationRunCompleted {
    /// The verdict.
    pub status: VerificationStatus,
    /// The `verification_run_started` event it closes, by number and hash (LED-28).
    pub through: Position,
}

/// The three verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationStatus {
    /// Every check passed.
    Pass,
    /// Nothing failed, something is worth reading.
    PassWithWarnings,
    /// At least one check failed.
    Fail,
}

impl VerificationStatus {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::PassWithWarnings => "pass_with_warnings",
            Self::Fail => "fail",
        }
    }
}

impl EventFacts for SessionInitialized {}
impl EventFacts for PolicyRecorded {}

impl EventFacts for ProposalCreated {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        self.fallback_for.into_iter().chain(self.replaces).for_each(visit);
    }
}

impl EventFacts for ProposalReviewed {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.proposal);
    }
}

impl EventFacts for VerificationRunStarted {}
impl EventFacts for ReportRecorded {}

impl EventFacts for VerificationRunCompleted {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.through.sequence);
    }
}
