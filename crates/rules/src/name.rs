//! Names in rule packs: rows, rules, patterns of fields; and when two spellings of a name are the same.

use std::{fmt, str::FromStr};

use demur_clarify::name::FieldPath;
use demur_core::visible;
use serde::{Deserialize, Serialize};

/// The id of a row or policy within its table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RowId(String);

/// The rule behind a gap: its table and row, such as `conflict/jsp-440-us`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RuleId(String);

/// The fields that a rule looks at: `a.b`, `a.*` (its entries), `a.**` (everything below), `**` (everything).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct FieldPattern(String);

impl RowId {
    /// Returns the id as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RuleId {
    /// Returns the rule of a row. A part that comes from a plan is brought into the form of an id.
    pub(crate) fn of(table: &str, row: &str) -> Self {
        Self(format!("{table}/{}", row.chars().take(MOST).collect::<String>()))
    }

    /// Returns the id as a string slice.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FieldPattern {
    /// Returns the field whose entries or parts it covers, or that it is; none where it covers every field.
    pub(crate) fn base(&self) -> Option<&str> {
        let base = self.0.strip_suffix(".**").or_else(|| self.0.strip_suffix(".*")).unwrap_or(&self.0);
        (base != "**").then_some(base)
    }

    /// Returns whether it covers everything inside of a field.
    pub(crate) fn is_deep(&self) -> bool {
        self.0.ends_with("**")
    }

    /// Returns whether a field is one of those.
    pub(crate) fn covers(&self, field: &str) -> bool {
        if self.0 == "**" {
            return true;
        }
        if let Some(base) = self.0.strip_suffix(".**") {
            return field.strip_prefix(base).is_some_and(|rest| rest.starts_with('.'));
        }
        let (mut wanted, mut found) = (self.0.split('.'), field.split('.'));
        loop {
            match (wanted.next(), found.next()) {
                (None, None) => return true,
                (Some("*"), Some(_)) => {}
                (Some(wanted), Some(found)) if wanted == found => {}
                _ => return false,
            }
        }
    }
}

/// Returns the one spelling of a name: lower case, one hyphen for whatever is no letter or digit, full-width forms as
/// the characters they widen, and nothing for what cannot be seen.
///
/// `NHS DTAC`, `nhs_dtac` and `nhs-dtac` are one name.
pub(crate) fn plain(name: &str) -> String {
    plain_start(name, usize::MAX)
}

/// Returns the same, broken off once it has more than this many bytes.
pub(crate) fn plain_start(name: &str, most: usize) -> String {
    let mut plain = String::with_capacity(name.len().min(most));
    let seen = name.chars().filter(|character| !visible::is_unseen(*character)).map(narrow);
    for character in seen.flat_map(char::to_lowercase) {
        if plain.len() > most {
            break;
        }
        if character.is_alphanumeric() {
            plain.push(character);
        } else if !plain.is_empty() && !plain.ends_with('-') {
            plain.push('-');
        }
    }
    if plain.ends_with('-') {
        plain.pop();
    }
    plain
}

/// Returns the ASCII character that a full-width one widens.
fn narrow(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - FULL_WIDTH).unwrap_or(character),
        other => other,
    }
}

/// Returns a field that is known to be good: checked with the pack or with the plan.
pub(crate) fn field(path: &str) -> Option<FieldPath> {
    path.parse().ok()
}

macro_rules! text {
    ($name:ident, $expected:literal, $check:expr) => {
        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> bool = $check;
                if check(&text) {
                    return Ok(Self(text));
                }
                Err(format!(concat!("expected ", $expected, ", found {:?}"), shown(&text)))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }
    };
}

text!(RowId, "an id of 1 to 64 lower-case letters, digits, _ and -", |text| {
    (1..=MOST).contains(&text.len()) && text.bytes().all(is_id_byte)
});
text!(RuleId, "a table, / and an id", |text| {
    let parts = text.split_once('/');
    parts.is_some_and(|(table, row)| {
        table.bytes().all(is_id_byte)
            && (1..=MOST * 4).contains(&row.len())
            && !table.is_empty()
            && !row.contains(|character: char| character.is_whitespace() || character.is_control())
    })
});
text!(FieldPattern, "a dotted path, its parts words or *, or ** at its end", |text| {
    let base = text.strip_suffix(".**").unwrap_or(text);
    text == "**" || (text.len() <= 200 && FieldPath::from_str(&base.replace('*', "x")).is_ok())
});

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
}

fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

/// How far the full-width forms lie above ASCII. The full-width space U+3000 is white space already.
const FULL_WIDTH: u32 = 0xfee0;

/// The longest id.
const MOST: usize = 64;
