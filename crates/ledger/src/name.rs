//! The names of things: stores, traces, commands, principals, positions (`docs/format.md` 2).

use std::{borrow::Cow, fmt};

use demur_core::{hash::Digest, id::Ulid, ulid_id};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;

ulid_id! {
    /// One trace: the record of one piece of work. Chosen by whoever opens it.
    pub struct TraceId;
}
ulid_id! {
    /// One command of an author; unique per author key and store, so that a retry is recognized.
    pub struct CommandId;
}
ulid_id! {
    /// Whoever controls a set of keys: an agent, a person, the desk. Names are content, this is not.
    pub struct PrincipalId;
}
ulid_id! {
    /// A program that speaks to the desk: a token, an MCP connection or the command of an agent in a run.
    pub struct ClientId;
}
ulid_id! {
    /// A token by its public name, which is no secret.
    pub struct TokenId;
}
ulid_id! {
    /// A person whom the desk knows.
    pub struct PersonId;
}

ulid_id! {
    /// A session that somebody signed in to.
    pub struct SessionId;
}

impl PersonId {
    /// Returns the person as an actor: whoever speaks with a passkey speaks in their own name.
    pub fn principal(self) -> PrincipalId {
        self.as_ulid().into()
    }
}

/// The session of a browser is a token, too: under one name in both places.
impl From<TokenId> for SessionId {
    fn from(token: TokenId) -> Self {
        token.as_ulid().into()
    }
}

impl From<SessionId> for TokenId {
    fn from(session: SessionId) -> Self {
        session.as_ulid().into()
    }
}

impl From<PrincipalId> for PersonId {
    fn from(principal: PrincipalId) -> Self {
        principal.as_ulid().into()
    }
}

impl ClientId {
    /// Returns the name of a client that is told by these bytes: the same for the same bytes.
    pub fn of_digest(digest: &Digest) -> Self {
        let bytes = digest.as_bytes();
        let high = bytes.iter().take(16).fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        Ulid::from_u128(high).into()
    }
}

/// The desk stands in the place of a client where it plays a role itself; it is none.
impl From<PrincipalId> for ClientId {
    fn from(principal: PrincipalId) -> Self {
        principal.as_ulid().into()
    }
}

impl TraceId {
    /// Returns the trace of the session of a plan: the 128 bits of its UUID under another name.
    pub fn of_session(uuid: u128) -> Self {
        Ulid::from_u128(uuid).into()
    }
}

/// A store, named by the hash of the first event of its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct StoreId(Digest);

impl StoreId {
    /// Returns the name of the store whose registry begins with the event of this hash.
    pub const fn new(first_event: Digest) -> Self {
        Self(first_event)
    }

    /// Returns the hash behind the name.
    pub const fn as_digest(&self) -> &Digest {
        &self.0
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An event of a trace by number and hash. The first event of a trace has sequence 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The event's hash.
    pub hash: Digest,
    /// Its place in the trace.
    pub sequence: Sequence,
}

impl Position {
    /// Returns the position of the event with this number and hash.
    pub const fn new(sequence: Sequence, hash: Digest) -> Self {
        Self { hash, sequence }
    }
}

/// The place of an event in its trace. Facts refer to earlier events of the same trace by it; the author's
/// signature covers `seen`, and with it everything up to there, so a number is as binding as a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Sequence(u64);

impl JsonSchema for Sequence {
    fn schema_name() -> Cow<'static, str> {
        "Sequence".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": MAX_SEQUENCE})
    }
}

impl Sequence {
    /// The first event of a trace.
    pub const FIRST: Self = Self(0);

    /// Returns the number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the place of the event at this index of a list. No list in memory reaches the limit.
    pub fn at(index: usize) -> Self {
        Self((index as u64).min(MAX_SEQUENCE))
    }

    /// Returns the index in a list of all events of the trace.
    pub fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }

    /// Returns the place after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl TryFrom<u64> for Sequence {
    type Error = SequenceTooLarge;

    fn try_from(number: u64) -> Result<Self, SequenceTooLarge> {
        if number > MAX_SEQUENCE { Err(SequenceTooLarge { number }) } else { Ok(Self(number)) }
    }
}

impl From<Sequence> for u64 {
    fn from(sequence: Sequence) -> u64 {
        sequence.0
    }
}

impl From<u32> for Sequence {
    fn from(number: u32) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// A sequence that JSON numbers cannot carry exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a sequence of at most 9007199254740990, found {number}")]
pub struct SequenceTooLarge {
    number: u64,
}

/// Something an agent does that a question can block, such as `build`: a name, never words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Operation(String);

impl Operation {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Operation {
    type Error = OperationError;

    fn try_from(name: String) -> Result<Self, OperationError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        if (1..=64).contains(&name.len()) && name.bytes().all(fits) {
            Ok(Self(name))
        } else {
            Err(OperationError)
        }
    }
}

impl From<Operation> for String {
    fn from(operation: Operation) -> Self {
        operation.0
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl JsonSchema for Operation {
    fn schema_name() -> Cow<'static, str> {
        "Operation".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_.:/-]{1,64}$"})
    }
}

/// Text that names no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an operation of 1 to 64 letters, digits and any of _ . : / -")]
pub struct OperationError;

/// Deserializes an optional field that must be there: serde alone would take a missing field for `null`, and
/// then two texts would mean one statement.
pub(crate) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// Deserializes an object that is read later, once its type is known, or never, where this version does not know it.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'de RawValue, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    if raw.get().starts_with('{') { Ok(raw) } else { Err(D::Error::custom("expected an object")) }
}

/// Deserializes such an object, or null where there is none.
pub(crate) fn object_or_null<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    let raw = Option::<&RawValue>::deserialize(deserializer)?;
    raw.map(object).transpose().map_err(D::Error::custom)
}

/// One below 2^53-1, so that the next sequence can always be written.
const MAX_SEQUENCE: u64 = (1 << 53) - 2;
