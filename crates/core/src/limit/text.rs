//! Text with a least and a greatest length, counted in code points as JSON Schema counts them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroize;

use super::LimitError;
use crate::words::beginning;

/// A text of `MIN` to `MAX` code points.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const MIN: usize, const MAX: usize>(String);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    /// Returns the text as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns as much of a text as fits, from its beginning.
    pub fn cut(text: &str) -> Result<Self, LimitError> {
        Self::try_from(beginning(text, MAX))
    }

    fn check(text: &str) -> Result<(), LimitError> {
        const { assert!(MIN <= MAX, "the least length is above the greatest") };
        // A code point has one to four bytes: most texts need no counting.
        if text.len() <= MAX && text.len() / 4 >= MIN {
            return Ok(());
        }
        let found = text.chars().count();
        if (MIN..=MAX).contains(&found) {
            Ok(())
        } else {
            Err(LimitError::Text { min: MIN, max: MAX, found })
        }
    }
}

/// Leaves an empty text, whatever the least length is: it is done to a text that nobody reads any more.
impl<const MIN: usize, const MAX: usize> Zeroize for Text<MIN, MAX> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<const MIN: usize, const MAX: usize> TryFrom<String> for Text<MIN, MAX> {
    type Error = LimitError;

    fn try_from(text: String) -> Result<Self, LimitError> {
        Self::check(&text)?;
        Ok(Self(text))
    }
}

impl<const MIN: usize, const MAX: usize> TryFrom<&str> for Text<MIN, MAX> {
    type Error = LimitError;

    fn try_from(text: &str) -> Result<Self, LimitError> {
        Self::check(text)?;
        Ok(Self(text.to_owned()))
    }
}

impl<const MIN: usize, const MAX: usize> FromStr for Text<MIN, MAX> {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        Self::try_from(text)
    }
}

impl<const MIN: usize, const MAX: usize> From<Text<MIN, MAX>> for String {
    fn from(text: Text<MIN, MAX>) -> Self {
        text.0
    }
}

impl<const MIN: usize, const MAX: usize> Deref for Text<MIN, MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> AsRef<str> for Text<MIN, MAX> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Debug for Text<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Display for Text<MIN, MAX> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl<const MIN: usize, const MAX: usize> Serialize for Text<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_string(TextVisitor)
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Text<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": MIN, "maxLength": MAX })
    }
}

struct TextVisitor<const MIN: usize, const MAX: usize>;

impl<const MIN: usize, const MAX: usize> Visitor<'_> for TextVisitor<MIN, MAX> {
    type Value = Text<MIN, MAX>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a text of {MIN} to {MAX} code points")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Text::try_from(text).map_err(E::custom)
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Self::Value, E> {
        Text::try_from(text).map_err(E::custom)
    }
}
