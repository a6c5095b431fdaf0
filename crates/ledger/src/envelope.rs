//! The envelope: how the desk orders a statement, or what the desk itself records (`docs/format.md` 5), and
//! the event, an envelope with its bytes and its hash.

use demur_core::{
    canonical::{self, ReadError, WriteError},
    commitment::Commitment,
    hash::{Digest, Purpose, digest},
    limit::{Limits, Whole},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    chain::Tip,
    event_type::{Facts, TypeName},
    name::{Position, PrincipalId, Sequence, StoreId, TraceId, object, present},
    proof::{AuthorProof, Proof},
    role::Role,
    statement::Statement,
};

/// The format this crate writes and reads.
pub const FORMAT: u64 = 1;

/// The desk's envelope. Fields stand in canonical order; every field is always there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Envelope {
    /// Whose event it is: the principal behind the proof, or the desk.
    pub actor: PrincipalId,
    /// Commitment to the content; the same as in the statement.
    pub content: Option<Commitment>,
    /// Counts restorations of the store, from 1.
    pub epoch: u64,
    /// Always 1.
    pub format: u64,
    /// The hash of the event before; none in the first.
    pub previous: Option<Digest>,
    /// What ties the statement to its author.
    pub proof: Proof,
    /// The desk's own facts, when there is no statement.
    pub record: Option<Record>,
    /// The newest registry event the desk went by; none only in the event that creates the store.
    pub registry: Option<Position>,
    /// The place in the trace, from 0.
    pub sequence: Sequence,
    /// The author's statement.
    pub statement: Option<Statement>,
    /// The store; none only in the event that creates it.
    pub store: Option<StoreId>,
    /// The desk's clock, never earlier than in the event before.
    pub time: Timestamp,
    /// The trace.
    pub trace: TraceId,
}

/// What the desk itself says, on its own word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The event of this trace that caused it.
    pub cause: Option<Sequence>,
    /// All that decides anything.
    pub facts: Facts,
    /// `desk`, or `operator` for what the operator told the desk.
    pub role: Role,
    /// The event type.
    #[serde(rename = "type")]
    pub kind: TypeName,
}

/// An event: an envelope, the exact bytes it stands in and their hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    envelope: Envelope,
    bytes: Vec<u8>,
    hash: Digest,
    statement: Option<std::ops::Range<usize>>,
}

impl Event {
    /// Returns the event of an envelope.
    pub fn seal(envelope: Envelope) -> Result<Self, SealError> {
        let bytes = canonical::to_vec(&envelope)?;
        let text = canonical::check(&bytes, &Limits::EVENT)?;
        let statement = match &envelope.statement {
            Some(_) => Some(statement_place(text)?),
            None => None,
        };
        let hash = event_hash(&bytes);
        Ok(Self { envelope, bytes, hash, statement })
    }

    /// Returns the event in these bytes, which must be the canonical JSON of an envelope of this format.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::from_checked(canonical::check(bytes, &Limits::EVENT)?)
    }

    /// Returns the event in a text that was checked to be canonical before.
    pub(crate) fn from_checked(text: &str) -> Result<Self, ReadError> {
        let wire: Wire<'_> = canonical::from_checked(text)?;
        let statement = wire.statement.map(|raw| place_in(text.as_bytes(), raw.get().as_bytes()));
        let envelope = Envelope {
            actor: wire.actor,
            content: wire.content,
            epoch: wire.epoch.as_u64(),
            format: wire.format.as_u64(),
            previous: wire.previous,
            proof: wire.proof,
            record: wire.record.map(WireRecord::into_record).transpose()?,
            registry: wire.registry,
            sequence: wire.sequence,
            statement: wire.statement.map(|raw| Statement::from_checked(raw.get())).transpose()?,
            store: wire.store,
            time: wire.time,
            trace: wire.trace,
        };
        Ok(Self { envelope, hash: event_hash(text.as_bytes()), bytes: text.into(), statement })
    }

    /// Returns the event of an envelope that stands in these bytes with its statement, as [`cut`](crate::export::cut)
    /// has found them.
    pub(crate) fn from_cut(envelope: Envelope, bytes: &[u8], statement: Option<&[u8]>) -> Self {
        let statement = statement.map(|statement| place_in(bytes, statement));
        Self { envelope, hash: event_hash(bytes), bytes: bytes.into(), statement }
    }

    /// Returns the same without its bytes, for readers that go by the envelope and the hash alone.
    pub(crate) fn without_bytes(envelope: Envelope, bytes: &[u8]) -> Self {
        Self { envelope, hash: event_hash(bytes), bytes: Vec::new(), statement: None }
    }

    /// Returns the envelope.
    pub const fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Returns the exact bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Frees the bytes; the envelope and the hash stay.
    pub(crate) fn forget_bytes(&mut self) {
        self.bytes = Vec::new();
        self.statement = None;
    }

    /// Returns the hash that names the event.
    pub const fn hash(&self) -> &Digest {
        &self.hash
    }

    /// Returns number and hash.
    pub const fn position(&self) -> Position {
        Position::new(self.envelope.sequence, self.hash)
    }

    /// Returns the exact bytes the author signed.
    pub fn statement_bytes(&self) -> Option<&[u8]> {
        self.statement.clone().map(|range| &self.bytes[range])
    }

    /// Returns the exact bytes the author signed, in the text that the event was read from.
    pub(crate) fn statement_in<'a>(&self, text: &'a str) -> Option<&'a [u8]> {
        self.statement.clone().and_then(|range| text.as_bytes().get(range))
    }

    /// Returns whether a later version made it: its type or its proof is not known here, and so neither is what follows from it.
    pub fn is_unknown(&self) -> bool {
        let unknown_type = self.said().is_ok_and(|said| matches!(said.kind, TypeName::Unknown(_)));
        unknown_type || matches!(self.envelope.proof, Proof::Unknown(_))
    }

    /// Returns type, role and facts, from the statement or the desk's record.
    pub fn said(&self) -> Result<Said<'_>, Disagreement> {
        match (&self.envelope.statement, &self.envelope.record) {
            (Some(statement), None) => {
                Ok(Said { kind: &statement.kind, role: statement.role, facts: &statement.facts })
            }
            (None, Some(record)) => Ok(Said { kind: &record.kind, role: record.role, facts: &record.facts }),
            (Some(_), Some(_)) => Err(Disagreement::TwoBodies),
            (None, None) => Err(Disagreement::NoBody),
        }
    }

    /// Returns what was said if envelope and statement tell one story, and what they disagree on if not.
    pub fn agree(&self) -> Result<Said<'_>, Disagreement> {
        let said = self.said()?;
        let envelope = &self.envelope;
        let first = envelope.sequence == Sequence::FIRST;
        check(first == envelope.previous.is_none(), "previous")?;
        check(envelope.store.is_none() == envelope.registry.is_none(), "registry")?;
        check(envelope.store.is_some() || first, "store")?;
        match (&envelope.statement, &envelope.proof) {
            (Some(_), Proof::None) | (None, Proof::Ed25519(_) | Proof::Webauthn(_)) => {
                return Err(Disagreement::Field("proof"));
            }
            // Beside what a later version's proof stands, that version knows.
            (None, Proof::None)
            | (Some(_), Proof::Ed25519(_) | Proof::Webauthn(_))
            | (_, Proof::Unknown(_)) => {}
        }
        if let Some(statement) = &envelope.statement {
            check(statement.store == envelope.store, "store")?;
            check(statement.trace == envelope.trace, "trace")?;
            check(statement.content == envelope.content, "content")?;
            check(statement.seen.is_none() == first, "seen")?;
            check(statement.seen.is_none_or(|seen| seen.sequence < envelope.sequence), "seen")?;
        }
        if let Some(record) = &envelope.record {
            check(record.cause.is_none_or(|cause| cause < envelope.sequence), "cause")?;
        }
        Ok(said)
    }
}

/// What the desk adds to an event besides its place.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The store; none only while it is being created.
    pub store: Option<StoreId>,
    /// The store's epoch.
    pub epoch: u64,
    /// The newest registry event.
    pub registry: Option<Position>,
    /// The desk's clock.
    pub now: Timestamp,
}

/// What an event carries: an author's statement, or the desk's own record.
#[derive(Clone, Debug)]
pub enum Body {
    /// A statement and its proof.
    Statement(Box<Statement>, AuthorProof),
    /// The desk's word, with the commitment to its content.
    Record(Box<Record>, Option<Commitment>),
}

impl Tip {
    /// Returns the next event with this body.
    pub fn envelop(&self, stamp: &Stamp, actor: PrincipalId, body: Body) -> Result<Event, SealError> {
        let (statement, proof, record, content) = match body {
            Body::Statement(statement, proof) => {
                let content = statement.content;
                (Some(*statement), proof.into(), None, content)
            }
            Body::Record(record, content) => (None, Proof::None, Some(*record), content),
        };
        Event::seal(Envelope {
            actor,
            content,
            epoch: stamp.epoch,
            format: FORMAT,
            previous: self.head().map(|head| head.hash),
            proof,
            record,
            registry: stamp.registry,
            sequence: self.next(),
            statement,
            store: stamp.store,
            time: self.time_at(stamp.now),
            trace: self.trace(),
        })
    }
}

/// Type, role and facts of an event.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The event type.
    pub kind: &'a TypeName,
    /// The role of its actor.
    pub role: Role,
    /// The facts.
    pub facts: &'a Facts,
}

/// Envelope and statement do not tell one story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// Neither a statement nor a record.
    #[error("expected a statement or a record, found neither")]
    NoBody,
    /// Both.
    #[error("expected a statement or a record, found both")]
    TwoBodies,
    /// A field contradicts another.
    #[error("the envelope's {0} contradicts the statement or the place of the event")]
    Field(&'static str),
}

/// An envelope that cannot become an event.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Caller misuse: a value that JSON cannot carry.
    #[error("the envelope cannot be written as canonical JSON")]
    Write(#[from] WriteError),
    /// Caller misuse: larger or deeper than an event may be.
    #[error("the envelope is not a readable event")]
    Read(#[from] ReadError),
}

/// Returns the hash of an envelope's canonical bytes.
pub fn event_hash(bytes: &[u8]) -> Digest {
    digest(Purpose::Envelope, &[bytes])
}

fn check(holds: bool, field: &'static str) -> Result<(), Disagreement> {
    if holds { Ok(()) } else { Err(Disagreement::Field(field)) }
}

/// Returns where the statement stands in an envelope's text.
fn statement_place(text: &str) -> Result<std::ops::Range<usize>, ReadError> {
    #[derive(Deserialize)]
    struct Only<'a> {
        #[serde(borrow)]
        statement: &'a RawValue,
    }
    let only: Only<'_> = canonical::from_checked(text)?;
    Ok(place_in(text.as_bytes(), only.statement.get().as_bytes()))
}

/// Returns where `part`, borrowed from `whole`, stands in it.
fn place_in(whole: &[u8], part: &[u8]) -> std::ops::Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

/// The envelope as it stands in JSON.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Envelope")]
pub(crate) struct Wire<'a> {
    actor: PrincipalId,
    #[serde(deserialize_with = "present")]
    content: Option<Commitment>,
    epoch: Whole<1, 9_007_199_254_740_991>,
    format: Whole<FORMAT, FORMAT>,
    #[serde(deserialize_with = "present")]
    previous: Option<Digest>,
    proof: Proof,
    #[serde(borrow, deserialize_with = "present")]
    record: Option<WireRecord<'a>>,
    #[serde(deserialize_with = "present")]
    registry: Option<Position>,
    sequence: Sequence,
    #[serde(borrow, deserialize_with = "present")]
    #[schemars(with = "Option<crate::statement::Wire<'static>>")]
    statement: Option<&'a RawValue>,
    #[serde(deserialize_with = "present")]
    store: Option<StoreId>,
    time: Timestamp,
    trace: TraceId,
}

/// The desk's record as it stands in JSON.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Record")]
pub(crate) struct WireRecord<'a> {
    #[serde(deserialize_with = "present")]
    cause: Option<Sequence>,
    #[serde(borrow, deserialize_with = "object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    facts: &'a RawValue,
    role: Role,
    #[serde(rename = "type")]
    kind: TypeName,
}

impl WireRecord<'_> {
    fn into_record(self) -> Result<Record, ReadError> {
        let facts = Facts::parse(&self.kind, self.facts)?;
        Ok(Record { cause: self.cause, facts, role: self.role, kind: self.kind })
    }
}
