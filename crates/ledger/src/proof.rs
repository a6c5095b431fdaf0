//! Proofs: what ties a statement to its author (`docs/format.md` 4).

use demur_core::{
    hash::Purpose,
    key::{Fingerprint, PublicKey, SecretKey, Signature, SignatureError},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The proof of an event. `webauthn` and `http-signature` are described in the format and come later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
#[non_exhaustive]
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
}

impl Proof {
    /// Returns the kind.
    pub const fn kind(&self) -> ProofKind {
        match self {
            Self::Ed25519(_) => ProofKind::Ed25519,
            Self::None => ProofKind::None,
        }
    }
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
