//! Public keys of prime order, their fingerprints, and the two rules by which a signature holds.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use curve25519_dalek::traits::IsIdentity as _;
use ed25519_dalek::VerifyingKey;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{KeyError, Signature, SignatureError, zip215};
use crate::form::{FormError, text_form};
use crate::hash::{Digest, Purpose, digest};
use crate::hex;

/// An Ed25519 public key; on the wire exactly 64 lower-case hex digits.
///
/// Whoever holds one knows that its encoding is canonical and its point of prime order, so no signature by it
/// can mean two things. The check costs about as much as a verification; keep the value, do not parse it again.
#[derive(Clone, Copy)]
pub struct PublicKey {
    /// Holds the point beside its bytes, so that the door need not decompress it each time.
    verifying: VerifyingKey,
}

impl PublicKey {
    /// Returns the key with these bytes, if they are the canonical encoding of a point of prime order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let verifying = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Encoding)?;
        let point = verifying.to_edwards();
        if point.compress().as_bytes() != bytes {
            return Err(KeyError::Encoding);
        }
        if point.is_identity() || !point.is_torsion_free() {
            return Err(KeyError::Order);
        }
        Ok(Self { verifying })
    }

    /// Returns the bytes of the key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.verifying.as_bytes()
    }

    /// Returns the fingerprint of the key.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(digest(Purpose::Key, &[b"ed25519\0", self.as_bytes()]))
    }

    /// Checks a signature at the door: only what cofactorless verification accepts too gets in.
    ///
    /// The strict rule recomputes R and compares its bytes. Where they are equal, `[s]B = R + [k]A` holds
    /// exactly, hence also times the cofactor, with s reduced: ZIP 215 accepts. It needs no second run.
    pub fn admit(
        &self,
        purpose: Purpose,
        message: &[u8],
        signature: &Signature,
    ) -> Result<(), SignatureError> {
        self.admit_foreign(&[purpose.prefix(), message].concat(), signature)
    }

    /// Checks a signature over a message of another protocol at the door, without a prefix.
    pub fn admit_foreign(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        let signature = ed25519_dalek::Signature::from_bytes(signature.as_bytes());
        self.verifying
            .verify_strict(message, &signature)
            .map_err(|_| SignatureError::Door { key: self.fingerprint() })
    }

    /// Checks a signature of a file by ZIP 215, as [`Batch`](super::Batch) does for many.
    pub fn verify(
        &self,
        purpose: Purpose,
        message: &[u8],
        signature: &Signature,
    ) -> Result<(), SignatureError> {
        self.verify_foreign(&[purpose.prefix(), message].concat(), signature)
    }

    /// Checks a signature over a message of another protocol, without a prefix, by ZIP 215.
    pub fn verify_foreign(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        if zip215::verify(self.as_bytes(), message, signature.as_bytes()) {
            Ok(())
        } else {
            Err(SignatureError::File { key: self.fingerprint() })
        }
    }

    /// Returns the key of a secret one, which is of prime order by construction: a clamped scalar is no
    /// multiple of the order of the base point.
    pub(super) fn of_secret(verifying: VerifyingKey) -> Self {
        Self { verifying }
    }

    fn encode(&self) -> [u8; 64] {
        let mut text = [0; 64];
        hex::encode(self.as_bytes(), &mut text);
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        Self::from_bytes(&hex::decode(text, EXPECTED)?)
            .map_err(|error| FormError::Value { expected: EXPECTED, found: format!("a bad key ({error})") })
    }
}

text_form!(PublicKey, 64, "^[0-9a-f]{64}$", EXPECTED);

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for PublicKey {}

impl PartialOrd for PublicKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PublicKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for PublicKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PublicKey({self})")
    }
}

/// What names a key: a digest over its algorithm and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(Digest);

impl Fingerprint {
    /// Returns the first 16 hex digits, for display only: they are too few to be compared by a machine.
    pub fn short(&self) -> String {
        self.0.to_string()[..16].to_owned()
    }

    /// Returns the fingerprint as the digest it is.
    pub const fn as_digest(&self) -> &Digest {
        &self.0
    }
}

impl From<Digest> for Fingerprint {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Fingerprint({})", self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl FromStr for Fingerprint {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        text.parse().map(Self)
    }
}

impl JsonSchema for Fingerprint {
    fn schema_name() -> Cow<'static, str> {
        "Fingerprint".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Digest::json_schema(generator)
    }
}

const EXPECTED: &str = "a public key of 64 lower-case hex digits";
