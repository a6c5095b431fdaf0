//! A question as everybody sees it: the words, who may answer until when, and what became of it.

use demur_clarify::uuid::Uuid;
use demur_core::{hash::Digest, time::Timestamp};
use demur_ledger::{
    content::{AnswerValue, Choice},
    facts::{AnswerKind, Assurance, Severity},
    name::{Operation, PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, QuestionId, kind};

/// A question and how it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    /// Its name.
    pub id: QuestionId,
    /// Its trace.
    pub trace: TraceId,
    /// The hash of the event that asked: an answer belongs to it.
    pub hash: Digest,
    /// `open`, `answered`, `accepted`, `declined`, `expired`, `defaulted`, `cancelled` or `withdrawn`.
    #[schemars(with = "String")]
    pub state: OutcomeKind,
    /// The question; none once it was erased.
    pub question: Option<String>,
    /// In a few words.
    pub terse: Option<String>,
    /// With why it is asked and what the answer affects.
    pub detailed: Option<String>,
    /// What was found and why it is not enough.
    pub context: Option<String>,
    /// What the answer is for.
    pub field: Option<String>,
    /// Its name in the session of a plan.
    pub gap: Option<String>,
    /// The plan that it belongs to, where the rules ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<QuestionPlan>,
    /// How much depends on it.
    pub severity: Severity,
    /// The kinds of answers that fit.
    #[serde(with = "kind::shown")]
    #[schemars(with = "Vec<Kind>")]
    pub kinds: Vec<AnswerKind>,
    /// What can be chosen.
    pub choices: Vec<Choice>,
    /// What could be answered.
    pub suggestions: Vec<String>,
    /// What holds once the deadline has passed.
    pub default: Option<AnswerValue>,
    /// What the asker would choose.
    pub recommendation: Option<AnswerValue>,
    /// The language of the words.
    pub language: Option<String>,
    /// SHA-256 of the request that waits.
    pub request: Option<Digest>,
    /// What waits for it.
    pub blocks: Vec<Operation>,
    /// When it was asked.
    pub asked: Timestamp,
    /// When it ends unanswered.
    pub deadline: Option<Timestamp>,
    /// Who asks.
    pub asker: Whom,
    /// Whether people may answer.
    pub people: bool,
    /// The least assurance of an answer.
    pub assurance: Assurance,
    /// What became of it; none while it is open.
    pub outcome: Option<Ending>,
    /// Whether the asker waits for the answer at this moment: a hint of the server, no fact of the record. Absent where
    /// the server cannot tell, because the asker has not waited since it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_for: Option<bool>,
}

impl QuestionView {
    /// Returns whether it waits for an answer.
    pub fn is_open(&self) -> bool {
        self.state == OutcomeKind::Open
    }

    /// Returns who asks, as people are told: somebody by name, or the rules that a plan is held against.
    pub fn asked_by(&self) -> &str {
        if self.gap.is_some() { RULES } else { &self.asker.name }
    }
}

/// What asks about a plan.
const RULES: &str = "demur's rules";

/// The plan that a question belongs to, as people are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionPlan {
    /// The agent that submitted it.
    pub agent: String,
    /// Its session.
    pub session: Uuid,
    /// What it calls itself.
    pub subject: Option<String>,
}

impl QuestionPlan {
    /// Returns whose plan it is, and what it is about.
    pub fn words(&self) -> String {
        match &self.subject {
            Some(subject) => format!("the plan of {}: {subject}", self.agent),
            None => format!("the plan of {}", self.agent),
        }
    }
}

/// Somebody with a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Whom {
    /// The name, by the desk's word.
    pub name: String,
    /// The principal.
    pub principal: PrincipalId,
}

/// What became of a question: who, when and how (ONE-02).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// The same word as the question's state.
    #[schemars(with = "String")]
    pub state: OutcomeKind,
    /// The answer, or the default that holds now; none for a secret, which its asker alone gets.
    pub value: Option<AnswerValue>,
    /// Who, by name.
    pub by: Option<String>,
    /// Whose key; none for a person or the desk.
    pub principal: Option<PrincipalId>,
    /// How sure one can be who it was.
    pub assurance: Option<Assurance>,
    /// When.
    pub time: Timestamp,
    /// The event.
    pub event: Sequence,
    /// Why, in their words.
    pub note: Option<String>,
}

/// A question that was asked, now or before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskedView {
    /// The question.
    #[serde(flatten)]
    pub question: QuestionView,
    /// With `once`: whether it had been asked before and nothing was recorded now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_the_word_of_its_outcome_and_no_other() {
        for kind in OutcomeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(serde_json::from_value::<OutcomeKind>(kind.as_str().into()).unwrap(), kind);
        }
        assert!(serde_json::from_value::<OutcomeKind>("pending".into()).is_err());
    }
}
