//! Texts of a fixed form: ids with their prefixes, tool names, addresses, versions. Each says what it takes, and takes nothing
//! else (3.2, 4.3, 6.2.1).

use std::fmt;

use demur_core::random::Random;
use thiserror::Error;

/// Makes a text type that holds only what its check lets through.
macro_rules! formed_text {
    ($(#[$attribute:meta])* $name:ident, $most:expr, $pattern:expr, $expected:expr, $check:expr) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Returns the text as a string slice.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            fn fits(text: &str) -> bool {
                let check: fn(&str) -> bool = $check;
                !text.is_empty() && text.len() <= $most && check(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::form::TextFormError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                if Self::fits(text) {
                    return Ok(Self(text.to_owned()));
                }
                let found = format!("{:?}", crate::error::shown(text));
                Err(crate::form::TextFormError { expected: $expected, found })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Form;

                impl serde::de::Visitor<'_> for Form {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        let unfit = || E::invalid_value(serde::de::Unexpected::Str(&crate::error::shown(text)), &self);
                        if $name::fits(text) { Ok($name(text.to_owned())) } else { Err(unfit()) }
                    }
                }

                deserializer.deserialize_str(Form)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "maxLength": $most, "pattern": $pattern })
            }
        }
    };
}

pub(crate) use formed_text;

/// Makes an id: a prefix and 1 to 64 letters and digits.
macro_rules! prefixed_id {
    ($(#[$attribute:meta])* $name:ident, $prefix:literal) => {
        formed_text! {
            $(#[$attribute])*
            $name, $prefix.len() + MAX_ID_CHARACTERS, concat!("^", $prefix, "[A-Za-z0-9]{1,64}$"),
            concat!($prefix, " and 1 to 64 letters and digits"),
            |text| text.strip_prefix($prefix).is_some_and(is_id_body)
        }

        impl $name {
            /// Returns a new id: 128 random bits in hex, as the specification recommends.
            pub fn random(random: &mut dyn Random) -> Self {
                Self(format!(concat!($prefix, "{}"), random_hex(random)))
            }
        }
    };
}

prefixed_id! {
    /// An event.
    EventId, "evt_"
}
prefixed_id! {
    /// A session: one request of a user, from start to end.
    SessionId, "sess_"
}
prefixed_id! {
    /// A subscription. It is no credential.
    SubscriptionId, "sub_"
}
prefixed_id! {
    /// What ties a reply to its prompt, and is used once. It is no credential.
    ReplyToken, "rpl_"
}
prefixed_id! {
    /// One call of a tool.
    ToolCallId, "call_"
}
prefixed_id! {
    /// One output that is streamed.
    OutputId, "out_"
}

formed_text! {
    /// A tool by its name.
    ToolName, 256, "^[A-Za-z_][A-Za-z0-9_.-]{0,255}$", "a letter or _, and letters, digits and any of _ . -",
    |text| begins(text, |byte| byte.is_ascii_alphabetic() || byte == b'_', |byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}
formed_text! {
    /// An error code in upper case.
    ErrorCode, 64, "^[A-Z][A-Z0-9_]{1,63}$", "2 to 64 upper-case letters, digits and _",
    |text| text.len() > 1 && begins(text, |byte| byte.is_ascii_uppercase(), |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
formed_text! {
    /// A reason as a word in lower case.
    ReasonWord, 64, "^[a-z][a-z0-9_]{1,63}$", "2 to 64 lower-case letters, digits and _",
    |text| text.len() > 1 && begins(text, |byte| byte.is_ascii_lowercase(), |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
formed_text! {
    /// A media type.
    MediaType, 255, "^[a-zA-Z][a-zA-Z0-9.+_-]*/[a-zA-Z][a-zA-Z0-9.+_-]*$", "a media type such as text/plain",
    |text| {
        let is_part = |part: &str| begins(part, |byte| byte.is_ascii_alphabetic(), |byte| byte.is_ascii_alphanumeric() || b".+_-".contains(&byte));
        text.split_once('/').is_some_and(|(kind, rest)| is_part(kind) && is_part(rest))
    }
}
formed_text! {
    /// A script by its ISO 15924 code.
    ScriptCode, 4, "^[A-Z][a-z]{3}$", "four letters such as Latn",
    |text| text.len() == 4 && begins(text, |byte| byte.is_ascii_uppercase(), |byte| byte.is_ascii_lowercase())
}
formed_text! {
    /// A version of the protocol.
    AaepVersion, 64, "^[0-9]+\\.[0-9]+\\.[0-9]+(-[A-Za-z0-9.-]+)?$", "a version such as 1.0.0", is_version
}
formed_text! {
    /// An address (RFC 3986), with its scheme and without spaces.
    Uri, 2048, "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s<>\"{}|\\\\^`]+$", "an address with its scheme, such as https://example.com/", is_uri
}

impl AaepVersion {
    /// Returns the version that this crate speaks.
    pub fn current() -> Self {
        Self(CURRENT_VERSION.to_owned())
    }

    /// Returns whether this is the version that this crate speaks.
    pub fn is_current(&self) -> bool {
        self.0 == CURRENT_VERSION
    }

    /// Returns whether this version has the major number that this crate speaks.
    pub fn is_compatible(&self) -> bool {
        self.0.split('.').next() == CURRENT_VERSION.split('.').next()
    }
}

impl EventId {
    /// Returns the id that 128 bits of a digest spell.
    pub(crate) fn of_digest(digest: &demur_core::hash::Digest) -> Self {
        Self(format!("evt_{}", &digest.to_string()[..RANDOM_HEX_DIGITS]))
    }
}

/// A text that has not the form of its type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected {expected}, found {found}")]
pub struct TextFormError {
    /// What the form is.
    pub expected: &'static str,
    /// The text, clipped and made visible.
    pub found: String,
}

fn is_id_body(text: &str) -> bool {
    (1..=MAX_ID_CHARACTERS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns whether the first byte is of one kind and all others of another.
fn begins(text: &str, first: fn(u8) -> bool, rest: fn(u8) -> bool) -> bool {
    text.as_bytes().split_first().is_some_and(|(head, tail)| first(*head) && tail.iter().copied().all(rest))
}

fn is_version(text: &str) -> bool {
    let (numbers, rest) = text.split_once('-').map_or((text, None), |(numbers, rest)| (numbers, Some(rest)));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_rest = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    numbers.split('.').count() == 3 && numbers.split('.').all(is_number) && rest.is_none_or(is_rest)
}

/// Letters of other scripts are let through: internationalized addresses are common, and nothing is fetched from here.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = begins(
        scheme,
        |byte| byte.is_ascii_alphabetic(),
        |byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte),
    );
    let is_foreign = |character: char| {
        character.is_whitespace()
            || demur_core::visible::deceives(character)
            || "<>\"{}|\\^`".contains(character)
    };
    is_scheme && !rest.is_empty() && !rest.contains(is_foreign)
}

fn random_hex(random: &mut dyn Random) -> impl fmt::Display + use<> {
    let mut bytes = [0; RANDOM_HEX_DIGITS / 2];
    random.fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}

/// The version of the protocol that this crate speaks.
const CURRENT_VERSION: &str = "1.0.0";

/// How many letters and digits follow the prefix of an id.
const MAX_ID_CHARACTERS: usize = 64;

/// 128 bits in hex.
const RANDOM_HEX_DIGITS: usize = 32;
