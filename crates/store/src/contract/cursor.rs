//! A place in the order of all commits.

use std::{fmt, str::FromStr};

/// A place in the order of all commits: 16 bytes that only the store that gave them can read, text outside. Only good for
/// going on from it. Later places are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor([u8; 16]);

impl Cursor {
    /// Before the first event.
    pub const START: Self = Self([0; 16]);

    /// Returns the cursor with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the cursor of a store that counts events in one line.
    pub(crate) fn from_number(number: u64) -> Self {
        Self(u128::from(number).to_be_bytes())
    }

    /// Returns how many events stand before it in a store that counts them in one line. A cursor of another store may stand
    /// behind every event.
    pub(crate) fn number(self) -> u64 {
        u64::try_from(u128::from_be_bytes(self.0)).unwrap_or(u64::MAX)
    }
}

/// One spelling each: hexadecimal digits in lower case without leading zeros, `0` before the first event.
impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}", u128::from_be_bytes(self.0))
    }
}

/// A text that no store gave out as a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a cursor as a store gave it out, found another text")]
pub struct CursorError;

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let cursor = u128::from_str_radix(text, 16).map(|number| Self(number.to_be_bytes()));
        cursor.ok().filter(|cursor| cursor.to_string() == text).ok_or(CursorError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cursor_has_one_spelling() {
        for bytes in [[0; 16], [1; 16], [255; 16]] {
            let cursor = Cursor::from_bytes(bytes);
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!(Cursor::START.to_string(), "0");
        let longer = format!("1{}", Cursor::from_bytes([255; 16]));
        for text in ["", "00", "0a", "A", "+1", "-1", "x", " 1", longer.as_str()] {
            assert_eq!(text.parse::<Cursor>(), Err(CursorError), "{text:?}");
        }
    }
}
