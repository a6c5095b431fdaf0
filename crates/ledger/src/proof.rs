//! Proofs: what ties a statement to its author (`docs/format.md` 4). What each proof is and how it is checked stands
//! here alone: others ask [`Proof::key`] and [`Proof::check`].

use demur_core::{
    hash::{Digest, Purpose},
    key::{Batch, Fingerprint, PublicKey, SecretKey, Signature, SignatureError},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{envelope::Event, event_type::Facts, registry::Registry};

/// The proof of an event. `webauthn` and `http-signature` are described in the format and come later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// A key of the author's own signed the statement: `{"ed25519": {"key": ..., "signature": ...}}`.
    Ed25519(KeySignature),
    /// Nothing, the desk's word: `"none"`.
    None,
}

/// A signature and the fingerprint of the key that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeySignature {
    /// Which key.
    pub key: Fingerprint,
    /// Its signature.
    pub signature: Signature,
}

/// The kind of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProofKind {
    /// See [`Proof::Ed25519`].
    Ed25519,
    /// See [`Proof::None`].
    None,
}

impl ProofKind {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ed25519 => "ed25519",
            Self::None => "none",
        }
    }

    /// Returns whether a key of the actor's own made it.
    pub const fn has_key(self) -> bool {
        match self {
            Self::Ed25519 => true,
            Self::None => false,
        }
    }
}

impl Proof {
    /// Returns the kind.
    pub const fn kind(&self) -> ProofKind {
        match self {
            Self::Ed25519(_) => ProofKind::Ed25519,
            Self::None => ProofKind::None,
        }
    }

    /// Returns the key of the author's own that made it; none for the desk's word.
    pub const fn key(&self) -> Option<Fingerprint> {
        match self {
            Self::Ed25519(proof) => Some(proof.key),
            Self::None => None,
        }
    }

    /// Checks what can be checked at once, and adds to the batch what is left to check. The desk's word adds nothing.
    /// `keys` is none only before the event that creates the store.
    pub fn check(
        &self,
        subject: &Subject<'_>,
        keys: Option<&Registry>,
        batch: &mut Batch,
    ) -> Result<(), ProofError> {
        match self {
            Self::Ed25519(proof) => {
                let statement = subject.statement.ok_or(ProofError::NoStatement)?;
                let key = subject.key(&proof.key, keys).ok_or(ProofError::KeyUnknown { key: proof.key })?;
                // The event's hash is over the envelope, and the statement stands in it.
                batch.push_within(subject.event, key, Purpose::Statement, statement, &proof.signature);
                Ok(())
            }
            Self::None => Ok(()),
        }
    }
}

/// What a proof is about: a statement in its event.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The hash of the event.
    event: &'a Digest,
    /// The exact bytes of the statement.
    statement: Option<&'a [u8]>,
    /// The key that comes in with the statement, which it must be signed with.
    newcomer: Option<&'a PublicKey>,
}

impl<'a> Subject<'a> {
    /// Returns the subject of an event whose statement stands in these bytes.
    pub const fn new(event: &'a Event, statement: Option<&'a [u8]>) -> Self {
        Self::of_parts(event.hash(), statement)
    }

    /// Returns the subject of an event with this hash, which is over the statement too.
    pub(crate) const fn of_parts(event: &'a Digest, statement: Option<&'a [u8]>) -> Self {
        Self { event, statement, newcomer: None }
    }

    /// Returns the subject of an event of the registry, where a key signs the statement that brings it in.
    pub fn of_registry(event: &'a Event) -> Self {
        let newcomer = match event.said().ok().map(|said| said.facts) {
            Some(Facts::StoreCreated(facts)) => Some(&facts.key),
            Some(Facts::KeyRegistered(facts)) => Some(&facts.key),
            _ => None,
        };
        Self { newcomer, ..Self::new(event, event.statement_bytes()) }
    }

    fn key<'b>(&self, fingerprint: &Fingerprint, keys: Option<&'b Registry>) -> Option<&'b PublicKey>
    where
        'a: 'b,
    {
        match self.newcomer {
            Some(key) => Some(key).filter(|key| key.fingerprint() == *fingerprint),
            None => keys.and_then(|keys| keys.public_key(fingerprint)),
        }
    }
}

/// A proof that cannot hold, whatever its signature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It is by a key, and there is no statement that the key could have signed.
    #[error("expected a statement under the proof, found none")]
    NoStatement,
    /// Nobody knows the key.
    #[error("expected a key of the registry, found {}", .key.short())]
    KeyUnknown {
        /// The key.
        key: Fingerprint,
    },
}

impl KeySignature {
    /// Returns the signature of `key` over a message with this purpose.
    pub fn sign(key: &SecretKey, purpose: Purpose, message: &[u8]) -> Self {
        Self { key: key.public().fingerprint(), signature: key.sign(purpose, message) }
    }

    /// Returns whether the door lets this signature in: it must hold without the cofactor too.
    pub fn admit(&self, key: &PublicKey, purpose: Purpose, message: &[u8]) -> Result<(), SignatureError> {
        key.admit(purpose, message, &self.signature)
    }
}
