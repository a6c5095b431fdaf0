//! A question, as an asker puts it.

use demur_core::{
    hash::Digest,
    limit::{List, Text, Whole},
};
use demur_ledger::{
    content::{AnswerValue, Choice},
    facts::{AnswerKind, Assurance, Severity},
    name::{Operation, TraceId},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, QuestionText, kind};

/// A question, as an asker puts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The question itself.
    pub question: QuestionText,
    /// In a few words; otherwise the beginning of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terse: Option<Text<1, 4096>>,
    /// With why it is asked and what the answer affects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed: Option<Text<1, 16384>>,
    /// What was found and why it is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text<1, 4096>>,
    /// What the answer is for, as a dotted path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Text<1, 256>>,
    /// The kinds of answers that fit; without any, one of the choices if there are some, else any text.
    #[serde(default, deserialize_with = "kind::asked")]
    #[schemars(with = "List<Kind, 0, 4>")]
    pub kinds: List<AnswerKind, 0, 4>,
    /// What can be chosen.
    #[serde(default)]
    pub choices: List<Choice, 0, 32>,
    /// What could be answered; other answers are possible.
    #[serde(default)]
    pub suggestions: List<Text<1, 4096>, 0, 32>,
    /// What holds once the deadline has passed; it needs `timeout_seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<AnswerValue>,
    /// What the asker would choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<AnswerValue>,
    /// How long it waits, in seconds; otherwise as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<Whole<1, 31_536_000>>,
    /// How much depends on it: `block` or `warn`.
    #[serde(default = "block")]
    pub severity: Severity,
    /// What is refused in its trace until it is settled.
    #[serde(default)]
    pub blocks: List<Operation, 0, 32>,
    /// Who may answer.
    #[serde(default)]
    pub answering: Answering,
    /// The least assurance of an answer, if more is wanted than `answering` implies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<Assurance>,
    /// The language of the words, as a BCP 47 tag.
    #[serde(default = "english")]
    pub language: Text<2, 64>,
    /// The trace of the asker's work that waits for it; otherwise it has a trace of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// SHA-256 of the request that waits for the answer; an answer has to name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Digest>,
}

/// Who may answer a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answering {
    /// People.
    #[default]
    People,
    /// Agents with a key for answering.
    Agents,
    /// Both.
    Anybody,
}

impl Ask {
    /// Returns a question in these words, with everything else as usual.
    pub fn new(question: QuestionText) -> Self {
        Self {
            question,
            terse: None,
            detailed: None,
            context: None,
            field: None,
            kinds: List::default(),
            choices: List::default(),
            suggestions: List::default(),
            default: None,
            recommendation: None,
            timeout_seconds: None,
            severity: block(),
            blocks: List::default(),
            answering: Answering::default(),
            assurance: None,
            language: english(),
            trace: None,
            request: None,
        }
    }
}

const fn block() -> Severity {
    Severity::Block
}

fn english() -> Text<2, 64> {
    // Unwrap safety: two letters.
    "en".try_into().expect("two letters fit")
}
