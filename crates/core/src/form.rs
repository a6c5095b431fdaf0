//! Fixed text forms: the one spelling that each wire value has, and the error when a text is not it.
//!
//! Section "Bytes" of the format: received bytes must equal their canonical form, so every value has exactly
//! one spelling and everything else is refused.

use thiserror::Error;

/// A text that is not the one form of its value.
///
/// The text itself is not repeated, because it may be a salt; its length or the first wrong byte is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormError {
    /// The text has the wrong length.
    #[error("expected {expected}, found {found} bytes")]
    Length {
        /// What the form is.
        expected: &'static str,
        /// How many bytes there were.
        found: usize,
    },
    /// One byte of the text does not belong where it stands.
    #[error("expected {expected}, found byte 0x{found:02x} at offset {offset}")]
    Byte {
        /// What the form is.
        expected: &'static str,
        /// The first byte that is wrong.
        found: u8,
        /// Where it stands.
        offset: usize,
    },
    /// The text is well spelled but names no value, such as 30 February.
    #[error("expected {expected}, found {found}")]
    Value {
        /// What the form is.
        expected: &'static str,
        /// What was found instead.
        found: String,
    },
}

/// Gives a type its text form everywhere: `Display`, `FromStr`, serde and JSON Schema.
///
/// The type brings `encode(&self) -> [u8; length]`, which yields ASCII, and
/// `decode(&[u8]) -> Result<Self, FormError>`.
macro_rules! text_form {
    ($type:ident, $length:literal, $pattern:literal, $expected:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let text: [u8; $length] = self.encode();
                formatter.pad(crate::form::ascii(&text))
            }
        }

        impl $type {
            /// Returns the value that these bytes spell.
            pub fn from_ascii(text: &[u8]) -> Result<Self, crate::form::FormError> {
                Self::decode(text)
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::form::FormError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::decode(text.as_bytes())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text: [u8; $length] = self.encode();
                serializer.serialize_str(crate::form::ascii(&text))
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        <$type>::decode(text.as_bytes()).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "minLength": $length,
                    "maxLength": $length,
                    "pattern": $pattern,
                })
            }
        }
    };
}

pub(crate) use text_form;

/// Returns the bytes as text; every `encode` yields ASCII.
pub(crate) fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("every text form is ASCII")
}
