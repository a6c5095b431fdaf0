//! The name of a question: its trace, a dot, and the number of the event that asked. The trace alone means its first event.

use std::{borrow::Cow, fmt, str::FromStr};

use demur_ledger::name::{Sequence, TraceId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A question by trace and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct QuestionId {
    /// The trace.
    pub trace: TraceId,
    /// The event that asked.
    pub sequence: Sequence,
}

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.trace, self.sequence)
    }
}

impl FromStr for QuestionId {
    type Err = NotAQuestion;

    fn from_str(text: &str) -> Result<Self, NotAQuestion> {
        let (trace, sequence) = text.split_once('.').unwrap_or((text, "0"));
        let plain = sequence.bytes().all(|digit| digit.is_ascii_digit()) && sequence.len() <= MAX_DIGITS;
        let number = sequence.parse::<u64>().ok().filter(|number| plain && number.to_string() == sequence);
        let sequence = number.and_then(|number| Sequence::try_from(number).ok()).ok_or(NotAQuestion)?;
        Ok(Self { trace: trace.parse().map_err(|_| NotAQuestion)?, sequence })
    }
}

impl From<QuestionId> for String {
    fn from(id: QuestionId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for QuestionId {
    type Error = NotAQuestion;

    fn try_from(text: String) -> Result<Self, NotAQuestion> {
        text.parse()
    }
}

impl JsonSchema for QuestionId {
    fn schema_name() -> Cow<'static, str> {
        "QuestionId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A question: its trace, a dot, the number of the event that asked.",
            "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}(\\.(0|[1-9][0-9]{0,15}))?$"
        })
    }
}

/// Something that names no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the id of a question: 26 characters, a dot and a number, as `demur inbox --list` shows them"
)]
pub struct NotAQuestion;

/// More digits than any number of an event has.
const MAX_DIGITS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_they_are_written() {
        let id: QuestionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV.12".parse().unwrap();
        assert_eq!(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV.12");
        assert_eq!("01ARZ3NDEKTSV4RRFFQ69G5FAV".parse::<QuestionId>().unwrap().sequence, Sequence::FIRST);
    }

    #[test]
    fn rejects_what_names_no_question() {
        for text in [
            "",
            ".0",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV.",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV.01",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV.+1",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV.-1",
            "01ARZ3NDEKTSV4RRFFQ69G5FA.1",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV.99999999999999999999",
        ] {
            assert_eq!(text.parse::<QuestionId>(), Err(NotAQuestion), "{text}");
        }
    }
}
