//! Keys of JSON Web Signatures: a key and its algorithm are one value, so that no header can choose another.

use std::fmt;

use p256::ecdsa::{
    Signature as Es256Signature, SigningKey, VerifyingKey,
    signature::{Signer as _, Verifier as _},
};

use crate::key::{KeyError, PublicKey, SecretKey, Signature};

/// How a signature is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwsAlgorithm {
    /// Ed25519, which RFC 8037 calls `EdDSA`.
    EdDsa,
    /// ECDSA over P-256 with SHA-256.
    Es256,
}

impl JwsAlgorithm {
    /// Returns the name that stands in headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Es256 => "ES256",
        }
    }

    /// Returns the algorithm of this name. Names are compared exactly.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::EdDsa, Self::Es256].into_iter().find(|algorithm| algorithm.name() == name)
    }
}

impl fmt::Display for JwsAlgorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A public key with its algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwsKey {
    /// An Ed25519 key, of prime order.
    EdDsa(PublicKey),
    /// A point of P-256.
    Es256(VerifyingKey),
}

impl JwsKey {
    /// Returns the Ed25519 key with these bytes.
    pub fn ed25519(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        PublicKey::from_bytes(bytes).map(Self::EdDsa)
    }

    /// Returns the P-256 key with these coordinates.
    pub fn es256(x: &[u8; 32], y: &[u8; 32]) -> Result<Self, KeyError> {
        let point = [&[UNCOMPRESSED][..], x, y].concat();
        VerifyingKey::from_sec1_bytes(&point).map(Self::Es256).map_err(|_| KeyError::Encoding)
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> JwsAlgorithm {
        match self {
            Self::EdDsa(_) => JwsAlgorithm::EdDsa,
            Self::Es256(_) => JwsAlgorithm::Es256,
        }
    }

    /// Returns whether a signature holds: Ed25519 by the strict rule of the door, ES256 as r and s of 32 bytes each.
    pub(super) fn holds(&self, message: &[u8], signature: [u8; 64]) -> bool {
        match self {
            Self::EdDsa(key) => key.admit_foreign(message, &Signature::from_bytes(signature)).is_ok(),
            Self::Es256(key) => Es256Signature::from_slice(&signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
        }
    }
}

/// A secret key with its algorithm; wiped from memory when dropped.
#[derive(Clone)]
pub enum JwsSecretKey {
    /// An Ed25519 key.
    EdDsa(SecretKey),
    /// A scalar of P-256.
    Es256(SigningKey),
}

impl JwsSecretKey {
    /// Returns the P-256 key with this scalar.
    pub fn es256(scalar: &[u8; 32]) -> Result<Self, KeyError> {
        SigningKey::from_slice(scalar).map(Self::Es256).map_err(|_| KeyError::Encoding)
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> JwsAlgorithm {
        match self {
            Self::EdDsa(_) => JwsAlgorithm::EdDsa,
            Self::Es256(_) => JwsAlgorithm::Es256,
        }
    }

    /// Returns the public key.
    pub fn public(&self) -> JwsKey {
        match self {
            Self::EdDsa(key) => JwsKey::EdDsa(key.public()),
            Self::Es256(key) => JwsKey::Es256(*key.verifying_key()),
        }
    }

    /// Returns the signature over a message; ES256 takes its nonce from key and message (RFC 6979).
    pub(super) fn sign(&self, message: &[u8]) -> Result<Signature, KeyError> {
        match self {
            Self::EdDsa(key) => key.sign_foreign(message),
            Self::Es256(key) => {
                let signature: Es256Signature = key.sign(message);
                Ok(Signature::from_bytes(signature.to_bytes().into()))
            }
        }
    }
}

impl fmt::Debug for JwsSecretKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "JwsSecretKey({})", self.algorithm())
    }
}

/// Stands before the coordinates of a point that is written with both (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;
