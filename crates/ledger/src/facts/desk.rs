//! Facts of what the desk itself records in a run: abort, recovery, refusals, erasure.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{Attribution, EventFacts, MaybeAttribution};
use crate::name::{CommandId, Position, PrincipalId, Sequence, present};

/// The operator ended the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionAborted {
    /// The way it came, where the desk recorded it; null beside a signature.
    #[serde(deserialize_with = "present")]
    pub attribution: MaybeAttribution,
}

/// The desk came back after a crash and found the trace whole up to here (LED-22).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryRecorded {
    /// The last complete event.
    pub through: Position,
}

/// The desk refused a command of a participant; the state of the run did not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRefused {
    /// Why.
    pub code: RefusalCode,
    /// Which command.
    pub command: CommandId,
    /// Whose.
    pub principal: PrincipalId,
}

/// The words of an event are gone from the store: its content and salt, its artifact, and every paper since that may quote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentErased {
    /// The event whose words they were.
    pub event: Sequence,
}

/// A stable refusal code: an upper-case word such as `ROLE_FORBIDDEN`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RefusalCode(String);

impl JsonSchema for RefusalCode {
    fn schema_name() -> Cow<'static, str> {
        "RefusalCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,63}$"})
    }
}

impl RefusalCode {
    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RefusalCode {
    type Error = RefusalCodeError;

    fn try_from(text: String) -> Result<Self, RefusalCodeError> {
        let starts = text.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
        let fits = text.len() <= 64
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if starts && fits { Ok(Self(text)) } else { Err(RefusalCodeError) }
    }
}

impl From<RefusalCode> for String {
    fn from(code: RefusalCode) -> String {
        code.0
    }
}

/// Text that is no refusal code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a refusal code of up to 64 upper-case letters, digits and underscores")]
pub struct RefusalCodeError;

impl EventFacts for SessionAborted {
    attributed!();
}

impl EventFacts for RecoveryRecorded {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.through.sequence);
    }
}

impl EventFacts for CommandRefused {}

impl EventFacts for ContentErased {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.event);
    }
}
