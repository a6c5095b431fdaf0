//! The names in the documents: agents, gaps, fields, operations, standards, file paths. Each has a narrow form, so
//! that what is signed cannot look like something else.

use demur_core::visible;

/// Makes a text type that holds only what its check lets through.
macro_rules! checked_text {
    ($(#[$attribute:meta])* $name:ident, $most:literal, $pattern:literal, $expected:literal, $check:expr) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Returns the text as a string slice.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::error::FieldError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let check: fn(&str) -> bool = $check;
                // A text has at least as many bytes as code points: what is far too long is not even walked.
                if text.len() <= 4 * $most && text.chars().count() <= $most && check(text) {
                    return Ok(Self(text.to_owned()));
                }
                let shown: String = text.chars().take(64).collect();
                let found = format!("{:?}", visible::visible(&shown));
                Err(crate::error::FieldError::new(stringify!($name), $expected, found))
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

        crate::name::text_on_the_wire!($name, 1, $most, $pattern);
    };
}

/// Gives a type with `Display` and `FromStr` the same text in JSON, and a schema.
macro_rules! text_on_the_wire {
    ($name:ident, $least:literal, $most:literal, $pattern:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;

                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str("a text")
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Text)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string", "minLength": $least, "maxLength": $most, "pattern": $pattern,
                })
            }
        }
    };
}

pub(crate) use text_on_the_wire;

checked_text! {
    /// An agent, by the name it chose; what proves it is its key.
    AgentId, 200, r"^\S+$", "1 to 200 visible characters without spaces", is_visible_word
}
checked_text! {
    /// A gap of a session: `gap-001`, `gap-002` ...
    GapId, 12, "^gap-(?!000)[0-9]{3}$|^gap-[1-9][0-9]{3,7}$", "gap- and at least three digits, from gap-001", is_gap_id
}
checked_text! {
    /// One concrete field of a plan as a dotted path, such as `compliance.jurisdiction` or `languages.0`.
    FieldPath, 200, r"^[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*$",
    "the dotted path of one field: words of letters, digits, _, $ and - with dots between", is_field_path
}
checked_text! {
    /// An operation that a gap blocks, such as `build`.
    Operation, 64, "^[A-Za-z0-9_.:/-]+$", "1 to 64 letters, digits and any of _ . : / -", is_operation
}
checked_text! {
    /// A file below the output folder, with `/` between its parts.
    FilePath, 1024, r"^[^/\\]+(/[^/\\]+)*$",
    "a relative path with / between its parts and none of them . or ..", is_file_path
}

impl GapId {
    /// Returns the name of the gap with this number; 1 is `gap-001`. None from 100,000,000 on.
    pub fn number(number: u32) -> Option<Self> {
        format!("gap-{number:03}").parse().ok()
    }
}

fn is_visible_word(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(|character: char| character.is_whitespace() || visible::deceives(character))
}

fn is_gap_id(text: &str) -> bool {
    let Some(digits) = text.strip_prefix("gap-") else { return false };
    let one_spelling = digits.len() == 3 || !digits.starts_with('0');
    let in_range = (3..=8).contains(&digits.len()) && digits != "000";
    in_range && one_spelling && digits.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_field_path(text: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || "_$-".contains(character);
    text.split('.').all(|word| !word.is_empty() && word.chars().all(is_word))
}

fn is_operation(text: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "_.:/-".contains(character);
    !text.is_empty() && text.chars().all(fits)
}

fn is_file_path(text: &str) -> bool {
    let honest = !text.contains(|character: char| character == '\\' || visible::deceives(character));
    honest && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
