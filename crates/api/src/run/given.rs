//! What somebody sends about a run.

use std::collections::BTreeMap;

use demur_core::limit::{List, Text, Whole};
use demur_ledger::{
    content::{PolicyDocument, PolicyTools},
    facts::{Risk, VerificationProfile},
    name::TraceId,
    role::Role,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A run to be opened.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenRun {
    /// The trace: the same run under the same trace is opened once. Otherwise the server chooses one.
    #[serde(default)]
    pub trace: Option<TraceId>,
    /// The name of the task.
    pub task: Text<1, 256>,
    /// What is to be reached.
    pub objective: Text<1, 16384>,
    /// What must hold throughout.
    #[serde(default)]
    pub constraints: List<Text<1, 4096>, 0, 64>,
    /// Who plays which role, by the names of their tokens or clients. Roles nobody is named for are the caller's own, and the
    /// planner always is.
    #[serde(default)]
    pub agents: BTreeMap<Role, Text<1, 64>>,
    /// What the run demands.
    #[serde(default)]
    pub policy: Demands,
    /// The name under which the user of this machine takes part; otherwise `agent`. A token speaks as itself.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// One thing that somebody says.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SayInRun {
    /// In which role: planner, executor, critic or auditor.
    pub role: Role,
    /// The event type, such as `proposal_created`.
    #[serde(rename = "type")]
    pub kind: Text<1, 64>,
    /// Its facts, as the schema of the type says; none with bytes.
    #[serde(default)]
    pub facts: Map<String, Value>,
    /// Its content, as the schema of the type says; of an artifact, at least its `name`.
    #[serde(default)]
    pub content: Option<Map<String, Value>>,
    /// The bytes of an `artifact_recorded` or a `report_recorded`, at most 32 MiB. The desk commits to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<GivenArtifact>,
    /// The name under which the user of this machine takes part; otherwise `agent`. A token speaks as itself.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// The bytes of an artifact, in one of two ways.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenArtifact {
    /// As they are.
    #[serde(default)]
    pub text: Option<String>,
    /// In base64.
    #[serde(default)]
    pub base64: Option<String>,
}

/// An audit to be done.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditRun {
    /// How strictly; otherwise `default`.
    #[serde(default)]
    pub profile: Option<VerificationProfile>,
    /// The name under which the user of this machine takes part; otherwise `agent`. A token speaks as itself.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// What a run demands before it goes on; what is left out is as usual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RunPolicy")]
pub struct Demands {
    /// The lowest risk class that needs the critic's approval before it starts; `low` means every call.
    pub approval_from: Risk,
    /// Whether no client (a token, an MCP connection, an agent's command) may both do the work as planner or executor and judge
    /// it as critic or auditor: such a run is refused with `CLIENT_HELD_ROLES`, and its file fails verification. Otherwise
    /// reports warn of it.
    pub distinct_clients: bool,
    /// How many artifacts a claim must cite at least.
    pub evidence_minimum: Whole<1, 64>,
    /// Whether a failed call may be followed by a fallback proposal.
    pub fallback: bool,
    /// How often one call may be tried again.
    pub retry_limit: Whole<0, 16>,
    /// The tools that may run, each with the least risk that an intent must name and the programs it may start; otherwise any
    /// tool at any risk.
    pub tools: Option<PolicyTools>,
}

impl Default for Demands {
    /// Whoever executes elsewhere could start a tool before anybody looks: the critic approves every call.
    fn default() -> Self {
        Self {
            approval_from: Risk::Low,
            distinct_clients: false,
            evidence_minimum: Whole::of::<1>(),
            fallback: true,
            retry_limit: Whole::of::<3>(),
            tools: None,
        }
    }
}

impl From<Demands> for PolicyDocument {
    fn from(demands: Demands) -> Self {
        let Demands { approval_from, distinct_clients, evidence_minimum, fallback, retry_limit, tools } =
            demands;
        let sandbox = None;
        Self { approval_from, distinct_clients, evidence_minimum, fallback, retry_limit, sandbox, tools }
    }
}
