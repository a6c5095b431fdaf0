//! What tools take, as models write it.

pub(crate) mod confirmation;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod session;

use demur_api::{
    code::Code,
    question::{Ask, Kind, QuestionId, QuestionText},
    refusal::Refusal,
};
use demur_core::limit::{List, Text, Whole};
use demur_ledger::{
    content::Choice,
    facts::AnswerKind,
    name::{Operation, TraceId},
    question::OutcomeKind,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::Value;

use crate::reply::Stop;

/// A question to a person.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskHuman {
    /// One clear question.
    question: QuestionText,
    /// What you found and why it is not enough.
    #[serde(default)]
    context: Option<Text<1, 4096>>,
    /// Suggested answers.
    #[serde(default)]
    choices: List<Text<1, 256>, 0, 32>,
    /// Nothing but the choices.
    #[serde(default)]
    closed: bool,
    /// The answer you want.
    #[serde(default)]
    kind: Option<Kind>,
    /// Operations that must wait for the answer.
    #[serde(default)]
    blocks: List<Operation, 0, 32>,
    /// Your run, if it waits for the answer.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    trace: Option<TraceId>,
    /// Ask anew what you asked before.
    #[serde(default)]
    pub(crate) again: bool,
    /// Seconds to wait at most.
    #[serde(default)]
    pub(crate) wait_s: Option<u32>,
}

/// A question by its id.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckQuestion {
    #[schemars(with = "String")]
    pub(crate) question_id: QuestionId,
    #[serde(default)]
    pub(crate) wait_s: Option<u32>,
}

/// Which of your questions to list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQuestions {
    /// open, answered ...
    #[serde(default, deserialize_with = "outcome")]
    #[schemars(with = "Option<String>")]
    pub(crate) state: Option<OutcomeKind>,
    #[serde(default)]
    #[schemars(with = "Option<u32>")]
    pub(crate) limit: Option<Whole<1, 50>>,
}

/// A question that needs no answer any more.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelQuestion {
    #[schemars(with = "String")]
    pub(crate) question_id: QuestionId,
    #[serde(default)]
    pub(crate) reason: Option<Text<1, 4096>>,
}

impl AskHuman {
    /// Returns the question as the desk takes it.
    pub(crate) fn ask(&self) -> Result<Ask, Stop> {
        let mut ask = Ask::new(self.question.clone());
        let choice = |text: &Text<1, 256>| {
            Text::try_from(text.as_str()).map(|label| Choice { label, value: text.clone() })
        };
        let choices: Vec<_> =
            self.choices.iter().map(choice).collect::<Result<_, _>>().map_err(at("choices"))?;
        let kind = self.kind.map(|Kind(kind)| kind);
        let chooses = matches!(kind, Some(AnswerKind::MultipleChoice) | None) && !choices.is_empty();
        let kinds = match kind {
            _ if chooses && !self.closed => vec![AnswerKind::MultipleChoice, AnswerKind::Freetext],
            None if chooses || self.closed => vec![AnswerKind::MultipleChoice],
            None => vec![AnswerKind::Freetext],
            // Choices that are none are refused at the desk, in its words.
            Some(kind) => vec![kind],
        };
        ask.kinds = kinds.try_into().map_err(at("kind"))?;
        ask.choices = choices.try_into().map_err(at("choices"))?;
        ask.context.clone_from(&self.context);
        ask.blocks = self.blocks.clone();
        ask.trace = self.trace;
        Ok(ask)
    }
}

/// Reads how a question stands, by its word.
fn outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OutcomeKind>, D::Error> {
    let Some(word) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let found = OutcomeKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    found.map(Some).ok_or_else(|| {
        let known: Vec<_> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
        D::Error::custom(format!("expected {}, found {word:?}", known.join(", ")))
    })
}

/// Returns the arguments of a tool; a model hears what is wrong with them.
pub(crate) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Stop> {
    fit(Value::Object(arguments)).map_err(wrong)
}

/// What does not fit, and where.
pub(crate) struct Misfit {
    /// The member, as a dotted path; none where it is the whole.
    pub(crate) member: Option<String>,
    pub(crate) why: String,
}

/// Returns a value as a type.
pub(crate) fn fit<T: DeserializeOwned>(value: Value) -> Result<T, Misfit> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        Misfit { member: Some(path).filter(|path| path != "."), why: error.inner().to_string() }
    })
}

fn at<E: std::fmt::Display>(member: &str) -> impl Fn(E) -> Stop {
    move |error| wrong(Misfit { member: Some(member.to_owned()), why: error.to_string() })
}

fn wrong(misfit: Misfit) -> Stop {
    let mut refusal = Refusal::new(Code::Arguments, misfit.why);
    refusal.field = misfit.member;
    refusal.cure = Some("Call the tool again with arguments that fit its input schema.".to_owned());
    Stop::Refused(refusal)
}
