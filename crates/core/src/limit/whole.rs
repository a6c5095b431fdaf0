//! Whole numbers in a range, never beyond 2^53 - 1, the last one that every JSON reader keeps exactly.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::LimitError;
use crate::form::FormError;

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// Returns the number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Returns a number that is known when the program is built; one out of range does not build.
    pub const fn of<const NUMBER: u64>() -> Self {
        const { assert!(MIN <= NUMBER && NUMBER <= MAX, "the number is out of range") };
        Self(NUMBER)
    }
}

impl<const MIN: u64, const MAX: u64> TryFrom<u64> for Whole<MIN, MAX> {
    type Error = LimitError;

    fn try_from(number: u64) -> Result<Self, LimitError> {
        const { assert!(MIN <= MAX && MAX < 1 << 53, "the range is empty or passes 2^53 - 1") };
        if (MIN..=MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(LimitError::Whole { min: MIN, max: MAX, found: number })
        }
    }
}

impl<const MIN: u64, const MAX: u64> From<Whole<MIN, MAX>> for u64 {
    fn from(whole: Whole<MIN, MAX>) -> Self {
        whole.0
    }
}

impl<const MIN: u64, const MAX: u64> FromStr for Whole<MIN, MAX> {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        let expected = "a whole number in range, in digits without a sign or leading zeros";
        let number = text.parse().ok().and_then(|number: u64| Self::try_from(number).ok());
        // One spelling: `parse` also reads "+5" and "05".
        number
            .filter(|number| number.to_string() == text)
            .ok_or_else(|| FormError::Value { expected, found: format!("{text:?}") })
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Debug for Whole<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Display for Whole<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl<const MIN: u64, const MAX: u64> Serialize for Whole<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(WholeVisitor)
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Whole{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

struct WholeVisitor<const MIN: u64, const MAX: u64>;

impl<const MIN: u64, const MAX: u64> Visitor<'_> for WholeVisitor<MIN, MAX> {
    type Value = Whole<MIN, MAX>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a whole number from {MIN} to {MAX}")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
        Whole::try_from(number).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
        let number =
            u64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))?;
        self.visit_u64(number)
    }
}
