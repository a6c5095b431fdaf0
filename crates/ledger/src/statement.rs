//! The statement: what an author signs, independent of where the desk puts it (`docs/format.md` 3).

use demur_core::{
    canonical::{self, ReadError, WriteError},
    commitment::Commitment,
    hash::{Digest, Purpose, digest},
    limit::Limits,
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    content::Opening,
    event_type::{Facts, TypeName},
    name::{CommandId, Position, StoreId, TraceId, object, present},
    proof::AuthorProof,
    role::Role,
};

/// An author's statement. Fields stand in canonical order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// The author's own name for this command; unique per author key and store.
    pub command: CommandId,
    /// Commitment to the content, with a salt the author drew.
    pub content: Option<Commitment>,
    /// All that decides anything.
    pub facts: Facts,
    /// The desk refuses the statement after this.
    pub not_after: Timestamp,
    /// What the author speaks as.
    pub role: Role,
    /// The last event of this trace that the author knew; none when it opens the trace.
    pub seen: Option<Position>,
    /// The store; none only in the statement that creates it.
    pub store: Option<StoreId>,
    /// The trace.
    pub trace: TraceId,
    /// The event type.
    #[serde(rename = "type")]
    pub kind: TypeName,
}

impl Statement {
    /// Returns the statement in these bytes, which must be canonical JSON.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::from_checked(canonical::check(bytes, &Limits::EVENT)?)
    }

    /// Returns the statement in a text that was checked to be canonical before.
    pub(crate) fn from_checked(text: &str) -> Result<Self, ReadError> {
        let wire: Wire<'_> = canonical::from_checked(text)?;
        Ok(Self {
            command: wire.command,
            content: wire.content,
            facts: Facts::parse(&wire.kind, wire.facts)?,
            not_after: wire.not_after,
            role: wire.role,
            seen: wire.seen,
            store: wire.store,
            trace: wire.trace,
            kind: wire.kind,
        })
    }

    /// Returns the bytes that are signed and embedded.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WriteError> {
        canonical::to_vec(self)
    }
}

/// Returns the hash that names a statement in a receipt.
pub fn statement_hash(bytes: &[u8]) -> Digest {
    digest(Purpose::Statement, &[bytes])
}

/// What an author sends to the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The statement's canonical bytes.
    pub statement: Vec<u8>,
    /// The author's signature over them, or a passkey's assertion.
    pub proof: AuthorProof,
    /// The content the statement commits to.
    pub opening: Option<Opening>,
}

/// The statement as it stands in JSON; facts are read once the type is known.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Statement")]
pub(crate) struct Wire<'a> {
    command: CommandId,
    #[serde(deserialize_with = "present")]
    content: Option<Commitment>,
    #[serde(borrow, deserialize_with = "object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    facts: &'a RawValue,
    not_after: Timestamp,
    role: Role,
    #[serde(deserialize_with = "present")]
    seen: Option<Position>,
    #[serde(deserialize_with = "present")]
    store: Option<StoreId>,
    trace: TraceId,
    #[serde(rename = "type")]
    kind: TypeName,
}
