//! One question however often a client repeats itself: clients give up waiting and call again in the same words. Such a
//! call gets the question that is open already, or the one whose outcome nobody has heard yet; nothing is recorded.
//!
//! The first question in some words is found through its command, which follows from them; only the later ones have a
//! record. What was heard is a record too: both are in the store, so that it does not matter which process asks.

use std::sync::Arc;

use demur_api::refusal::Refusal;
use demur_core::{
    canonical,
    hash::{Purpose, digest, sha256},
};
use demur_ledger::{author::Author, name::Sequence};
use demur_store::contract::{KeptRecord, RecordKey, Swap, Version};
use serde_json::Value;

use super::{
    Ask, Asked, QuestionId,
    ask::{asking, record, recorded_under},
    view,
};
use crate::{keyed::Keyed, lookup::Lookup, owner::Owner, recording::Recording, records};

/// How a question is asked that may have been asked before.
#[derive(Clone, Copy, Debug)]
pub struct Once<'a> {
    /// The conversation it belongs to: the same words in another one are another question.
    pub session: &'a str,
    /// Whether it is asked anew all the same.
    pub again: bool,
    /// What makes a retry of that safe; without it the words do.
    pub key: Option<&'a str>,
}

/// Records a question, unless its asker has the same one open or has not heard yet what became of it.
pub fn ask_once(owner: &Owner, author: &Arc<Author>, ask: &Ask, once: Once<'_>) -> Result<Asked, Refusal> {
    let words = words(ask, once.session)?;
    let key = RecordKey::new(format!("asked/{}/{words}", author.principal()))?;
    let newest: Option<(Version, QuestionId)> = records::find(owner.sequencer().store(), &key)?;
    let was = newest.map_or(Version::ABSENT, |(version, _)| version);
    let keep = |asked: Asked| {
        let next = Some(records::value(&asked.id, None)?);
        // Whoever was faster asked in the same words.
        records::swap(owner, vec![Swap { key: key.clone(), was, next }])?;
        Ok(asked)
    };
    if once.again {
        return keep(super::ask(owner, author, ask, once.key)?);
    }
    let first = Keyed::new(author, &words, &ONCE)?;
    let before = match newest {
        Some((_, id)) => Some(id),
        None => recorded_under(owner, author, &first)?.map(|asked| asked.id),
    };
    match before {
        None => record(owner, author, ask, Some(first)),
        Some(id) if is_wanted(owner, id)? => Ok(Asked { id, repeated: true }),
        // Its command follows from the one before, so that a crash before the note costs no second question.
        Some(id) => {
            let next = Keyed::new(author, &format!("{words} {id}"), &ONCE)?;
            keep(record(owner, author, ask, Some(next))?)
        }
    }
}

/// Returns the question that its asker has open in these words, or has not heard yet what became of.
pub(super) fn asked_before(
    owner: &Owner,
    author: &Arc<Author>,
    ask: &Ask,
    once: Once<'_>,
) -> Result<Option<Asked>, Refusal> {
    if once.again {
        let keyed = once.key.map(|key| Keyed::new(author, key, ask)).transpose()?;
        return keyed.map_or(Ok(None), |keyed| recorded_under(owner, author, &keyed));
    }
    let words = words(ask, once.session)?;
    let key = RecordKey::new(format!("asked/{}/{words}", author.principal()))?;
    let newest: Option<(Version, QuestionId)> = records::find(owner.sequencer().store(), &key)?;
    let before = match newest {
        Some((_, id)) => Some(id),
        None => recorded_under(owner, author, &Keyed::new(author, &words, &ONCE)?)?.map(|asked| asked.id),
    };
    match before {
        Some(id) if is_wanted(owner, id)? => Ok(Some(Asked { id, repeated: true })),
        Some(_) | None => Ok(None),
    }
}

/// Returns the recording of a question in words that nobody may have used before. The commit says whether somebody has: then
/// what there is gets read.
pub(super) fn asking_once(
    at: &Lookup,
    author: &Arc<Author>,
    ask: &Ask,
    session: String,
) -> Result<Recording<Asked>, Refusal> {
    let first = Keyed::new(author, &words(ask, &session)?, &ONCE)?;
    let (author, words) = (Arc::clone(author), ask.clone());
    Ok(asking(at, &author, ask, None, Some(first))?.then(
        |_, asked| (!asked.repeated).then_some(*asked),
        move |owner, _| ask_once(owner, &author, &words, Once { session: &session, again: false, key: None }),
    ))
}

/// Notes that an asker has heard what became of a question. While it is open there is nothing to hear; an answer that
/// takes the place of another is news.
pub fn note_heard(owner: &Owner, id: QuestionId) -> Result<(), Refusal> {
    let Some(ending) = view(owner, id)?.outcome else { return Ok(()) };
    let key = heard_key(id)?;
    let before = owner.sequencer().store().record(&key)?;
    if !before.as_ref().is_some_and(|kept| is_of(kept, ending.event)) {
        let was = before.map_or(Version::ABSENT, |kept| kept.version);
        let next = Some(records::value(&ending.event, None)?);
        records::swap(owner, vec![Swap { key, was, next }])?;
    }
    Ok(())
}

/// Returns whether a question is still of use to whoever asked it: it is open, also once more, or its outcome is news.
fn is_wanted(owner: &Owner, id: QuestionId) -> Result<bool, Refusal> {
    let heard = owner.sequencer().store().record(&heard_key(id)?)?;
    let Some(heard) = heard else { return Ok(true) };
    Ok(view(owner, id)?.outcome.is_none_or(|ending| !is_of(&heard, ending.event)))
}

/// Returns whether a record says that the outcome of this event was heard; one without a number was written before answers
/// could be replaced.
fn is_of(heard: &KeptRecord, event: Sequence) -> bool {
    heard.value.bytes.is_empty() || records::read::<Sequence>(heard).is_ok_and(|known| known == event)
}

fn heard_key(id: QuestionId) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("heard/{id}"))?)
}

/// Returns what two questions have in common that are the same: everything but blanks.
fn words(ask: &Ask, session: &str) -> Result<String, Refusal> {
    let mut ask = serde_json::to_value(ask).map_err(|error| Refusal::bug(&error))?;
    for member in ["question", "context"] {
        if let Some(Value::String(text)) = ask.get_mut(member) {
            *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
    let session = sha256(session.as_bytes());
    let parts: &[&[u8]] = &[b"same question\0", session.as_bytes(), &canonical::to_vec(&ask)?];
    Ok(digest(Purpose::Effect, parts).to_string())
}

/// What stands for the request in commands that follow from words.
const ONCE: &str = "once";
