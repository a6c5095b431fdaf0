//! Content of confirmations and operations: what is to be done, what follows from it, and the exact operation.

use demur_core::{
    canonical::{self, WriteError},
    hash::{Digest, sha256},
    limit::Text,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{EventContent, Shown};
use crate::{facts::Risk, name::present};

/// An operation, whole: its canonical JSON is what a digest binds.
pub type OperationObject = Map<String, Value>;

/// Returns the digest that a confirmation binds: SHA-256 of the canonical JSON of the operation.
pub fn operation_digest(operation: &OperationObject) -> Result<Digest, WriteError> {
    canonical::to_vec(operation).map(|bytes| sha256(&bytes))
}

/// Returns the call of a tool in a run as an operation: what a confirmation about its intent is for.
pub fn call_operation(tool: &str, input: &Digest) -> OperationObject {
    let members = [("input", input.to_string()), ("tool", tool.to_owned())];
    members.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
}

/// An operation put before somebody (ONE-09).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationAskContent {
    /// What is to be done, in words.
    pub action: Text<1, 4096>,
    /// What follows from it.
    #[serde(deserialize_with = "present")]
    pub consequence: Option<Text<1, 4096>>,
    /// SHA-256 of the canonical JSON of `operation`.
    pub digest: Digest,
    /// The language of the words, as a BCP 47 tag.
    pub language: Text<2, 64>,
    /// The operation itself; in a run `{"input":input_hash,"tool":tool}` of the intent.
    pub operation: OperationObject,
    /// How risky the asker says it is.
    pub risk: Risk,
}

/// A yes in words, and what its author had before them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationGivenContent {
    /// Who the desk says it was, where no key stands behind it.
    #[serde(deserialize_with = "present")]
    pub by: Option<Text<1, 256>>,
    /// The digest of the operation, the same as was asked about.
    pub digest: Digest,
    /// Why, in their words.
    #[serde(deserialize_with = "present")]
    pub note: Option<Text<1, 4096>>,
    /// What they were shown.
    #[serde(deserialize_with = "present")]
    pub shown: Option<Shown>,
}

/// A no in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationRefusedContent {
    /// Who the desk says it was, where no key stands behind it.
    #[serde(deserialize_with = "present")]
    pub by: Option<Text<1, 256>>,
    /// The digest of the operation, the same as was asked about.
    pub digest: Digest,
    /// An operation they would confirm. It needs a confirmation of its own.
    #[serde(deserialize_with = "present")]
    pub instead: Option<OperationObject>,
    /// Why, in their words.
    #[serde(deserialize_with = "present")]
    pub note: Option<Text<1, 4096>>,
    /// What they were shown.
    #[serde(deserialize_with = "present")]
    pub shown: Option<Shown>,
}

/// What an operation is, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationContent {
    /// SHA-256 of the canonical JSON of `operation`, exactly where that is told.
    #[serde(deserialize_with = "present")]
    pub digest: Option<Digest>,
    /// In the agent's words.
    #[serde(deserialize_with = "present")]
    pub note: Option<Text<1, 4096>>,
    /// The operation itself; told where it spends a confirmation.
    #[serde(deserialize_with = "present")]
    pub operation: Option<OperationObject>,
}

/// Which operation is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationEndContent {
    /// The digest of the operation, the same as at its beginning.
    #[serde(deserialize_with = "present")]
    pub digest: Option<Digest>,
}

impl EventContent for ConfirmationAskContent {}
impl EventContent for ConfirmationGivenContent {}
impl EventContent for ConfirmationRefusedContent {}
impl EventContent for OperationContent {}
impl EventContent for OperationEndContent {}
