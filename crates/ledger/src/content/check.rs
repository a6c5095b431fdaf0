//! Content of a check: a place in the bytes of an artifact, a comparison and a value.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use demur_core::limit::Text;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::SerializeMap as _};

use super::EventContent;

/// What must be true of an artifact: whoever has its bytes can tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckContent {
    /// Where to look.
    pub at: CheckPlace,
    /// How what is found there compares with the value.
    pub is: Comparison,
    /// The value.
    pub value: CheckValue,
}

/// A place in the bytes of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckPlace {
    /// How many bytes there are.
    Size,
    /// SHA-256 of the bytes, in hex.
    Sha256,
    /// A value in JSON, by its pointer (RFC 6901).
    Pointer(Text<0, 1024>),
    /// A part of a text.
    Between {
        /// What stands right before it, once in the text.
        after: Text<1, 1024>,
        /// What stands right behind it.
        before: Text<1, 1024>,
    },
}

/// How two values compare. Order is of numbers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Comparison {
    /// Returns the sign that people read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "\u{2260}",
            Self::Lt => "<",
            Self::Le => "\u{2264}",
            Self::Gt => ">",
            Self::Ge => "\u{2265}",
        }
    }
}

/// What a check compares with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text, a number, true, false or null")]
pub enum CheckValue {
    /// Null.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text.
    Text(Text<0, 4096>),
}

impl fmt::Display for CheckContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.at, self.is.as_str(), self.value)
    }
}

impl fmt::Display for CheckPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size => formatter.write_str("size"),
            Self::Sha256 => formatter.write_str("SHA-256"),
            Self::Pointer(pointer) => write!(formatter, "the value at {:?}", pointer.as_str()),
            Self::Between { after, before } => {
                write!(formatter, "the text between {:?} and {:?}", after.as_str(), before.as_str())
            }
        }
    }
}

impl fmt::Display for CheckValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => formatter.write_str("null"),
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => write!(formatter, "{:?}", text.as_str()),
        }
    }
}

impl Serialize for CheckPlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Size => serializer.serialize_str(SIZE),
            Self::Sha256 => serializer.serialize_str(SHA256),
            Self::Pointer(pointer) => {
                let mut members = serializer.serialize_map(Some(1))?;
                members.serialize_entry("pointer", pointer)?;
                members.end()
            }
            Self::Between { after, before } => {
                let mut members = serializer.serialize_map(Some(2))?;
                members.serialize_entry("after", after)?;
                members.serialize_entry("before", before)?;
                members.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for CheckPlace {
    /// Reads a word or an object; the derived form would take a list of the members for one.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Wire {
            Word(String),
            Members(BTreeMap<String, String>),
        }
        let unknown = || D::Error::custom("expected size, sha256, a pointer, or after and before");
        let members = match Wire::deserialize(deserializer)? {
            Wire::Word(word) if word == SIZE => return Ok(Self::Size),
            Wire::Word(word) if word == SHA256 => return Ok(Self::Sha256),
            Wire::Word(_) => return Err(unknown()),
            Wire::Members(members) => members,
        };
        let member = |name: &str| members.get(name).map(String::as_str);
        match (members.len(), member("pointer"), member("after"), member("before")) {
            (1, Some(pointer), None, None) => {
                Ok(Self::Pointer(pointer.try_into().map_err(D::Error::custom)?))
            }
            (2, None, Some(after), Some(before)) => Ok(Self::Between {
                after: after.try_into().map_err(D::Error::custom)?,
                before: before.try_into().map_err(D::Error::custom)?,
            }),
            _ => Err(unknown()),
        }
    }
}

impl JsonSchema for CheckPlace {
    fn schema_name() -> Cow<'static, str> {
        "CheckPlace".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pointer = generator.subschema_for::<Text<0, 1024>>();
        let text = generator.subschema_for::<Text<1, 1024>>();
        json_schema!({"anyOf": [
            {"type": "string", "const": SIZE},
            {"type": "string", "const": SHA256},
            {
                "type": "object",
                "properties": {"pointer": pointer},
                "required": ["pointer"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {"after": text, "before": text},
                "required": ["after", "before"],
                "additionalProperties": false,
            },
        ]})
    }
}

impl JsonSchema for CheckValue {
    fn schema_name() -> Cow<'static, str> {
        "CheckValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "boolean", "integer", "number", "null"], "maxLength": 4096})
    }
}

const SIZE: &str = "size";
const SHA256: &str = "sha256";

impl EventContent for CheckContent {}
