//! Content of questions and answers: the words, the choices, what was shown to whom.

use std::{borrow::Cow, collections::BTreeMap};

use demur_core::{
    commitment::Commitment,
    hash::Digest,
    limit::{List, Text, Whole},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};
use zeroize::Zeroize as _;

use super::EventContent;
use crate::{facts::AnswerKind, name::present};

/// A question in words (AEP-04, AEP-09, AEP-11, AEP-12, CLR-21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionContent {
    /// The signed ask of the clarification protocol, where there is one.
    #[serde(deserialize_with = "present")]
    pub ask: Option<Map<String, Value>>,
    /// What can be chosen, in the asker's order.
    pub choices: List<Choice, 0, 32>,
    /// What was found and why it is not enough.
    #[serde(deserialize_with = "present")]
    pub context: Option<Text<1, 4096>>,
    /// The declared default; never sealed.
    #[serde(deserialize_with = "present")]
    pub default: Option<AnswerValue>,
    /// The field of the plan it is about, as a dotted path.
    #[serde(deserialize_with = "present")]
    pub field: Option<Text<1, 256>>,
    /// The name of the gap within its session.
    #[serde(deserialize_with = "present")]
    pub gap: Option<Text<1, 64>>,
    /// The language of the wordings, as a BCP 47 tag.
    pub language: Text<2, 64>,
    /// What the asker would choose; never sealed, and null where the answer is secret.
    #[serde(deserialize_with = "present")]
    pub recommendation: Option<AnswerValue>,
    /// SHA-256 of the request that waits for the answer.
    #[serde(deserialize_with = "present")]
    pub request: Option<Digest>,
    /// The rule behind it and the SHA-256 of the rules it stands in.
    #[serde(deserialize_with = "present")]
    pub rule: Option<RuleName>,
    /// What could be answered; other answers are possible. None where the answer is secret.
    pub suggestions: List<Text<1, 4096>, 0, 32>,
    /// The three wordings.
    pub wording: Wordings,
}

impl QuestionContent {
    /// Returns what an answer is held against.
    pub fn terms(&self) -> Terms {
        Terms {
            choices: self.choices.iter().map(|choice| choice.value.clone()).collect(),
            default: self.default.clone(),
            request: self.request,
        }
    }
}

/// What only the words of a question tell about its answer: the values of its choices, its default, its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    choices: Vec<Text<1, 256>>,
    default: Option<AnswerValue>,
    request: Option<Digest>,
}

impl Terms {
    /// Checks that an answer is the value of the choice it names, and about the request that waits.
    pub fn check_answer(
        &self,
        choice: Option<Whole<0, 31>>,
        answer: &AnswerValue,
        request: Option<Digest>,
    ) -> Result<(), TermsError> {
        if let Some(choice) = choice {
            let value = usize::try_from(choice.as_u64()).ok().and_then(|choice| self.choices.get(choice));
            if !matches!((answer, value), (AnswerValue::Text(text), Some(value)) if text.as_str() == value.as_str())
            {
                return Err(TermsError::Choice { number: choice.as_u64() });
            }
        }
        if request == self.request { Ok(()) } else { Err(TermsError::Request) }
    }

    /// Checks that a default is the declared one.
    pub fn check_default(&self, default: &AnswerValue) -> Result<(), TermsError> {
        if self.default.as_ref() == Some(default) { Ok(()) } else { Err(TermsError::Default) }
    }
}

/// Words that do not go with those of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermsError {
    /// Another value than that of the choice.
    #[error("expected the value of choice {number}, found another answer")]
    Choice {
        /// The choice, from 0.
        number: u64,
    },
    /// Another request.
    #[error("expected the digest of the request that the question is about, found another or none")]
    Request,
    /// Another default.
    #[error("expected the default that the question declares, found another")]
    Default,
}

impl TermsError {
    /// Returns the stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Choice { .. } => "ANSWER_CHOICE",
            Self::Request => "ANSWER_REQUEST",
            Self::Default => "ANSWER_DEFAULT",
        }
    }
}

/// One question in three lengths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wordings {
    /// With why it is asked and what the answer affects.
    pub detailed: Text<1, 16384>,
    /// The question itself.
    pub normal: Text<1, 16384>,
    /// In a few words.
    pub terse: Text<1, 4096>,
}

/// One choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What people read.
    pub label: Text<1, 1024>,
    /// What an answer carries; no two are equal.
    pub value: Text<1, 256>,
}

/// A rule by name, in rules by hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleName {
    /// The rule's name within its rules.
    pub name: Text<1, 256>,
    /// SHA-256 of the rules, as recorded in this trace.
    pub rules: Digest,
}

/// What was answered: a text, yes or no, a number, or in place of a secret the commitment to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnswerValue {
    /// A text, or the value of a choice.
    Text(Text<1, 16384>),
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(serde_json::Number),
    /// The commitment to a secret, which is elsewhere.
    Sealed(Sealed),
}

/// A text may be a secret on its way to its asker, and every copy of it is wiped.
impl Drop for AnswerValue {
    fn drop(&mut self) {
        if let Self::Text(text) = self {
            text.zeroize();
        }
    }
}

impl AnswerValue {
    /// Returns whether the value can be an answer of this kind, given the values of the choices.
    pub fn fits(&self, kind: AnswerKind, choices: &[Choice]) -> bool {
        match (kind, self) {
            (AnswerKind::Freetext, Self::Text(_))
            | (AnswerKind::YesNo, Self::Flag(_))
            | (AnswerKind::Numeric, Self::Number(_))
            | (AnswerKind::Secret, Self::Sealed(_)) => true,
            (AnswerKind::MultipleChoice, Self::Text(text)) => {
                choices.iter().any(|choice| choice.value.as_str() == text.as_str())
            }
            _ => false,
        }
    }

    /// Returns whether the value itself is elsewhere.
    pub const fn is_sealed(&self) -> bool {
        matches!(self, Self::Sealed(_))
    }
}

/// What stands for a secret answer. Its value and its salt are never in the ledger; whoever was given both can show
/// that they are what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Sealed {
    /// The commitment to the bytes of the value.
    pub commitment: Commitment,
}

impl<'de> Deserialize<'de> for Sealed {
    /// Reads an object; the derived form would take a list of one commitment for it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = BTreeMap::<String, Commitment>::deserialize(deserializer)?;
        match members.remove("commitment") {
            Some(commitment) if members.is_empty() => Ok(Self { commitment }),
            _ => Err(D::Error::custom("expected an object with the member commitment and no other")),
        }
    }
}

impl std::fmt::Display for AnswerValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Flag(true) => formatter.write_str("yes"),
            Self::Flag(false) => formatter.write_str("no"),
            Self::Number(number) => number.fmt(formatter),
            // The commitment is no answer, and must not be read as one.
            Self::Sealed(_) => formatter.write_str("(secret)"),
        }
    }
}

impl JsonSchema for AnswerValue {
    fn schema_name() -> Cow<'static, str> {
        "AnswerValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": ["string", "boolean", "integer", "number"], "minLength": 1, "maxLength": 16384},
            generator.subschema_for::<Sealed>(),
        ]})
    }
}

/// An answer in words, and what its author had before them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerContent {
    /// The answer.
    pub answer: AnswerValue,
    /// Who the desk says it was, where no key stands behind it.
    #[serde(deserialize_with = "present")]
    pub by: Option<Text<1, 256>>,
    /// Why, in the answerer's words.
    #[serde(deserialize_with = "present")]
    pub note: Option<Text<1, 4096>>,
    /// The SHA-256 of the blocked request, the same as in the question.
    #[serde(deserialize_with = "present")]
    pub request: Option<Digest>,
    /// The signed answer of the clarification protocol, where there is one. It tells the answer, so a secret has none.
    #[serde(deserialize_with = "present")]
    pub signed: Option<Map<String, Value>>,
    /// What the answerer was shown.
    #[serde(deserialize_with = "present")]
    pub shown: Option<Shown>,
}

/// What somebody was shown of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The choices, by number, in the order on the screen.
    pub choices: List<Whole<0, 31>, 0, 32>,
    /// The language, as a BCP 47 tag.
    pub language: Text<2, 64>,
    /// Whether the asker's recommendation was shown.
    pub recommendation: bool,
    /// Which wording.
    pub wording: Wording,
}

/// The three wordings by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// The short one.
    Terse,
    /// The usual one.
    #[default]
    Normal,
    /// The long one.
    Detailed,
}

/// To whom a question was delivered, and what they were shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryContent {
    /// The way it went, such as `terminal`.
    pub channel: Text<1, 64>,
    /// The program or user who says that it was shown; null where demur handed it over itself.
    #[serde(deserialize_with = "present")]
    pub said_by: Option<Text<1, 256>>,
    /// What was shown.
    pub shown: Shown,
    /// To whom.
    pub to: Text<1, 256>,
}

/// What the asker thinks the answer is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerClaimContent {
    /// The answer it would give; never sealed.
    pub answer: AnswerValue,
    /// Why.
    #[serde(deserialize_with = "present")]
    pub note: Option<Text<1, 4096>>,
}

/// An answer that did not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectedContent {
    /// The answer; null where the question asks for a secret.
    #[serde(deserialize_with = "present")]
    pub answer: Option<AnswerValue>,
    /// Who gave it: the name of a person, or the principal of a key.
    pub by: Text<1, 256>,
}

/// A value that took effect when the deadline passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultContent {
    /// The declared default, the same as in the question.
    pub default: AnswerValue,
}

/// Why somebody acted on a question, and who the desk says it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActContent {
    /// Who the desk says it was, where no key stands behind it.
    #[serde(deserialize_with = "present")]
    pub by: Option<Text<1, 256>>,
    /// Why.
    pub reason: Text<1, 4096>,
}

impl EventContent for QuestionContent {}
impl EventContent for AnswerContent {}
impl EventContent for DeliveryContent {}
impl EventContent for AnswerClaimContent {}
impl EventContent for DefaultContent {}
impl EventContent for RejectedContent {}
impl EventContent for ActContent {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_commitment_and_a_commitment_is_a_secret() {
        let kinds =
            [AnswerKind::Freetext, AnswerKind::YesNo, AnswerKind::MultipleChoice, AnswerKind::Numeric];
        let sealed = AnswerValue::Sealed(Sealed { commitment: "5a".repeat(32).parse().unwrap() });
        let text = AnswerValue::Text(Text::try_from("5a".repeat(32)).unwrap());
        assert!(sealed.fits(AnswerKind::Secret, &[]));
        assert!(!kinds.into_iter().any(|kind| sealed.fits(kind, &[])));
        for value in [text, AnswerValue::Flag(true), AnswerValue::Number(5.into())] {
            assert!(!value.fits(AnswerKind::Secret, &[]), "{value}");
        }
    }

    #[test]
    fn a_sealed_answer_has_one_form_on_the_wire() {
        let commitment = "5a".repeat(32);
        let written = format!(r#"{{"commitment":"{commitment}"}}"#);
        let sealed: AnswerValue = serde_json::from_str(&written).unwrap();
        assert!(sealed.is_sealed());
        assert_eq!(serde_json::to_string(&sealed).unwrap(), written);
        for wrong in [
            "{}".to_owned(),
            r#"{"commitment":null}"#.to_owned(),
            r#"{"commitment":"5a"}"#.to_owned(),
            written.replace('5', "A"),
            format!(r#"{{"commitment":"{commitment}","salt":"{commitment}"}}"#),
            format!("[{written}]"),
            format!(r#"["{commitment}"]"#),
        ] {
            assert!(serde_json::from_str::<AnswerValue>(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn people_do_not_read_a_commitment_as_an_answer() {
        let sealed = AnswerValue::Sealed(Sealed { commitment: "5a".repeat(32).parse().unwrap() });
        assert_eq!(sealed.to_string(), "(secret)");
    }
}
