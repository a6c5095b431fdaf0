//! Numbers as JSON Schema counts them: `30.0` is a whole number there, so it is one here. It is written as `30`.

use std::{borrow::Cow, fmt};

use demur_core::limit::{LimitError, Whole};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, Unexpected, Visitor},
};

/// A whole number from `MIN` to `MAX`, which may come with a fraction of zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Integer<const MIN: u64, const MAX: u64>(Whole<MIN, MAX>);

impl<const MIN: u64, const MAX: u64> Integer<MIN, MAX> {
    /// Returns the number.
    pub const fn as_u64(self) -> u64 {
        self.0.as_u64()
    }
}

impl<const MIN: u64, const MAX: u64> TryFrom<u64> for Integer<MIN, MAX> {
    type Error = LimitError;

    fn try_from(number: u64) -> Result<Self, LimitError> {
        Whole::try_from(number).map(Self)
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Debug for Integer<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Integer<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const MIN: u64, const MAX: u64>;

        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Number<MIN, MAX> {
            type Value = Integer<MIN, MAX>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a whole number from {MIN} to {MAX}")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                let unfit = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
                Integer::try_from(number).map_err(unfit)
            }

            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the number is whole, not negative, and below 2^53"
            )]
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                if number.fract() == 0.0 && (0.0..FIRST_INEXACT_WHOLE).contains(&number) {
                    return self.visit_u64(number as u64);
                }
                Err(E::invalid_value(Unexpected::Float(number), &self))
            }
        }

        deserializer.deserialize_u64(Number)
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Integer<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Integer{MIN}To{MAX}").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Whole::<MIN, MAX>::json_schema(generator)
    }
}

/// A number from 0 to `MAX`, which may have a fraction.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Share<const MAX: u32>(f64);

impl<const MAX: u32> Share<MAX> {
    /// Returns the number, if it lies in the range.
    pub fn new(number: f64) -> Option<Self> {
        (0.0..=f64::from(MAX)).contains(&number).then_some(Self(number))
    }

    /// Returns the number.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for Share<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let expected = format!("a number from 0 to {MAX}");
        Self::new(number)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Float(number), &expected.as_str()))
    }
}

impl<const MAX: u32> JsonSchema for Share<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Share{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": MAX })
    }
}

/// A span of time in milliseconds, at most a day.
pub type Millis = Integer<0, 86_400_000>;

/// How long a prompt waits.
pub type TimeoutSeconds = Integer<1, 86_400>;

/// Any count or position that JSON keeps exactly.
pub type Position = Integer<0, { (1 << 53) - 1 }>;

/// The first whole number that not every reader keeps exactly.
const FIRST_INEXACT_WHOLE: f64 = 9_007_199_254_740_992.0;
