//! What is missing, one definition for all tiers: a question of the desk as a form with one field, or as an address where
//! people answer; and what comes back, as an answer.

use demur_api::question::{QuestionId, QuestionView, typed};
use demur_core::{hash::Digest, limit::Text};
use demur_ledger::{
    content::{AnswerValue, Choice},
    facts::{AnswerKind, Assurance, Severity},
};
use rmcp::model::{
    BooleanSchema, ConstTitle, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    EnumSchema, LegacyEnumSchema, NumberSchema, PrimitiveSchemaDefinition, SingleSelectEnumSchema,
    StringSchema, TitledSingleSelectEnumSchema,
};
use serde_json::Value;

use crate::tier::Modes;

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// Its name for the client: the gap of a plan, otherwise the question.
    pub(crate) key: String,
    /// The question.
    pub(crate) question: QuestionId,
    /// What the user reads.
    pub(crate) message: String,
    kinds: Vec<AnswerKind>,
    choices: Vec<Choice>,
    /// Whether it is a gap of a plan, which nobody can decline for all.
    gap: bool,
    /// Whether it may be accepted as it is.
    acceptable: bool,
    /// Whether what comes through a client can settle it.
    relayable: bool,
    /// The digest of the request that waits, which an answer has to name.
    request: Option<Digest>,
}

/// What a user said through its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// An answer.
    Answer(AnswerValue),
    /// It may stay as it is.
    Accepted,
    /// Nobody here will answer.
    Declined,
    /// Nothing: the question stays open.
    Nothing,
    /// Something that is no answer, and why.
    Misfit(String),
}

impl Prompt {
    /// Returns what a question of the desk asks for.
    pub(crate) fn of(question: &QuestionView) -> Self {
        Self {
            key: question.gap.clone().unwrap_or_else(|| question.id.to_string()),
            question: question.id,
            message: message(question),
            kinds: question.kinds.clone(),
            choices: question.choices.clone(),
            gap: question.gap.is_some(),
            acceptable: question.gap.is_some() && question.severity == Severity::Warn,
            relayable: question.assurance <= Assurance::Relayed
                && !question.kinds.contains(&AnswerKind::Secret),
            request: question.request,
        }
    }

    /// Returns the digest of the request that waits, if the question names one.
    pub(crate) const fn request_digest(&self) -> Option<Digest> {
        self.request
    }

    /// Returns whether what comes through a client can settle it: a secret, and what demands that somebody signs in, go to
    /// the inbox.
    pub(crate) const fn is_relayable(&self) -> bool {
        self.relayable
    }

    /// Returns the request that puts it before the client's user; none where the client has no way that fits.
    pub(crate) fn request(&self, modes: Modes, address: Option<&str>) -> Option<ElicitRequestParams> {
        let form = if modes.form && self.relayable { self.form(modes.titles) } else { None };
        if let Some(requested_schema) = form {
            let message = self.message.clone();
            return Some(ElicitRequestParams::FormElicitationParams {
                meta: None,
                message,
                requested_schema,
            });
        }
        let url = address.filter(|_| modes.url).map(|address| link(address, self.question))?;
        let message = self.message.clone();
        let elicitation_id = self.question.to_string();
        Some(ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id })
    }

    /// Returns the same prompt for somebody whose answer did not settle it.
    #[must_use]
    pub(crate) fn again(&self, why: &str) -> Self {
        Self { message: format!("Not taken: {why}.\n\n{}", self.message), ..self.clone() }
    }

    fn form(&self, titles: bool) -> Option<ElicitationSchema> {
        let field = match self.kinds.as_slice() {
            [AnswerKind::YesNo] => PrimitiveSchemaDefinition::Boolean(BooleanSchema::new().title(TITLE)),
            [AnswerKind::Numeric] => PrimitiveSchemaDefinition::Number(NumberSchema::new().title(TITLE)),
            [AnswerKind::MultipleChoice] => PrimitiveSchemaDefinition::Enum(self.choice(titles)),
            _ if self.suggests() => PrimitiveSchemaDefinition::Enum(self.choice(titles)),
            _ => PrimitiveSchemaDefinition::String(self.text()),
        };
        let form = ElicitationSchema::builder();
        let form = if self.acceptable || self.suggests() {
            form.property(ANSWER, field)
        } else {
            form.required_property(ANSWER, field)
        };
        let other = StringSchema::new().title("Other").description(OTHERWISE).max_length(MAX_TEXT_CHARS);
        let form = if self.suggests() {
            form.property(OTHER, PrimitiveSchemaDefinition::String(other))
        } else {
            form
        };
        let accept = BooleanSchema::new().title("Go on as it is").with_default(false);
        let accept = PrimitiveSchemaDefinition::Boolean(accept);
        if self.acceptable { form.property(ACCEPT, accept) } else { form }.build().ok()
    }

    /// Returns whether its choices are suggestions: any other text is an answer too.
    fn suggests(&self) -> bool {
        let has = |kind| self.kinds.contains(&kind);
        !self.choices.is_empty() && has(AnswerKind::MultipleChoice) && has(AnswerKind::Freetext)
    }

    fn text(&self) -> StringSchema {
        let text = StringSchema::new().title(TITLE).max_length(MAX_TEXT_CHARS);
        let values: Vec<_> = self.choices.iter().map(|choice| choice.value.as_str()).collect();
        let text = if self.acceptable { text } else { text.min_length(1) };
        if values.is_empty() { text } else { text.description(format!("For example: {}", values.join(", "))) }
    }

    fn choice(&self, titles: bool) -> EnumSchema {
        if titles {
            let choice = |choice: &Choice| ConstTitle::new(choice.value.as_str(), choice.label.as_str());
            let schema = TitledSingleSelectEnumSchema::new(self.choices.iter().map(choice).collect());
            return EnumSchema::Single(SingleSelectEnumSchema::Titled(schema));
        }
        let mut schema =
            LegacyEnumSchema::new(self.choices.iter().map(|choice| choice.value.to_string()).collect());
        schema.enum_names = Some(self.choices.iter().map(|choice| choice.label.to_string()).collect());
        EnumSchema::Legacy(schema)
    }

    /// Returns what the user said, from what the client sent back.
    pub(crate) fn read(&self, result: &ElicitResult) -> Said {
        match result.action {
            ElicitationAction::Accept => self.filled_in(result.content.as_ref()),
            ElicitationAction::Decline if !self.gap => Said::Declined,
            _ => Said::Nothing,
        }
    }

    fn filled_in(&self, content: Option<&Value>) -> Said {
        // An address that was opened brings nothing back: the answer comes to the desk.
        let Some(content) = content.filter(|_| self.relayable) else { return Said::Nothing };
        if self.acceptable && content[ACCEPT] == true {
            return Said::Accepted;
        }
        // Whoever writes something of their own means it, whatever is chosen beside it.
        let other =
            content[OTHER].as_str().map(str::trim).filter(|words| self.suggests() && !words.is_empty());
        let answer = match &content[ANSWER] {
            _ if other.is_some() => Text::try_from(other.unwrap_or_default())
                .map(AnswerValue::Text)
                .map_err(|error| error.to_string()),
            Value::String(words) => {
                typed(&self.kinds, &self.choices, words).map_err(|error| error.to_string())
            }
            Value::Bool(flag) => Ok(AnswerValue::Flag(*flag)),
            Value::Number(number) => Ok(AnswerValue::Number(number.clone())),
            _ => Err(format!("expected the member {ANSWER:?} in the content, found none")),
        };
        let fits = |value: &AnswerValue| self.kinds.iter().any(|kind| value.fits(*kind, &self.choices));
        match answer {
            Ok(value) if fits(&value) => Said::Answer(value),
            Ok(_) => {
                Said::Misfit("expected an answer of the kind that is asked for, found another".to_owned())
            }
            Err(why) => Said::Misfit(why),
        }
    }
}

/// Returns where people answer a question.
pub(crate) fn link(address: &str, question: QuestionId) -> String {
    format!("{address}/questions/{question}")
}

/// Returns the name of the user of a client, where nothing better is known.
pub(crate) fn user_of(client: &str) -> String {
    format!("{client} user")
}

fn message(question: &QuestionView) -> String {
    let words = question.question.as_deref().unwrap_or("The question was erased.");
    let context = question.context.as_deref().map_or_else(String::new, |context| format!("\n\n{context}"));
    let severity = match question.severity {
        Severity::Block => "must be answered",
        Severity::Warn => "please confirm",
    };
    let plan = question.plan.as_ref().map_or_else(String::new, |plan| format!(" for {}", plan.words()));
    format!("{words}{context}\n\nAsked by {}{plan} ({severity}).", question.asked_by())
}

/// The field for the answer.
const ANSWER: &str = "answer";
/// The field for what is none of the choices.
const OTHER: &str = "other";
const OTHERWISE: &str = "If none of these fits";
/// The field that accepts a warning.
const ACCEPT: &str = "accept";
const TITLE: &str = "Answer";
/// How long a text is at most.
const MAX_TEXT_CHARS: u32 = 16_384;
