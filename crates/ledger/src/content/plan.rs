//! Content of plans: what was submitted, the rules it was held against, where every value came from.

use demur_core::{
    hash::Digest,
    limit::{List, Text},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::EventContent;
use crate::name::Sequence;

/// A plan as it was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanContent {
    /// The agent that wants to act, by its name in the clarification protocol.
    pub agent: Text<1, 256>,
    /// The plan.
    pub plan: Map<String, Value>,
    /// The session of the clarification protocol: a UUID.
    pub session: Text<36, 36>,
}

/// The rules of a trace, whole: detection can be run again from this alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesContent {
    /// The layered rules as one document.
    pub document: Map<String, Value>,
    /// SHA-256 of the document's canonical JSON.
    pub hash: Digest,
    /// The packs they were layered from, lowest first.
    pub packs: List<Text<1, 256>, 1, 32>,
}

/// A plan as its agent amended it, with every answer so far in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendedContent {
    /// The plan.
    pub plan: Map<String, Value>,
}

/// The plan with all answers in it, and where every settled value came from (ONE-08).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationContent {
    /// The plan.
    pub plan: Map<String, Value>,
    /// The source of every value, entries of lists one by one.
    pub provenance: List<Provenance, 0, 1024>,
}

/// Where a value of a plan came from: an earlier event of this trace and a place in its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The field of the plan, as a dotted path.
    pub field: Text<1, 256>,
    /// The place in the content of that event, as a JSON pointer.
    pub pointer: Text<0, 512>,
    /// The event.
    pub source: Sequence,
}

/// What was made of a confirmed plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttestationContent {
    /// The attestation of the clarification protocol, signed by the desk; the agent's signature is under this event.
    pub attestation: Map<String, Value>,
}

/// A document that the desk signed when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaperContent {
    /// The document, in the form that `docs/clarify.md` gives its kind.
    pub paper: Map<String, Value>,
}

impl EventContent for PlanContent {}
impl EventContent for RulesContent {}
impl EventContent for AmendedContent {}
impl EventContent for ConfirmationContent {}
impl EventContent for AttestationContent {}
impl EventContent for PaperContent {}
