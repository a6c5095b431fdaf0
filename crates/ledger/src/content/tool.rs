//! Content of tool calls and their artifacts.

use demur_core::{
    hash::Digest,
    limit::{List, Text, Whole},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventContent;
use crate::name::present;

/// What the executor is about to do and why (LED-11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntentContent {
    /// SHA-256 of the normalized input: the canonical JSON of the tool's arguments.
    pub input_hash: Digest,
    /// Why this call is needed, and how it meets the conditions it names.
    pub justification: Text<1, 16384>,
    /// The tool.
    pub tool: Text<1, 256>,
}

/// Why the critic let an intent through or blocked it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RationaleContent {
    /// The reasons.
    pub rationale: Text<1, 16384>,
}

/// Under which limits the tool runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionContent {
    /// Each limit in force, and each that could not be put in force, in words. One that begins with `sandbox: ` says whether the
    /// tool was held to everything that its policy demands.
    pub limits: List<Text<1, 1024>, 0, 32>,
}

impl ExecutionContent {
    /// Returns whether the tool was held to everything, in the words of whoever ran it; none where nothing is said.
    pub fn sandbox(&self) -> Option<&str> {
        self.limits.iter().find_map(|limit| limit.strip_prefix("sandbox: "))
    }
}

/// How the tool ended (LED-33).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionResultContent {
    /// How long it took, in milliseconds.
    pub duration_ms: Whole<0, 9_007_199_254_740_991>,
    /// Its exit status, where it has one.
    #[serde(deserialize_with = "present")]
    pub exit_status: Option<Whole<0, 255>>,
    /// What else is worth knowing.
    #[serde(deserialize_with = "present")]
    pub note: Option<Text<1, 16384>>,
}

/// How and why the tool failed (LED-33).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureContent {
    /// How long it took, in milliseconds.
    pub duration_ms: Whole<0, 9_007_199_254_740_991>,
    /// Its exit status, where it has one.
    #[serde(deserialize_with = "present")]
    pub exit_status: Option<Whole<0, 255>>,
    /// What went wrong.
    pub message: Text<1, 16384>,
}

/// What the stored bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactContent {
    /// The media type, such as `text/plain`.
    pub media_type: Text<1, 256>,
    /// A name for people.
    pub name: Text<1, 1024>,
    /// How many bytes.
    pub size: Whole<0, 9_007_199_254_740_991>,
}

impl EventContent for IntentContent {}
impl EventContent for RationaleContent {}
impl EventContent for ExecutionContent {}
impl EventContent for ExecutionResultContent {}
impl EventContent for FailureContent {}
impl EventContent for ArtifactContent {}
