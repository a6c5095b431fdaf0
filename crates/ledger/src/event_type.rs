//! The table of event types: one row each with the trace it belongs to, who may emit it, which proofs it takes,
//! its facts and its content (`docs/format.md` 6; LED-02, LED-09). Code, docs and verifier read this table.

mod table;

use std::fmt;

use demur_core::commitment::Commitment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use table::{Content, EventType, Facts};

use crate::{content::ContentRule, proof::ProofKind, role::Role};

/// The kind of trace an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// The one registry of a store.
    Registry,
    /// An accountable run of the four roles.
    Run,
    /// A plan and the questions about it, or a question of its own.
    Work,
    /// The one journal of a store: who signed in.
    Journal,
}

impl TraceKind {
    /// Returns the word used in the docs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registry => "registry",
            Self::Run => "run",
            Self::Work => "work",
            Self::Journal => "journal",
        }
    }
}

/// Whether an event type is the first of its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    /// It is, and stands nowhere else.
    Always,
    /// It can be, and then opens a trace of work.
    Maybe,
    /// It never is.
    Never,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct EventRule {
    /// Where it may stand.
    pub traces: &'static [TraceKind],
    /// Whether it is the first event of its trace.
    pub opens: Opens,
    /// Who may emit it.
    pub roles: &'static [Role],
    /// Which proofs it takes.
    pub proofs: &'static [ProofKind],
    /// Whether it has content.
    pub content: ContentRule,
    /// Whether seed 002 lists it among the six types that must be signed.
    pub mandatory_in_seed: bool,
    /// What it says, in one sentence.
    pub meaning: &'static str,
}

impl EventType {
    /// Returns whether it may stand in a trace of this kind.
    pub fn stands_in(self, trace: TraceKind) -> bool {
        self.rule().traces.contains(&trace)
    }

    /// Returns the kind of trace that it opens, if it can.
    pub fn opened(self) -> Option<TraceKind> {
        match self.rule().opens {
            Opens::Always => self.rule().traces.first().copied(),
            Opens::Maybe => Some(TraceKind::Work),
            Opens::Never => None,
        }
    }

    /// Returns whether one of `roles` in the row is this role.
    pub fn admits_role(self, role: Role) -> bool {
        self.rule().roles.contains(&role)
    }

    /// Returns whether the row takes this kind of proof.
    pub fn admits_proof(self, proof: ProofKind) -> bool {
        self.rule().proofs.contains(&proof)
    }
}

impl EventType {
    /// Returns whether an event of this type records bytes: they are stored beside it, and in an export its artifact line
    /// follows it.
    pub const fn records_bytes(self) -> bool {
        matches!(self, Self::ArtifactRecorded | Self::ReportRecorded)
    }
}

impl Facts {
    /// Returns the commitment to the bytes that the event records, if it records any.
    pub const fn recorded_bytes(&self) -> Option<&Commitment> {
        match self {
            Self::ArtifactRecorded(facts) => Some(&facts.commitment),
            Self::ReportRecorded(facts) => Some(&facts.commitment),
            _ => None,
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The type of an event as it stands in the file: known to this version, or only a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "&str", into = "String")]
pub enum TypeName {
    /// In the table.
    Known(EventType),
    /// Not in the table: a later version made it. Integrity can be checked, meaning cannot.
    Unknown(String),
}

impl TypeName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(event_type) => event_type.as_str(),
            Self::Unknown(name) => name,
        }
    }

    /// Returns the type, if this version knows it.
    pub const fn known(&self) -> Option<EventType> {
        match self {
            Self::Known(event_type) => Some(*event_type),
            Self::Unknown(_) => None,
        }
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<EventType> for TypeName {
    fn from(event_type: EventType) -> Self {
        Self::Known(event_type)
    }
}

impl From<TypeName> for String {
    fn from(name: TypeName) -> Self {
        match name {
            TypeName::Known(event_type) => event_type.as_str().to_owned(),
            TypeName::Unknown(name) => name,
        }
    }
}

impl TryFrom<&str> for TypeName {
    type Error = TypeNameError;

    fn try_from(name: &str) -> Result<Self, TypeNameError> {
        if let Some(event_type) = EventType::from_name(name) {
            return Ok(Self::Known(event_type));
        }
        let starts = name.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        let fits = name.len() <= 64
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if starts && fits { Ok(Self::Unknown(name.to_owned())) } else { Err(TypeNameError) }
    }
}

impl JsonSchema for TypeName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TypeName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"})
    }
}

/// Text that cannot name an event type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an event type of up to 64 lower-case letters, digits and underscores, beginning with a letter"
)]
pub struct TypeNameError;

/// Facts of an event type this version does not know, kept to the byte.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct UnknownFacts(pub(crate) Box<RawValue>);

impl PartialEq for UnknownFacts {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for UnknownFacts {}
