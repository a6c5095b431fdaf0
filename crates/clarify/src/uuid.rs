//! UUIDs of any version (RFC 9562), for sessions, attestations and handoffs: ours are of version 7, other parties
//! bring their own.

use std::{fmt, str::FromStr};

use demur_core::id::Uuid7;

use crate::{error::FieldError, name::text_on_the_wire};

/// A UUID; on the wire 36 characters, lower case, with hyphens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(u128);

text_on_the_wire!(Uuid, 36, 36, "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");

impl Uuid {
    /// Returns the id as a number.
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

impl From<Uuid7> for Uuid {
    fn from(uuid: Uuid7) -> Self {
        Self(uuid.as_u128())
    }
}

impl TryFrom<u128> for Uuid {
    type Error = FieldError;

    /// Returns the UUID with this number, if it is one of a version we know.
    fn try_from(number: u128) -> Result<Self, FieldError> {
        let (version, variant) = (number >> 76 & 0xf, number >> 62 & 0x3);
        if !(1..=8).contains(&version) || variant != 2 {
            let found = format!("version {version}, variant {variant:02b}");
            return Err(FieldError::new("Uuid", EXPECTED, found));
        }
        Ok(Self(number))
    }
}

impl FromStr for Uuid {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let wrong = || FieldError::new("Uuid", EXPECTED, format!("{} bytes that are none", text.len()));
        if text.len() != 36 {
            return Err(wrong());
        }
        let mut number = 0_u128;
        for (offset, byte) in text.bytes().enumerate() {
            let digit = match (byte, matches!(offset, 8 | 13 | 18 | 23)) {
                (b'-', true) => continue,
                (b'0'..=b'9', false) => byte - b'0',
                (b'a'..=b'f', false) => byte - b'a' + 10,
                _ => return Err(wrong()),
            };
            number = number << 4 | u128::from(digit);
        }
        Self::try_from(number)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", self.0);
        let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
        formatter.pad(&groups.join("-"))
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Uuid({self})")
    }
}

const EXPECTED: &str = "a UUID (RFC 9562) in lower case with hyphens";
