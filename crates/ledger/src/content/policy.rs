//! Content of the policy of a run: the numbers that its opening names, and what it says of each tool.

use std::collections::BTreeMap;

use demur_core::{
    hash::Digest,
    limit::{LimitError, List, Text, Whole},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventContent;
use crate::{
    facts::{Policy, Risk},
    name::present,
};

/// The policy of a run, whole: what it demands can be judged from this alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyContent {
    /// What it demands.
    pub document: PolicyDocument,
    /// SHA-256 of the text that it was read from, where there is one.
    #[serde(deserialize_with = "present")]
    pub hash: Option<Digest>,
}

/// What a run demands of everybody who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyDocument {
    /// As in the opening of the run.
    pub approval_from: Risk,
    /// Whether no client may both do the work (planner, executor) and judge it (critic, auditor).
    pub distinct_clients: bool,
    /// As in the opening of the run.
    pub evidence_minimum: Whole<1, 64>,
    /// As in the opening of the run.
    pub fallback: bool,
    /// As in the opening of the run.
    pub retry_limit: Whole<0, 16>,
    /// How closely the tools are held that demur starts; null where somebody else starts them.
    #[serde(deserialize_with = "present")]
    pub sandbox: Option<PolicySandbox>,
    /// The tools that may run, by the name that intents give; null for any tool at any risk.
    #[serde(deserialize_with = "present")]
    pub tools: Option<PolicyTools>,
}

impl PolicyDocument {
    /// Returns the document of a policy with these numbers that names no tools: any may run.
    pub const fn of_numbers(numbers: Policy) -> Self {
        let Policy { approval_from, evidence_minimum, fallback, retry_limit } = numbers;
        Self {
            approval_from,
            distinct_clients: false,
            evidence_minimum,
            fallback,
            retry_limit,
            sandbox: None,
            tools: None,
        }
    }

    /// Returns the numbers that the opening of the run repeats.
    pub const fn numbers(&self) -> Policy {
        Policy {
            approval_from: self.approval_from,
            evidence_minimum: self.evidence_minimum,
            fallback: self.fallback,
            retry_limit: self.retry_limit,
        }
    }
}

/// How closely tools are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySandbox {
    /// Whether tools also run where not all of the sandbox can be enforced.
    pub best_effort: bool,
    /// Whether modes, owners, times and attributes of files may be changed by their path.
    pub chmod: bool,
    /// Whether sockets for UDP may be opened.
    pub udp: bool,
}

impl PolicySandbox {
    /// Returns in words what it allows beyond the closest.
    pub fn words(self) -> Vec<&'static str> {
        let said = [
            (self.best_effort, "tools run with as much of the sandbox as the system has"),
            (self.chmod, "tools may change modes, owners and times of files by their path"),
            (self.udp, "tools may open sockets for UDP"),
        ];
        said.into_iter().filter_map(|(said, words)| said.then_some(words)).collect()
    }
}

/// The tools of a policy by name: at most 256.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Text<1, 256>, PolicyTool>", into = "BTreeMap<Text<1, 256>, PolicyTool>")]
pub struct PolicyTools(BTreeMap<Text<1, 256>, PolicyTool>);

impl PolicyTools {
    /// Returns the tools with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Text<1, 256>, &PolicyTool)> {
        self.0.iter()
    }
}

impl TryFrom<BTreeMap<Text<1, 256>, PolicyTool>> for PolicyTools {
    type Error = LimitError;

    fn try_from(tools: BTreeMap<Text<1, 256>, PolicyTool>) -> Result<Self, LimitError> {
        match tools.len() {
            found if found > MAX_TOOLS => Err(LimitError::List { min: 0, max: MAX_TOOLS, found }),
            _ => Ok(Self(tools)),
        }
    }
}

impl From<PolicyTools> for BTreeMap<Text<1, 256>, PolicyTool> {
    fn from(tools: PolicyTools) -> Self {
        tools.0
    }
}

impl JsonSchema for PolicyTools {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PolicyTools".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "maxProperties": MAX_TOOLS,
            "propertyNames": generator.subschema_for::<Text<1, 256>>(),
            "additionalProperties": generator.subschema_for::<PolicyTool>(),
        })
    }
}

/// What a policy says of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyTool {
    /// Whether a person confirms each call of it before it starts.
    pub confirm: bool,
    /// The programs it may start; none means the one that has the tool's name.
    pub programs: List<Text<1, 1024>, 0, 64>,
    /// What a call of it risks at least.
    pub risk: Risk,
}

impl EventContent for PolicyContent {}

/// How many tools a policy names at most.
const MAX_TOOLS: usize = 256;
