//! Somebody asks: from the request of a door to the event `question_asked`, once per idempotency key.

use std::sync::Arc;

use demur_core::{
    hash::Digest,
    limit::{List, Text, Whole},
    time::Timestamp,
};
use demur_engine::command::Consequences;
use demur_ledger::{
    author::{Author, Place},
    content::{AnswerValue, Choice, QuestionContent, Wordings},
    event_type::Content,
    facts::{AnswerKind, Answerers, Assurance, Question, QuestionAsked, Severity},
    name::{CommandId, Operation, TraceId},
};
use demur_store::contract::Performed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, QuestionId, QuestionText, alike, kind};
use crate::{
    error::CommandError,
    keyed::{self, Keyed},
    owner::Owner,
    recording::Recording,
};

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

/// A question that is on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name.
    pub id: QuestionId,
    /// Whether the same request had been recorded before.
    pub repeated: bool,
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

    fn kinds(&self) -> Result<List<AnswerKind, 1, 4>, CommandError> {
        let mut kinds = self.kinds.to_vec();
        if kinds.is_empty() {
            kinds.push(if self.choices.is_empty() {
                AnswerKind::Freetext
            } else {
                AnswerKind::MultipleChoice
            });
        }
        kinds.sort_unstable();
        Ok(kinds.try_into()?)
    }

    /// Returns what decides about it, with the deadline that follows from the time it is asked.
    fn facts(&self, place: &Place) -> Result<QuestionAsked, CommandError> {
        let (people, principals, least) = match self.answering {
            Answering::People => (true, Some(List::default()), Assurance::Relayed),
            Answering::Agents => (false, None, Assurance::Agent),
            Answering::Anybody => (true, None, Assurance::Agent),
        };
        let wait = self.timeout_seconds.map(|seconds| seconds.as_u64().saturating_mul(1000));
        Ok(QuestionAsked(Question {
            about: None,
            answerers: Answerers { people, principals },
            asker_settles: false,
            assurance: self.assurance.unwrap_or(least),
            blocks: self.blocks.clone(),
            choices: Whole::try_from(self.choices.len() as u64)?,
            deadline: wait.map(|wait| place.now.plus_millis(wait)),
            default: self.default.is_some(),
            kinds: self.kinds()?,
            repeats: None,
            severity: self.severity,
        }))
    }

    fn content(&self) -> Result<QuestionContent, CommandError> {
        let terse = self.terse.clone().map_or_else(|| Text::cut(&self.question), Ok)?;
        let detailed = match (&self.detailed, &self.context) {
            (Some(detailed), _) => detailed.clone(),
            (None, Some(context)) => Text::cut(&format!("{}\n\n{context}", self.question))?,
            (None, None) => self.question.as_text().clone(),
        };
        Ok(QuestionContent {
            ask: None,
            choices: self.choices.clone(),
            context: self.context.clone(),
            default: self.default.clone(),
            field: self.field.clone(),
            gap: None,
            language: self.language.clone(),
            recommendation: self.recommendation.clone(),
            request: self.request,
            rule: None,
            suggestions: self.suggestions.clone(),
            wording: Wordings { detailed, normal: self.question.as_text().clone(), terse },
        })
    }
}

/// Records a question. The same request under the same idempotency key is recorded once, for good; another request under
/// it is refused (CLR-04).
pub fn ask(
    owner: &Owner,
    author: &Arc<Author>,
    ask: &Ask,
    idempotency: Option<&str>,
) -> Result<Asked, CommandError> {
    let Some(key) = idempotency else { return asking(owner, author, ask)?.perform(owner) };
    let keyed = Keyed::new(author, key, ask)?;
    // From the look to the record: two requests under one key must not pass each other.
    let _turn = keyed.turn(owner);
    record_keyed(owner, author, ask, &keyed)
}

/// Records a question under a command, unless that is on record. Whoever calls has the turn of the command.
pub(super) fn record_keyed(
    owner: &Owner,
    author: &Arc<Author>,
    ask: &Ask,
    keyed: &Keyed,
) -> Result<Asked, CommandError> {
    if let Some(earlier) = recorded_under(owner, author, keyed)? {
        return Ok(earlier);
    }
    match said(owner, author, ask, |_| keyed.command())?.perform(owner) {
        Ok(asked) => Ok(asked),
        // Somebody else with the same key was faster.
        Err(error) => recorded_under(owner, author, keyed)?.ok_or(error),
    }
}

/// Returns the question that was recorded under a command.
pub(super) fn recorded_under(
    owner: &Owner,
    author: &Author,
    keyed: &Keyed,
) -> Result<Option<Asked>, CommandError> {
    let performed = keyed.earlier(owner, author)?;
    performed.map(|performed| Ok(Asked { id: place(&performed)?, repeated: true })).transpose()
}

/// Returns what is to be recorded for a question without an idempotency key.
pub fn asking(owner: &Owner, author: &Author, ask: &Ask) -> Result<Recording<Asked>, CommandError> {
    said(owner, author, ask, |now| CommandId::new(now, &mut { owner.world() }))
}

fn said(
    owner: &Owner,
    author: &Author,
    ask: &Ask,
    command: impl FnOnce(Timestamp) -> CommandId,
) -> Result<Recording<Asked>, CommandError> {
    let (world, ledger) = (owner.world(), owner.ledger());
    let now = world.now()?;
    let trace = ask.trace.unwrap_or_else(|| TraceId::new(now, &mut { world }));
    let seen = match ask.trace {
        Some(trace) => Some(ledger.store().trace(trace)?.ok_or_else(|| unknown(trace))?.head),
        None => None,
    };
    let place = Place { store: ledger.registry().store(), trace, seen, now };
    alike::check(ask)?;
    let (facts, content) = (ask.facts(&place)?, Content::QuestionAsked(ask.content()?));
    let spoken = author.speak(command(now), &place, facts, Some(content), &mut { world })?;
    let command = ledger.spoken(spoken, Consequences::default())?;
    Ok(Recording::new(trace, command, |_, recorded| {
        let recorded = recorded?;
        let id = QuestionId { trace: recorded.trace, sequence: recorded.position.sequence };
        Ok(Asked { id, repeated: recorded.repeated })
    }))
}

fn unknown(trace: TraceId) -> CommandError {
    CommandError::input(
        "TRACE_UNKNOWN",
        format!("expected a trace of this data folder, found none called {trace}"),
    )
    .with_hint("leave `trace` out to ask in a trace of its own")
}

fn place(performed: &Performed) -> Result<QuestionId, CommandError> {
    Ok(QuestionId { trace: performed.trace, sequence: keyed::position(performed)?.sequence })
}

const fn block() -> Severity {
    Severity::Block
}

fn english() -> Text<2, 64> {
    // Unwrap safety: two letters.
    "en".try_into().expect("two letters fit")
}
