//! ULIDs: 48 bits of time and 80 random bits as 26 characters of Crockford's base 32, in upper case only.

use std::fmt;

use super::{time_and_random, timestamp};
use crate::form::{FormError, text_form};
use crate::random::Random;
use crate::time::Timestamp;

/// A ULID; on the wire exactly 26 upper-case characters of Crockford's base 32.
///
/// The order of ids is the order of their times, in numbers as in text. Two ids of one millisecond are in no
/// particular order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

impl Ulid {
    /// Returns a new id for this time.
    pub fn new(now: Timestamp, random: &mut dyn Random) -> Self {
        Self(time_and_random(now, random))
    }

    /// Returns the id with this number.
    pub const fn from_u128(number: u128) -> Self {
        Self(number)
    }

    /// Returns the id as a number.
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Returns the time the id was made for, by its maker's word.
    pub fn timestamp(self) -> Timestamp {
        timestamp(self.0)
    }

    fn encode(self) -> [u8; 26] {
        let mut text = [0; 26];
        let mut rest = self.0;
        for place in text.iter_mut().rev() {
            *place = ALPHABET[(rest & 0x1f) as usize];
            rest >>= 5;
        }
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        if text.len() != 26 {
            return Err(FormError::Length { expected: EXPECTED, found: text.len() });
        }
        let [(first, wrong), (middle, wrong_middle), (last, wrong_last)] =
            [&text[..2], &text[2..14], &text[14..]].map(fold);
        // 26 characters hold 130 bits; the first one may use only three of its five.
        if (wrong | wrong_middle | wrong_last) & WRONG != 0 || first > 0xff {
            return Err(wrong_character(text));
        }
        Ok(Self(u128::from(first) << 120 | u128::from(middle) << 60 | u128::from(last)))
    }
}

text_form!(Ulid, 26, "^[0-7][0-9A-HJKMNP-TV-Z]{25}$", EXPECTED);

impl fmt::Debug for Ulid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ulid({self})")
    }
}

/// Returns the number that up to twelve characters spell, which is 60 bits, and a byte that has the bit [`WRONG`] if
/// one of them is no character of the alphabet.
fn fold(text: &[u8]) -> (u64, u8) {
    text.iter().fold((0, 0), |(number, seen), &character| {
        let value = VALUES[usize::from(character)];
        (number << 5 | u64::from(value), seen | value)
    })
}

#[cold]
fn wrong_character(text: &[u8]) -> FormError {
    let wrong = |(offset, found): &(usize, &u8)| {
        let value = VALUES[usize::from(**found)];
        value == WRONG || (*offset == 0 && value > 7)
    };
    let (offset, &found) = text.iter().enumerate().find(wrong).unwrap_or((0, &0));
    FormError::Byte { expected: EXPECTED, found, offset }
}

const EXPECTED: &str = "a ULID of 26 upper-case characters";
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Stands in [`VALUES`] for every byte that is no character; no character has this bit.
const WRONG: u8 = 0x80;

static VALUES: [u8; 256] = {
    let mut values = [WRONG; 256];
    let mut value = 0;
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};
