//! What the tools take that play a role in an accountable run. Numbers are those of events. Limits are the desk's to check.

use std::collections::BTreeMap;

use demur_core::limit::{List, Text};
use demur_ledger::{
    facts::{FailureKind, ProposalDecision, Risk, VerificationProfile},
    name::TraceId,
    role::Role,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

/// A run to be opened.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenRun {
    pub(crate) task: Text<1, 256>,
    pub(crate) objective: Text<1, 16384>,
    #[serde(default)]
    pub(crate) constraints: List<Text<1, 4096>, 0, 64>,
    #[serde(default)]
    pub(crate) agents: Agents,
    /// Those that may run, with their least risk; else any.
    #[serde(default)]
    pub(crate) tools: Option<BTreeMap<Text<1, 256>, Risk>>,
    // Its name says enough to a model, which pays for every word here.
    #[serde(default)]
    pub(crate) distinct_clients: bool,
}

/// Other clients, by name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Agents {
    executor: Option<Text<1, 64>>,
    critic: Option<Text<1, 64>>,
    auditor: Option<Text<1, 64>>,
}

impl Agents {
    /// Returns those that are named.
    pub(crate) fn by_role(self) -> BTreeMap<Role, Text<1, 64>> {
        let roles =
            [(Role::Executor, self.executor), (Role::Critic, self.critic), (Role::Auditor, self.auditor)];
        roles.into_iter().filter_map(|(role, name)| Some((role, name?))).collect()
    }
}

/// A unit of work.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Propose {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    pub(crate) objective: String,
    pub(crate) tools: Vec<String>,
    #[serde(default)]
    pub(crate) assumptions: Vec<String>,
    #[serde(default)]
    pub(crate) expected_evidence: Vec<String>,
    /// The refused proposal it revises.
    #[serde(default)]
    pub(crate) replaces: Option<u64>,
    /// The failed intent it falls back from.
    #[serde(default)]
    pub(crate) fallback_for: Option<u64>,
}

/// A decision.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    /// The proposal or intent.
    pub(crate) event: u64,
    /// Of an intent: approved or blocked.
    pub(crate) decision: ProposalDecision,
    pub(crate) rationale: String,
    /// With conditionally_approved.
    #[serde(default)]
    pub(crate) conditions: Vec<String>,
}

/// What is about to be run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intend {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    pub(crate) proposal: u64,
    pub(crate) tool: String,
    /// Its arguments.
    #[schemars(schema_with = "object")]
    pub(crate) input: JsonObject,
    pub(crate) risk: Risk,
    pub(crate) justification: String,
    /// The conditions met, from 0.
    #[serde(default)]
    pub(crate) meets: Vec<u64>,
    /// The failed intent it tries again.
    #[serde(default)]
    pub(crate) retries: Option<u64>,
}

/// A start.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    pub(crate) intent: u64,
}

/// An end.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    /// The event of session_start.
    pub(crate) started: u64,
    /// If it failed.
    #[serde(default)]
    pub(crate) failure: Option<FailureKind>,
    #[serde(default)]
    pub(crate) outputs: Vec<Output>,
    #[serde(default)]
    pub(crate) exit_status: Option<u64>,
    #[serde(default)]
    pub(crate) duration_ms: u64,
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// Becomes an artifact.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A claim.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    pub(crate) text: String,
    /// In percent.
    pub(crate) confidence: u64,
    /// Artifacts, by event.
    pub(crate) evidence: Vec<u64>,
    /// The last event of each session_report.
    pub(crate) executions: Vec<u64>,
    #[serde(default)]
    pub(crate) about_failure: bool,
    /// The claim it revises.
    #[serde(default)]
    pub(crate) replaces: Option<u64>,
}

/// A dispute.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Challenge {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    /// The claim; to resolve, the challenge.
    pub(crate) event: u64,
    pub(crate) act: Dispute,
    #[serde(default)]
    pub(crate) reason: String,
    /// To judge or check.
    #[serde(default)]
    #[schemars(schema_with = "object")]
    pub(crate) check: JsonObject,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Dispute {
    Challenge,
    Resolve,
    Retract,
    Judge,
    Check,
    CheckOwn,
}

/// An end of the work.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conclude {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    // What all of it amounts to.
    pub(crate) verdict: String,
}

/// An audit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditRun {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    #[serde(default)]
    pub(crate) profile: Option<VerificationProfile>,
}

/// The end of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AbortRun {
    #[schemars(with = "String")]
    pub(crate) trace: TraceId,
    pub(crate) reason: Text<1, 16000>,
}

fn object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object"})
}
