//! Events that a newer version of demur wrote (`docs/format.md` 12): new types, proofs and values. This version cannot say
//! what they mean, so it refuses to go on; and it never takes them for damage. What can be seen of them from outside says
//! which of the two it is: they have the hash they were recorded under, and they follow the event before them.

use std::fmt;

use demur_core::{
    canonical,
    commitment::Commitment,
    hash::Digest,
    key::Batch,
    limit::{Limits, Whole},
    time::Timestamp,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    chain::Tip,
    envelope::{Event, FORMAT, event_hash},
    event_type::{Facts, TypeName},
    name::{Position, Sequence, TraceId, present},
    proof::{Proof, ProofError, Subject},
    registry::Registry,
    role::Role,
};

/// What a newer version wrote that this one does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Newer {
    /// Another format.
    Format(u64),
    /// An event type.
    Type(String),
    /// A kind of proof.
    Proof(String),
    /// A role, or a value among the facts of a type.
    Value(String),
}

impl fmt::Display for Newer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(found) => write!(formatter, "format {found}"),
            Self::Type(name) => write!(formatter, "the event type {name}"),
            Self::Proof(name) => write!(formatter, "the proof {name}"),
            Self::Value(name) => write!(formatter, "a new value in {name}"),
        }
    }
}

/// A stored event, as far as this version can read it.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every event is known, and a box for each would cost more"
)]
pub enum Reading<'a> {
    /// An event of this version.
    Known(Event),
    /// An event of a newer version.
    Newer(NewerEvent<'a>),
    /// Not what was recorded.
    Damaged,
}

impl<'a> Reading<'a> {
    /// Reads the bytes that were recorded under a hash.
    pub fn of(bytes: &'a [u8], recorded: &Digest) -> Self {
        let event = match Event::parse(bytes) {
            Ok(event) if !event.is_unknown() => Some(event),
            _ => None,
        };
        match event {
            Some(event) if event.hash() == recorded => Self::Known(event),
            Some(_) => Self::Damaged,
            None => {
                let newer = NewerEvent::of(bytes).filter(|newer| newer.hash == *recorded);
                newer.map_or(Self::Damaged, Self::Newer)
            }
        }
    }
}

/// An event of a newer version, seen from outside.
#[derive(Debug)]
pub struct NewerEvent<'a> {
    newer: Newer,
    hash: Digest,
    /// None in another format.
    frame: Option<Frame<'a>>,
}

impl<'a> NewerEvent<'a> {
    /// Returns what these bytes are, if a newer version may have written them.
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let text = canonical::check(bytes, &Limits::EVENT).ok()?;
        let hash = event_hash(bytes);
        let AnyFormat { format } = canonical::from_checked(text).ok()?;
        if format.as_u64() > FORMAT {
            return Some(Self { newer: Newer::Format(format.as_u64()), hash, frame: None });
        }
        let frame: Frame<'_> = canonical::from_checked(text).ok()?;
        Some(Self { newer: frame.newer()?, hash, frame: Some(frame) })
    }

    /// Returns what this version does not know.
    pub fn newer(&self) -> &Newer {
        &self.newer
    }

    /// Returns the event's hash.
    pub const fn hash(&self) -> &Digest {
        &self.hash
    }

    /// Returns whether it stands at this place, as far as that can be seen.
    pub fn stands(&self, trace: TraceId, sequence: Sequence, previous: Option<Digest>) -> bool {
        self.frame
            .as_ref()
            .is_none_or(|frame| (frame.trace, frame.sequence, frame.previous) == (trace, sequence, previous))
    }

    /// Returns whether it follows the end of a trace, as far as that can be seen.
    pub fn follows(&self, tip: &Tip) -> bool {
        self.stands(tip.trace(), tip.next(), tip.head().map(|head| head.hash))
    }

    /// Returns its trace, if that can be seen.
    pub fn trace(&self) -> Option<TraceId> {
        self.frame.as_ref().map(|frame| frame.trace)
    }

    /// Returns the registry event that it went by, if that can be seen.
    pub fn registry(&self) -> Option<Position> {
        self.frame.as_ref()?.registry
    }

    /// Returns its time and what its content commits to, if that can be seen.
    pub fn shown(&self) -> Option<(Timestamp, Option<Commitment>)> {
        self.frame.as_ref().map(|frame| (frame.time, frame.content))
    }

    /// Adds to the batch what proves it, if this version knows its proof.
    pub fn check(&self, keys: Option<&Registry>, batch: &mut Batch) -> Result<(), ProofError> {
        let Some(frame) = &self.frame else { return Ok(()) };
        let Ok(proof) = serde_json::from_str::<Proof>(frame.proof.get()) else { return Ok(()) };
        let statement = frame.statement.map(|statement| statement.get().as_bytes());
        proof.check(&Subject::of_parts(&self.hash, statement), keys, batch)
    }
}

/// What every event has, in whatever format.
#[derive(Deserialize)]
struct AnyFormat {
    format: Whole<1, 9_007_199_254_740_991>,
}

/// What an event of this format shows of itself, whatever its type and proof are.
#[derive(Debug, Deserialize)]
struct Frame<'a> {
    #[serde(deserialize_with = "present")]
    content: Option<Commitment>,
    #[serde(deserialize_with = "present")]
    previous: Option<Digest>,
    #[serde(borrow)]
    proof: &'a RawValue,
    #[serde(borrow, deserialize_with = "present")]
    record: Option<&'a RawValue>,
    #[serde(deserialize_with = "present")]
    registry: Option<Position>,
    sequence: Sequence,
    #[serde(borrow, deserialize_with = "present")]
    statement: Option<&'a RawValue>,
    time: Timestamp,
    trace: TraceId,
}

impl Frame<'_> {
    fn newer(&self) -> Option<Newer> {
        let proof = proof_name(self.proof.get())?;
        if !["ed25519", "none", "webauthn"].contains(&proof.as_str()) {
            return Some(Newer::Proof(proof));
        }
        let body: Body<'_> = serde_json::from_str(self.statement.or(self.record)?.get()).ok()?;
        if matches!(body.kind, TypeName::Unknown(_)) {
            return Some(Newer::Type(body.kind.into()));
        }
        let reads = Role::from_name(body.role).is_some() && Facts::parse(&body.kind, body.facts).is_ok();
        (!reads).then(|| Newer::Value(body.kind.into()))
    }
}

/// What a statement and a record of the desk have in common.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    facts: &'a RawValue,
    role: &'a str,
    #[serde(rename = "type")]
    kind: TypeName,
}

/// Returns the name of a proof; none if nothing can be called so.
fn proof_name(text: &str) -> Option<String> {
    let name = match serde_json::from_str(text).ok()? {
        Value::String(name) => name,
        Value::Object(fields) if fields.len() == 1 => fields.into_iter().next()?.0,
        _ => return None,
    };
    // The names of proofs are made like those of event types.
    TypeName::try_from(name.as_str()).is_ok().then_some(name)
}
