//! Signatures as bytes. Whether they hold is for [`PublicKey`](super::PublicKey) to say.

use std::fmt;

use crate::form::{FormError, text_form};
use crate::hex;

/// An Ed25519 signature, unchecked; on the wire exactly 128 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature([u8; 64]);

impl Signature {
    /// Returns the signature with these bytes.
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the signature.
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    fn encode(&self) -> [u8; 128] {
        let mut text = [0; 128];
        hex::encode(&self.0, &mut text);
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        hex::decode(text, EXPECTED).map(Self)
    }
}

text_form!(Signature, 128, "^[0-9a-f]{128}$", EXPECTED);

impl fmt::Debug for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Signature({self})")
    }
}

const EXPECTED: &str = "a signature of 128 lower-case hex digits";
