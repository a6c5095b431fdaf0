//! An answer that is replaced or taken back by whoever gave it.

use demur_core::{hash::Digest, limit::Text};
use demur_ledger::{content::AnswerValue, name::Sequence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Said};

/// An answer in the place of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
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
    /// The event of the answer that is replaced: refused where another one counts by now. Otherwise the one that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Sequence>,
}

impl Replacement {
    /// Returns an answer in the place of this one.
    pub fn new(given: Answer, replaces: Option<Sequence>) -> Self {
        let Answer { answer, note, request, by } = given;
        Self { answer, note, request, by, replaces }
    }

    /// Returns the answer by itself.
    pub fn answer(&self) -> Answer {
        let Self { answer, note, request, by, .. } = self.clone();
        Answer { answer, note, request, by }
    }
}

/// An answer that is taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeParameters {
    /// Why. It stands in the address, so it is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text<1, 1000>>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Text<1, 256>>,
    /// The event of the answer: refused where another one counts by now. Otherwise the one that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Sequence>,
}

impl Said for Replacement {
    fn by(&self) -> Option<&Text<1, 256>> {
        self.by.as_ref()
    }
}

impl Said for RevokeParameters {
    fn by(&self) -> Option<&Text<1, 256>> {
        self.by.as_ref()
    }
}
