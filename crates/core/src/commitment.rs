//! Salted commitments, section "Bytes" of the format: SHA-256 over the prefix, exactly 32 random bytes of
//! salt, and the content. Content can be erased and its commitment stays; without the salt nobody can
//! confirm a guess.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::form::{FormError, text_form};
use crate::hash::{Digest, Purpose, digest};
use crate::hex;
use crate::random::Random;

/// Thirty-two random bytes that hide what a commitment is to; a fresh one each time.
///
/// It travels beside the content and is erased with it, so `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Salt([u8; 32]);

impl Salt {
    /// Returns a fresh salt.
    pub fn draw(random: &mut dyn Random) -> Self {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// Returns the salt with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the salt.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn encode(&self) -> [u8; 64] {
        let mut text = [0; 64];
        hex::encode(&self.0, &mut text);
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        hex::decode(text, "a salt of 64 lower-case hex digits").map(Self)
    }
}

text_form!(Salt, 64, "^[0-9a-f]{64}$", "a salt of 64 lower-case hex digits");

impl fmt::Debug for Salt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Salt(..)")
    }
}

/// The digest that stands for some content, an artifact or a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commitment(Digest);

impl Commitment {
    /// Returns the commitment to content.
    pub fn to_content(salt: &Salt, content: &[u8]) -> Self {
        Self(digest(Purpose::Content, &[&salt.0, content]))
    }

    /// Returns the commitment to the bytes of an artifact.
    pub fn to_artifact(salt: &Salt, artifact: &[u8]) -> Self {
        Self(digest(Purpose::Artifact, &[&salt.0, artifact]))
    }

    /// Returns the commitment to a secret answer: salt and secret never stand in a ledger.
    pub fn to_secret(salt: &Salt, secret: &[u8]) -> Self {
        Self(digest(Purpose::Secret, &[&salt.0, secret]))
    }

    /// Returns whether this is the commitment to that content under that salt.
    #[must_use]
    pub fn opens_content(&self, salt: &Salt, content: &[u8]) -> bool {
        *self == Self::to_content(salt, content)
    }

    /// Returns whether this is the commitment to that artifact under that salt.
    #[must_use]
    pub fn opens_artifact(&self, salt: &Salt, artifact: &[u8]) -> bool {
        *self == Self::to_artifact(salt, artifact)
    }

    /// Returns whether this is the commitment to that secret under that salt.
    #[must_use]
    pub fn opens_secret(&self, salt: &Salt, secret: &[u8]) -> bool {
        *self == Self::to_secret(salt, secret)
    }

    /// Returns the commitment as the digest it is.
    pub const fn as_digest(&self) -> &Digest {
        &self.0
    }
}

impl From<Digest> for Commitment {
    fn from(digest: Digest) -> Self {
        Self(digest)
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Commitment({})", self.0)
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl FromStr for Commitment {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        text.parse().map(Self)
    }
}

impl JsonSchema for Commitment {
    fn schema_name() -> Cow<'static, str> {
        "Commitment".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Digest::json_schema(generator)
    }
}
