//! The kinds of answers under the names that people and programs read and write: `text`, `yes-no`, `choice`, `number` and
//! `secret`, at every door. The ledger has names of its own (`docs/format.md`); they and other spellings are read, too.

use std::{borrow::Cow, fmt, str::FromStr};

use demur_core::limit::List;
use demur_ledger::facts::AnswerKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub AnswerKind);

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self(AnswerKind::Freetext),
        Self(AnswerKind::YesNo),
        Self(AnswerKind::MultipleChoice),
        Self(AnswerKind::Numeric),
        Self(AnswerKind::Secret),
    ];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self.0 {
            AnswerKind::Freetext => "text",
            AnswerKind::YesNo => "yes-no",
            AnswerKind::MultipleChoice => "choice",
            AnswerKind::Numeric => "number",
            AnswerKind::Secret => "secret",
        }
    }
}

/// A word that names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected text, yes-no, choice, number or secret, found {0:?}")]
pub struct UnknownKind(String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        // What stands between the parts of a name, and its case, tell no kinds apart.
        let parts =
            word.chars().filter(|character| !matches!(character, '_' | '-' | ' ')).take(MAX_WORD_CHARACTERS);
        let kind = match parts.collect::<String>().to_ascii_lowercase().as_str() {
            "text" | "freetext" => AnswerKind::Freetext,
            "yesno" => AnswerKind::YesNo,
            "choice" | "multiplechoice" => AnswerKind::MultipleChoice,
            "number" | "numeric" => AnswerKind::Numeric,
            "secret" => AnswerKind::Secret,
            _ => return Err(UnknownKind(word.chars().take(MAX_WORD_CHARACTERS).collect())),
        };
        Ok(Self(kind))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<'de, str>::deserialize(deserializer)?;
        word.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Kind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
}

/// The kinds that a question takes, in a document that shows it.
pub(super) mod shown {
    use super::{AnswerKind, Deserialize as _, Deserializer, Kind, Serializer};

    pub(in crate::question) fn serialize<S: Serializer>(
        kinds: &[AnswerKind],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(kinds.iter().map(|kind| Kind(*kind)))
    }

    pub(in crate::question) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<AnswerKind>, D::Error> {
        let kinds = Vec::<Kind>::deserialize(deserializer)?;
        Ok(kinds.into_iter().map(|kind| kind.0).collect())
    }
}

/// Reads the kinds that an asker names. They are written under the names of the ledger: a retry after an upgrade has to be
/// the same request, byte for byte.
pub(super) fn asked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<AnswerKind, 0, 4>, D::Error> {
    let kinds = List::<Kind, 0, 4>::deserialize(deserializer)?;
    let kinds: Vec<_> = kinds.iter().map(|kind| kind.0).collect();
    List::try_from(kinds).map_err(de::Error::custom)
}

/// How much of a word is looked at.
const MAX_WORD_CHARACTERS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read_and_one_is_written() {
        for (kind, words) in [
            ("text", &["text", "freetext", "free_text", "Text"][..]),
            ("yes-no", &["yes-no", "yes_no", "yesno", "YesNo", "YES NO"]),
            ("choice", &["choice", "multiple_choice", "multiple-choice", "multipleChoice"]),
            ("number", &["number", "numeric"]),
            ("secret", &["secret"]),
        ] {
            for word in words {
                let read: Kind = serde_json::from_value((*word).into()).unwrap();
                assert_eq!(serde_json::to_value(read).unwrap(), kind, "{word}");
            }
        }
    }

    #[test]
    fn names_of_the_ledger_are_read() {
        for kind in Kind::ALL {
            assert_eq!(kind.0.as_str().parse(), Ok(kind));
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
    }

    #[test]
    fn unknown_kind_hears_the_known_ones() {
        let error = "date".parse::<Kind>().unwrap_err().to_string();
        assert_eq!(error, "expected text, yes-no, choice, number or secret, found \"date\"");
    }
}
