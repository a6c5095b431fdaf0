//! Content of what the desk records and of registry events.

use demur_core::limit::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventContent;
use crate::name::present;

/// A name: of a store, of whoever holds a key. The desk's claim, never proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameContent {
    /// The name.
    pub name: Text<1, 256>,
}

/// What a person calls a passkey.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LabelContent {
    /// The label.
    pub label: Text<1, 256>,
}

/// A remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteContent {
    /// The remark.
    pub note: Text<1, 4096>,
}

/// Why content was erased. It names none of what it was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureContent {
    /// The reason.
    pub why: Text<1, 4096>,
}

/// What the refused author was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusalContent {
    /// The field it is about, as a dotted path.
    #[serde(deserialize_with = "present")]
    pub field: Option<Text<1, 256>>,
    /// What was expected, what was found, what to do.
    pub message: Text<1, 4096>,
}

impl EventContent for NameContent {}
impl EventContent for LabelContent {}
impl EventContent for NoteContent {}
impl EventContent for RefusalContent {}
impl EventContent for ErasureContent {}
