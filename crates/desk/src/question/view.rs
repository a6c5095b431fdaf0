//! A question as every door shows it: the words, who may answer until when, and what became of it.

use demur_core::{hash::Digest, time::Timestamp};
use demur_ledger::{
    content::{AnswerValue, Choice, QuestionContent},
    envelope::Event,
    event_type::{Content, Facts},
    facts::{AnswerKind, Assurance, Question, Severity},
    name::{Operation, PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};
use demur_store::contract::QuestionSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, QuestionId, kind};
use crate::{error::CommandError, owner::Owner, record};

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
    pub state: String,
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
    pub state: String,
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

/// Returns a question as it stands.
pub fn view(owner: &Owner, id: QuestionId) -> Result<QuestionView, CommandError> {
    if let Some(shown) = recent(owner, id)? {
        return Ok(shown);
    }
    let summary = owner.ledger().store().question(id.trace, id.sequence)?;
    summary.map_or_else(|| Err(unknown(id)), |summary| view_of(owner, &summary))
}

/// Returns a question as it stands, if that is known without reading anything from the disk.
pub fn recent(owner: &Owner, id: QuestionId) -> Result<Option<QuestionView>, CommandError> {
    owner.recent().find(id).map(|shown| named(owner, shown)).transpose()
}

pub(super) fn unknown(id: QuestionId) -> CommandError {
    CommandError::input(
        "QUESTION_UNKNOWN",
        format!("expected a question of this data folder, found none called {id}"),
    )
    .with_hint("`demur inbox --list` shows what waits")
}

/// Returns a question that the list shows.
pub(super) fn view_of(owner: &Owner, summary: &QuestionSummary) -> Result<QuestionView, CommandError> {
    let (event, content) = record::read(owner.ledger().store(), summary.trace, summary.sequence)?;
    let said = event.said().map_err(|_| record::damaged(summary.trace, summary.sequence))?;
    let facts = match said.facts {
        Facts::QuestionAsked(facts) => &facts.0,
        Facts::GapFound(facts) => &facts.0,
        _ => return Err(record::damaged(summary.trace, summary.sequence).into()),
    };
    let words = match &content {
        Some(Content::QuestionAsked(words) | Content::GapFound(words)) => Some(words),
        _ => None,
    };
    let mut shown = shown(summary, facts, words, *event.hash());
    if summary.row.outcome != OutcomeKind::Open {
        let (event, content) = record::read(owner.ledger().store(), summary.trace, summary.row.changed)?;
        let ending = ending(&event, content, summary.row.outcome);
        shown.outcome = Some(ending.ok_or_else(|| record::damaged(summary.trace, summary.row.changed))?);
    }
    named(owner, shown)
}

/// Returns the question with the names of those who asked and answered with a key.
fn named(owner: &Owner, mut shown: QuestionView) -> Result<QuestionView, CommandError> {
    let roster = owner.roster()?;
    roster.name(shown.asker.principal).clone_into(&mut shown.asker.name);
    if let Some(ending) = shown.outcome.as_mut().filter(|ending| ending.by.is_none()) {
        ending.by = ending.principal.map(|principal| roster.name(principal).to_owned());
    }
    Ok(shown)
}

/// Returns a question without what became of it and without names.
pub(super) fn shown(
    summary: &QuestionSummary,
    facts: &Question,
    words: Option<&QuestionContent>,
    hash: Digest,
) -> QuestionView {
    let row = &summary.row;
    let text = |text: Option<&str>| text.map(str::to_owned);
    QuestionView {
        id: QuestionId { trace: summary.trace, sequence: summary.sequence },
        trace: summary.trace,
        hash,
        state: row.outcome.as_str().to_owned(),
        question: text(words.map(|words| words.wording.normal.as_str())),
        terse: text(words.map(|words| words.wording.terse.as_str())),
        detailed: text(words.map(|words| words.wording.detailed.as_str())),
        context: text(words.and_then(|words| words.context.as_deref())),
        field: text(words.and_then(|words| words.field.as_deref())),
        gap: text(words.and_then(|words| words.gap.as_deref())),
        severity: row.severity,
        kinds: facts.kinds.to_vec(),
        choices: words.map(|words| words.choices.to_vec()).unwrap_or_default(),
        suggestions: words
            .map(|words| words.suggestions.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        default: words.and_then(|words| words.default.clone()),
        recommendation: words.and_then(|words| words.recommendation.clone()),
        language: text(words.map(|words| words.language.as_str())),
        request: words.and_then(|words| words.request),
        blocks: facts.blocks.to_vec(),
        asked: summary.asked,
        deadline: row.deadline,
        asker: Whom { name: String::new(), principal: row.asker },
        people: row.people,
        assurance: facts.assurance,
        outcome: None,
        waited_for: None,
    }
}

/// Returns what became of a question, as the event says that ended it, without names.
pub(super) fn ending(event: &Event, content: Option<Content>, outcome: OutcomeKind) -> Option<Ending> {
    let said = event.said().ok()?;
    let assurance = match said.facts {
        Facts::QuestionAnswered(facts) => Some(facts.assurance),
        Facts::AnswerSuperseded(facts) => Some(facts.answer.assurance),
        Facts::GapAccepted(facts) => Some(facts.assurance),
        _ => None,
    };
    let (value, by, note) = match content {
        Some(Content::QuestionAnswered(words) | Content::AnswerSuperseded(words)) => {
            (Some(words.answer), words.by, words.note)
        }
        Some(Content::QuestionDefaulted(words)) => (Some(words.default), None, None),
        Some(
            Content::GapAccepted(words)
            | Content::GapWithdrawn(words)
            | Content::QuestionDeclined(words)
            | Content::QuestionCancelled(words),
        ) => (None, words.by, Some(words.reason)),
        _ => (None, None, None),
    };
    let principal = event.envelope().statement.as_ref().map(|_| event.envelope().actor);
    Some(Ending {
        state: outcome.as_str().to_owned(),
        value,
        by: by.map(|by| by.to_string()),
        principal,
        assurance,
        time: event.envelope().time,
        event: event.position().sequence,
        note: note.map(|note| note.to_string()),
    })
}
