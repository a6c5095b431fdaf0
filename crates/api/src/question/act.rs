//! What somebody does about a question, and what came of it.

use demur_core::{
    hash::Digest,
    limit::{List, Text, Whole},
};
use demur_ledger::content::AnswerValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::QuestionView;

/// An answer, as somebody gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// A text, the value of a choice, yes or no as a boolean, or a number.
    pub answer: AnswerValue,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Text<1, 4096>>,
    /// The digest of the request that waits, if the question names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Digest>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
}

/// Why somebody does something about a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<1, 4096>>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
}

/// More time for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// How many seconds after the deadline there is.
    pub seconds: Whole<1, 31_536_000>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<1, 4096>>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
}

/// To whom a question is handed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Passing {
    /// The names of holders of keys for answering, or of people who can sign in.
    #[serde(default)]
    pub to: List<Text<1, 64>, 0, 64>,
    /// Whether people may answer from now on.
    #[serde(default)]
    pub people: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<1, 4096>>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
}

/// Something that is said about a question, for oneself or for somebody else.
pub trait Said {
    /// Returns who says so, where a person speaks through somebody else.
    fn by(&self) -> Option<&Text<1, 256>>;
}

/// Gives everything that can be said about a question its one speaker.
macro_rules! said_by {
    ($($what:ident)+) => {
        $(impl Said for $what {
            fn by(&self) -> Option<&Text<1, 256>> {
                self.by.as_ref()
            }
        })+
    };
}

said_by!(Answer Act Extension Passing);

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// The question as it stands now.
    pub question: QuestionView,
    /// Whether it had happened before and nothing was recorded now.
    pub repeated: bool,
    /// Why the answer does not settle the question, which is put again.
    pub unsettled: Option<String>,
}
