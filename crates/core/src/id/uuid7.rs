//! UUIDs of version 7 (RFC 9562, section 5.7) in lower case with hyphens.

use std::fmt;

use super::{time_and_random, timestamp};
use crate::form::{FormError, text_form};
use crate::hex;
use crate::random::Random;
use crate::time::Timestamp;

/// A UUID of version 7; on the wire 36 characters, lower case, with hyphens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid7(u128);

impl Uuid7 {
    /// Returns a new id for this time.
    pub fn new(now: Timestamp, random: &mut dyn Random) -> Self {
        Self(time_and_random(now, random) & !FIXED_BITS | FIXED_VALUE)
    }

    /// Returns the id with this number, if its version is 7 and its variant that of the RFC.
    pub fn from_u128(number: u128) -> Result<Self, FormError> {
        if number & FIXED_BITS == FIXED_VALUE {
            Ok(Self(number))
        } else {
            let (version, variant) = ((number >> 76) & 0xf, (number >> 62) & 0x3);
            Err(FormError::Value {
                expected: EXPECTED,
                found: format!("version {version}, variant {variant:02b}"),
            })
        }
    }

    /// Returns the id as a number.
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Returns the time the id was made for, by its maker's word.
    pub fn timestamp(self) -> Timestamp {
        timestamp(self.0)
    }

    fn encode(self) -> [u8; 36] {
        let mut text = [b'-'; 36];
        let bytes = self.0.to_be_bytes();
        for (from, to, place) in GROUPS {
            hex::encode(&bytes[from..to], &mut text[place..place + 2 * (to - from)]);
        }
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        if text.len() != 36 {
            return Err(FormError::Length { expected: EXPECTED, found: text.len() });
        }
        let mut digits = [0; 32];
        let mut count = 0;
        for (offset, &found) in text.iter().enumerate() {
            let hyphen = matches!(offset, 8 | 13 | 18 | 23);
            if hyphen != (found == b'-') {
                return Err(FormError::Byte { expected: EXPECTED, found, offset });
            }
            if !hyphen {
                digits[count] = found;
                count += 1;
            }
        }
        Self::from_u128(u128::from_be_bytes(hex::decode(&digits, EXPECTED)?))
    }
}

text_form!(Uuid7, 36, "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", EXPECTED);

impl fmt::Debug for Uuid7 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Uuid7({self})")
    }
}

const EXPECTED: &str = "a UUID of version 7 in lower case with hyphens";

/// The four bits of the version and the two of the variant.
const FIXED_BITS: u128 = 0xf << 76 | 0x3 << 62;
const FIXED_VALUE: u128 = 0x7 << 76 | 0x2 << 62;

/// From and to which byte each group of digits goes, and where its text begins.
const GROUPS: [(usize, usize, usize); 5] = [(0, 4, 0), (4, 6, 9), (6, 8, 14), (8, 10, 19), (10, 16, 24)];
