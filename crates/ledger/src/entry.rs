//! What a decision hands to the store: an event and what travels beside it.

use std::fmt;

use demur_core::{
    commitment::Salt,
    hash::{Digest, sha256},
};

use crate::{content::Opening, envelope::Event, meaning::Meaning};

/// An event to be recorded, with everything the store keeps beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub event: Event,
    /// Its content, if it has any.
    pub opening: Option<Opening>,
    /// Where the bytes are that it records, if it records any.
    pub artifact: Option<ArtifactPlace>,
    /// What the guards need of the content. No store keeps it: it follows from the content.
    pub meaning: Option<Meaning>,
}

/// Where the bytes of a recorded artifact are, and the salt that opens the commitment to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtifactPlace {
    /// The address of the bytes in the store.
    pub address: Address,
    /// The salt of the commitment in the facts.
    pub salt: Salt,
}

/// The plain SHA-256 of an artifact's bytes. The same bytes have one address, so they are kept once. It never
/// leaves the store: an unsalted digest would let anybody confirm a guess.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Digest);

impl Address {
    /// Returns the address of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha256(bytes))
    }

    /// Returns the address with this digest.
    pub const fn from_digest(digest: Digest) -> Self {
        Self(digest)
    }

    /// Returns the digest.
    pub const fn as_digest(&self) -> &Digest {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({})", self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
