//! Somebody asks: from the request of a door to the event `question_asked`, once per idempotency key.

use std::sync::Arc;

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{
    limit::{List, Text, Whole},
    time::Timestamp,
};
use demur_engine::command::{Command, Consequences};
use demur_ledger::{
    author::{Author, Place},
    content::{QuestionContent, Wordings},
    event_type::Content,
    facts::{AnswerKind, Answerers, Assurance, Question, QuestionAsked},
    name::{CommandId, Position, TraceId},
};
use demur_store::contract::Performed;

use super::{Answering, Ask, QuestionId, alike};
use crate::{
    keyed::{self, Keyed},
    lookup::Lookup,
    owner::Owner,
    recording::{Finished, Recording},
};

/// A question that is on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name.
    pub id: QuestionId,
    /// Whether the same request had been recorded before.
    pub repeated: bool,
}

/// Records a question. The same request under the same idempotency key is recorded once, for good; another request under
/// it is refused (CLR-04).
pub fn ask(owner: &Owner, author: &Arc<Author>, ask: &Ask, key: Option<&str>) -> Result<Asked, Refusal> {
    match key {
        None => asking(&owner.lookup(), author, ask, seen(owner, ask)?)?.perform(owner),
        Some(key) => record_keyed(owner, author, ask, Keyed::new(author, key, ask)?),
    }
}

/// Records a question under a command, unless that is on record.
pub(super) fn record_keyed(
    owner: &Owner,
    author: &Arc<Author>,
    ask: &Ask,
    keyed: Keyed,
) -> Result<Asked, Refusal> {
    // A refusal may be recorded in the trace: a request that is only sent again leaves no such mark.
    if ask.trace.is_some()
        && let Some(earlier) = recorded_under(owner, author, &keyed)?
    {
        return Ok(earlier);
    }
    asking_keyed(&owner.lookup(), author, ask, seen(owner, ask)?, keyed)?.perform(owner)
}

/// Returns the question that was recorded under a command.
pub(super) fn recorded_under(
    owner: &Owner,
    author: &Author,
    keyed: &Keyed,
) -> Result<Option<Asked>, Refusal> {
    let performed = keyed.earlier(owner, author)?;
    performed.map(|performed| Ok(Asked { id: place(&performed)?, repeated: true })).transpose()
}

/// Returns what is to be recorded for a question without an idempotency key, by an author who has seen its trace up to
/// here.
pub(super) fn asking(
    at: &Lookup<'_>,
    author: &Author,
    ask: &Ask,
    seen: Option<Position>,
) -> Result<Recording<Asked>, Refusal> {
    said(at, author, ask, seen, |now| CommandId::new(now, &mut { at.system() }))
}

/// Returns the same under an idempotency key. A record that is made with it lets one request count; what comes later gets
/// what came first.
pub(super) fn asking_keyed(
    at: &Lookup<'_>,
    author: &Arc<Author>,
    ask: &Ask,
    seen: Option<Position>,
    keyed: Keyed,
) -> Result<Recording<Asked>, Refusal> {
    let recording = said(at, author, ask, seen, |_| keyed.command())?.with(keyed.swap()?);
    let author = Arc::clone(author);
    Ok(recording.or_else(move |owner, refusal| recorded_under(owner, &author, &keyed)?.ok_or(refusal)))
}

/// Returns the newest event of the trace that a question is asked in; none where it gets one of its own.
fn seen(owner: &Owner, ask: &Ask) -> Result<Option<Position>, Refusal> {
    let Some(trace) = ask.trace else { return Ok(None) };
    let found = owner.sequencer().store().trace(trace)?;
    Ok(Some(found.ok_or_else(|| unknown(trace))?.head))
}

fn said(
    at: &Lookup<'_>,
    author: &Author,
    ask: &Ask,
    seen: Option<Position>,
    command: impl FnOnce(Timestamp) -> CommandId,
) -> Result<Recording<Asked>, Refusal> {
    let system = at.system();
    let now = system.now()?;
    let trace = ask.trace.unwrap_or_else(|| TraceId::new(now, &mut { system }));
    let place = Place { store: at.registry().store(), trace, seen, now };
    alike::check(ask)?;
    let (facts, content) = (facts(ask, &place)?, Content::QuestionAsked(content(ask)?));
    let spoken = author.speak(command(now), &place, facts, Some(content), &mut { system })?;
    let command = Command::submit(spoken, None, Consequences::default());
    Ok(Recording::new(trace, command, |_, recorded| {
        let recorded = recorded?;
        let id = QuestionId { trace: recorded.trace, sequence: recorded.position.sequence };
        Ok(Finished::Done(Asked { id, repeated: recorded.repeated }))
    }))
}

fn unknown(trace: TraceId) -> Refusal {
    Refusal::new(
        Code::TraceUnknown,
        format!("expected a trace of this data folder, found none called {trace}"),
    )
    .with_cure("leave `trace` out to ask in a trace of its own")
}

fn place(performed: &Performed) -> Result<QuestionId, Refusal> {
    Ok(QuestionId { trace: performed.trace, sequence: keyed::position(performed)?.sequence })
}

/// Returns the kinds of answers that fit, in the order of the format.
fn kinds(ask: &Ask) -> Result<List<AnswerKind, 1, 4>, Refusal> {
    let mut kinds = ask.kinds.to_vec();
    if kinds.is_empty() {
        kinds.push(if ask.choices.is_empty() { AnswerKind::Freetext } else { AnswerKind::MultipleChoice });
    }
    kinds.sort_unstable();
    Ok(kinds.try_into()?)
}

/// Returns what decides about it, with the deadline that follows from the time it is asked.
fn facts(ask: &Ask, place: &Place) -> Result<QuestionAsked, Refusal> {
    let (people, principals, least) = match ask.answering {
        Answering::People => (true, Some(List::default()), Assurance::Relayed),
        Answering::Agents => (false, None, Assurance::Agent),
        Answering::Anybody => (true, None, Assurance::Agent),
    };
    let wait = ask.timeout_seconds.map(|seconds| seconds.as_u64().saturating_mul(1000));
    Ok(QuestionAsked(Question {
        about: None,
        answerers: Answerers { people, principals },
        asker_settles: false,
        assurance: ask.assurance.unwrap_or(least),
        blocks: ask.blocks.clone(),
        choices: Whole::try_from(ask.choices.len() as u64)?,
        deadline: wait.map(|wait| place.now.plus_millis(wait)),
        default: ask.default.is_some(),
        kinds: kinds(ask)?,
        repeats: None,
        severity: ask.severity,
    }))
}

/// Returns its words.
fn content(ask: &Ask) -> Result<QuestionContent, Refusal> {
    let terse = ask.terse.clone().map_or_else(|| Text::cut(&ask.question), Ok)?;
    let detailed = match (&ask.detailed, &ask.context) {
        (Some(detailed), _) => detailed.clone(),
        (None, Some(context)) => Text::cut(&format!("{}\n\n{context}", ask.question))?,
        (None, None) => ask.question.as_text().clone(),
    };
    Ok(QuestionContent {
        ask: None,
        choices: ask.choices.clone(),
        context: ask.context.clone(),
        default: ask.default.clone(),
        field: ask.field.clone(),
        gap: None,
        language: ask.language.clone(),
        recommendation: ask.recommendation.clone(),
        request: ask.request,
        rule: None,
        suggestions: ask.suggestions.clone(),
        wording: Wordings { detailed, normal: ask.question.as_text().clone(), terse },
    })
}
