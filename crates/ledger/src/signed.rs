//! What the desk signs besides events: heads, receipts, checkpoints (`docs/format.md` 8).

use demur_core::{
    canonical::{self, ReadError, WriteError},
    hash::{Digest, Purpose},
    key::{PublicKey, SecretKey, SignatureError},
    limit::{Limits, Text, Whole},
    merkle::{self, Scheme},
    time::Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    name::{Position, Sequence, StoreId, TraceId},
    proof::KeySignature,
};

/// A document the desk signs.
pub trait Document: Serialize + DeserializeOwned {
    /// The purpose its signature is made for.
    const PURPOSE: Purpose;
}

/// A document with the desk's signature over its canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signed<T> {
    /// What is signed.
    pub document: T,
    /// By which key.
    pub proof: KeySignature,
}

impl<T: Document> Signed<T> {
    /// Returns the document signed with the desk's key.
    pub fn new(document: T, key: &SecretKey) -> Result<Self, WriteError> {
        let bytes = canonical::to_vec(&document)?;
        Ok(Self { document, proof: KeySignature::sign(key, T::PURPOSE, &bytes) })
    }

    /// Returns the signed document in these bytes, which must be canonical JSON.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        canonical::from_canonical(bytes, &Limits::EVENT)
    }

    /// Checks the signature with the key that the registry has under its fingerprint.
    pub fn verify(&self, key: &PublicKey) -> Result<(), SignedError> {
        if key.fingerprint() != self.proof.key {
            return Err(SignedError::OtherKey);
        }
        let bytes = canonical::to_vec(&self.document)?;
        Ok(key.verify(T::PURPOSE, &bytes, &self.proof.signature)?)
    }
}

/// A signed document that does not hold.
#[derive(Debug, thiserror::Error)]
pub enum SignedError {
    /// Caller misuse: checked with a key other than the one named.
    #[error("expected the key named in the proof, found another")]
    OtherKey,
    /// The signature is not the key's.
    #[error("the desk's signature does not hold")]
    Signature(#[from] SignatureError),
    /// Ours: a document that cannot be written.
    #[error("the document cannot be written as canonical JSON")]
    Write(#[from] WriteError),
}

/// The head of one trace after one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The store's epoch.
    pub epoch: u64,
    /// The newest event of the trace.
    pub head: Position,
    /// The newest registry event at that moment.
    pub registry: Position,
    /// The store.
    pub store: StoreId,
    /// The trace.
    pub trace: TraceId,
}

impl Document for Head {
    const PURPOSE: Purpose = Purpose::Head;
}

/// What an asker or answerer takes home: this event is in the ledger, here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The store's epoch.
    pub epoch: u64,
    /// The event.
    pub event: Position,
    /// The newest registry event at that moment.
    pub registry: Position,
    /// The hash of the holder's statement.
    pub statement: Digest,
    /// The store.
    pub store: StoreId,
    /// When the event was recorded.
    pub time: Timestamp,
    /// The trace.
    pub trace: TraceId,
}

impl Document for Receipt {
    const PURPOSE: Purpose = Purpose::Receipt;
}

/// The last line of an export: binds everything before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// SHA-256, purpose `export`, over all bytes before this line.
    pub bytes: Digest,
    /// The store's epoch.
    pub epoch: u64,
    /// The last event of the trace in this file.
    pub head: Position,
    /// The last registry event in this file.
    pub registry: Position,
    /// The store.
    pub store: StoreId,
    /// When the export was made, by the desk's clock.
    pub time: Timestamp,
    /// The trace.
    pub trace: TraceId,
}

impl Document for Checkpoint {
    const PURPOSE: Purpose = Purpose::Checkpoint;
}

/// The root over all traces of a store at one moment. No export holds it: a data folder keeps the newest one beside the
/// database, so that a trace that is taken away is missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreRoot {
    /// The store's epoch.
    pub epoch: u64,
    /// The moment, as the store counts its commits.
    pub moment: Text<1, 32>,
    /// The newest registry event at that moment.
    pub registry: Position,
    /// The root of the tree over all traces, the registry among them.
    pub root: Digest,
    /// The store.
    pub store: StoreId,
    /// When the root was taken, by the desk's clock.
    pub time: Timestamp,
    /// How many traces are under it.
    pub traces: Whole<1, 9_007_199_254_740_991>,
}

/// Told from the last line of an export by its members.
impl Document for StoreRoot {
    const PURPOSE: Purpose = Purpose::Checkpoint;
}

/// A trace as a leaf of the tree over all traces: its hash input is the canonical JSON of this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceLeaf {
    /// The hash of its last event.
    pub head: Digest,
    /// How many events it had.
    pub length: Whole<1, 9_007_199_254_740_991>,
    /// The trace.
    pub trace: TraceId,
}

impl TraceLeaf {
    /// Returns the leaf's hash.
    pub fn hash(&self) -> Result<Digest, WriteError> {
        Ok(merkle::leaf_hash(Scheme::DEMUR, &canonical::to_vec(self)?))
    }
}

/// Shows that a trace stood under a root that a registry event recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inclusion {
    /// Its place among the leaves, from 0.
    pub index: Whole<0, 9_007_199_254_740_991>,
    /// The leaf.
    pub leaf: TraceLeaf,
    /// The hashes beside the way to the root, lowest first.
    pub path: demur_core::limit::List<Digest, 0, 53>,
    /// The registry event that recorded the root.
    pub registry: Sequence,
}
