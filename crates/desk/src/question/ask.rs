//! A question is asked: from the document of a caller to the event `question_asked`, once per idempotency key.

use std::{collections::HashSet, sync::Arc};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{
    limit::{List, Text, Whole},
    visible::visible,
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

use super::{Answering, Ask, QuestionId};
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
    let keyed = key.map(|key| Keyed::new(author, key, ask)).transpose()?;
    record(owner, author, ask, keyed)
}

/// Records a question, under a command of its own or under that of an idempotency key.
pub(super) fn record(
    owner: &Owner,
    author: &Arc<Author>,
    ask: &Ask,
    keyed: Option<Keyed>,
) -> Result<Asked, Refusal> {
    // A refusal may be recorded in the trace: a request that is only sent again leaves no such mark.
    if ask.trace.is_some()
        && let Some(keyed) = &keyed
        && let Some(earlier) = recorded_under(owner, author, keyed)?
    {
        return Ok(earlier);
    }
    asking(owner.lookup(), author, ask, seen(owner, ask)?, keyed)?.perform(owner)
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

/// Returns the recording of a question whose author has seen its trace up to here. Under an idempotency key a record is made
/// with its event, so that one request counts; a later one gets the question of the first.
pub(super) fn asking(
    at: &Lookup,
    author: &Arc<Author>,
    ask: &Ask,
    seen: Option<Position>,
    keyed: Option<Keyed>,
) -> Result<Recording<Asked>, Refusal> {
    check_choices(ask)?;
    let system = at.system();
    let now = system.now()?;
    let trace = ask.trace.unwrap_or_else(|| TraceId::new(now, &mut { system }));
    let place = Place { store: at.registry().store(), trace, seen, now };
    let (facts, content) = (facts(ask, &place)?, Content::QuestionAsked(content(ask)?));
    let command = keyed.as_ref().map_or_else(|| CommandId::new(now, &mut { system }), Keyed::command);
    let spoken = author.speak(command, &place, facts, Some(content), &mut { system })?;
    let command = Command::submit(spoken, None, Consequences::default());
    let recording = Recording::new(trace, command, |_, recorded| {
        let recorded = recorded?;
        let id = QuestionId { trace: recorded.trace, sequence: recorded.position.sequence };
        Ok(Finished::Done(Asked { id, repeated: recorded.repeated }))
    });
    let Some(keyed) = keyed else { return Ok(recording) };
    let (recording, author) = (recording.with(keyed.swap()?), Arc::clone(author));
    Ok(recording.or_else(move |owner, refusal| recorded_under(owner, &author, &keyed)?.ok_or(refusal)))
}

/// Returns the newest event of the trace that a question is asked in; none where it gets one of its own.
fn seen(owner: &Owner, ask: &Ask) -> Result<Option<Position>, Refusal> {
    let Some(trace) = ask.trace else { return Ok(None) };
    let found = owner.sequencer().store().trace(trace)?;
    Ok(Some(found.ok_or_else(|| unknown(trace))?.head))
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

/// Refuses a question of whose choices two look alike: blanks around them do not show.
fn check_choices(ask: &Ask) -> Result<(), Refusal> {
    let values = ask.choices.iter().map(|choice| choice.value.as_str());
    let labels = ask.choices.iter().map(|choice| choice.label.as_str());
    let suggested = ask.suggestions.iter().map(Text::as_str);
    match twice(values).or_else(|| twice(labels)).or_else(|| twice(suggested)) {
        Some(text) => {
            let message = format!("expected choices that differ, found \"{}\" twice", visible(text));
            Err(Refusal::new(Code::ChoicesAlike, message)
                .with_cure("blanks at the ends do not count: give each choice words of its own"))
        }
        None => Ok(()),
    }
}

/// Returns a text that is there twice, blanks around it aside.
fn twice<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut known = HashSet::new();
    texts.map(str::trim).find(|text| !known.insert(*text))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_ends_make_no_difference_and_others_do() {
        assert_eq!(twice(["yes", "no", "yes \u{a0}"].into_iter()), Some("yes"));
        assert_eq!(twice(["yes", "Yes", "y es", "ye s"].into_iter()), None);
    }
}
