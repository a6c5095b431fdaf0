//! Bytes of a bounded length, on the wire in lower-case hex: what other protocols hand over, kept to the byte.

use std::{borrow::Cow, fmt, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    form::{FormError, ascii},
    hex,
};

/// From `MIN` to `MAX` bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Octets<const MIN: usize, const MAX: usize>(Vec<u8>);

impl<const MIN: usize, const MAX: usize> Octets<MIN, MAX> {
    /// Returns the bytes that these digits spell.
    pub fn from_hex(digits: &str) -> Result<Self, FormError> {
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        if !rest.is_empty() || !(MIN..=MAX).contains(&pairs.len()) {
            return Err(FormError::Length { expected: EXPECTED, found: digits.len() });
        }
        let byte = |pair: &[u8; 2]| hex::decode::<1>(pair, EXPECTED).map(|[byte]| byte);
        pairs.iter().map(byte).collect::<Result<_, _>>().map(Self)
    }
}

impl<const MIN: usize, const MAX: usize> TryFrom<Vec<u8>> for Octets<MIN, MAX> {
    type Error = FormError;

    fn try_from(bytes: Vec<u8>) -> Result<Self, FormError> {
        if (MIN..=MAX).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(FormError::Length { expected: "another number of bytes", found: bytes.len() })
        }
    }
}

impl<const MIN: usize, const MAX: usize> Deref for Octets<MIN, MAX> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Display for Octets<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = vec![0; 2 * self.0.len()];
        hex::encode(&self.0, &mut digits);
        formatter.pad(ascii(&digits))
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Debug for Octets<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Octets({self})")
    }
}

impl<const MIN: usize, const MAX: usize> Serialize for Octets<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Octets<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&digits).map_err(D::Error::custom)
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Octets<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Octets{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 2 * MIN,
            "maxLength": 2 * MAX,
            "pattern": "^([0-9a-f]{2})*$",
        })
    }
}

const EXPECTED: &str = "bytes in lower-case hex, as many as there may be";
