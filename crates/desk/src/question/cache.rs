//! The questions of the last moments, in memory: a question that was just recorded is shown without being read back. A question
//! is dropped, and read from the store again, when an event changes it that this does not follow, or another process does.

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use demur_ledger::{
    entry::Entry,
    erasure::is_erasure,
    event_type::{Content, Facts},
    name::{Sequence, TraceId},
    question::{OutcomeKind, QuestionEffect, question_effect},
};
use demur_sequencer::Listener;
use demur_store::contract::{Cursor, QuestionRow, QuestionSummary};

use super::{
    QuestionId, QuestionView,
    view::{ending, shown},
};
use crate::access::AnsweringKeys;

/// The questions that were recorded last.
#[derive(Default)]
pub(crate) struct QuestionCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    questions: HashMap<QuestionId, CachedQuestion>,
    /// The oldest first.
    order: VecDeque<QuestionId>,
    /// The questions that were to be dropped before they were here: they are not kept when they come.
    missed: HashSet<QuestionId>,
    /// The oldest of these first.
    missed_order: VecDeque<QuestionId>,
}

/// A question without names, with the keys that may answer it: whoever changes these has it dropped.
#[derive(Clone)]
pub(crate) struct CachedQuestion {
    pub(crate) view: QuestionView,
    pub(crate) keys: AnsweringKeys,
}

impl Kept {
    fn miss(&mut self, id: QuestionId) {
        if !self.missed.insert(id) {
            return;
        }
        if self.missed_order.len() >= MAX_MISSED_QUESTIONS
            && let Some(oldest) = self.missed_order.pop_front()
        {
            self.missed.remove(&oldest);
        }
        self.missed_order.push_back(id);
    }
}

impl QuestionCache {
    /// Returns a question, without names, if it is here.
    pub(crate) fn find(&self, id: QuestionId) -> Option<CachedQuestion> {
        self.kept().questions.get(&id).cloned()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, trace: TraceId, entry: &Entry) {
        let Ok(said) = entry.event.said() else { return };
        let id = |sequence| QuestionId { trace, sequence };
        if is_erasure(&entry.event) {
            // The words of the question, or of what became of it, may be those that are gone.
            self.kept().questions.retain(|kept, _| kept.trace != trace);
        }
        match question_effect(said.facts) {
            Some(QuestionEffect::Asked(question)) => {
                question.repeats.into_iter().for_each(|replaced| self.remove(id(replaced)));
                self.keep(trace, entry);
            }
            Some(QuestionEffect::Ended(question, outcome)) => self.end(id(question), entry, outcome),
            // What else becomes of a question is read from the store.
            Some(QuestionEffect::Reopened(question) | QuestionEffect::Changed(question)) => {
                self.remove(id(question));
            }
            None => {}
        }
    }

    fn keep(&self, trace: TraceId, entry: &Entry) {
        let sequence = entry.event.position().sequence;
        let id = QuestionId { trace, sequence };
        let Some(view) = asked(trace, sequence, entry) else { return };
        let mut kept = self.kept();
        // Something happened to it elsewhere between its commit and this moment.
        if kept.missed.contains(&id) {
            return;
        }
        if kept.order.len() >= MAX_QUESTIONS
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.questions.remove(&oldest);
        }
        kept.order.push_back(id);
        kept.questions.insert(id, view);
    }

    fn end(&self, id: QuestionId, entry: &Entry, outcome: OutcomeKind) {
        let mut kept = self.kept();
        let Some(CachedQuestion { view, .. }) = kept.questions.get_mut(&id) else { return };
        let content = content(entry);
        // Words that are there and are not read here are read from the store.
        let whole = content.is_some() == entry.opening.is_some();
        if whole {
            view.state = outcome;
            view.outcome = Some(ending(&entry.event, content, outcome));
        } else {
            kept.questions.remove(&id);
        }
    }

    fn remove(&self, id: QuestionId) {
        self.kept().questions.remove(&id);
    }

    /// Drops a question that something happened to elsewhere. The follower may hear of it before this has heard that the
    /// question was asked here: then the question is not kept when that comes.
    pub(crate) fn forget(&self, id: QuestionId) {
        let mut kept = self.kept();
        if kept.questions.remove(&id).is_none() {
            kept.miss(id);
        }
    }
}

impl Listener for QuestionCache {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        for entry in entries {
            self.take(trace, entry);
        }
    }
}

/// Returns a question that was just asked, if it is not large.
fn asked(trace: TraceId, sequence: Sequence, entry: &Entry) -> Option<CachedQuestion> {
    let Facts::QuestionAsked(facts) = entry.event.said().ok()?.facts else { return None };
    let Some(Content::QuestionAsked(words)) = content(entry) else { return None };
    let envelope = entry.event.envelope();
    let row = QuestionRow {
        outcome: OutcomeKind::Open,
        severity: facts.0.severity,
        people: facts.0.answerers.people,
        asker: envelope.actor,
        submitter: None,
        deadline: facts.0.deadline,
        changed: sequence,
    };
    let summary = QuestionSummary { cursor: Cursor::START, trace, sequence, asked: envelope.time, row };
    let keys = facts.0.answerers.principals.as_ref().map(|keys| keys.to_vec());
    Some(CachedQuestion { view: shown(&summary, &facts.0, Some(&words), *entry.event.hash()), keys })
}

fn content(entry: &Entry) -> Option<Content> {
    let kind = entry.event.said().ok()?.facts.event_type()?;
    let opening = entry.opening.as_ref().filter(|opening| opening.bytes.len() <= MAX_CONTENT_BYTES)?;
    Content::parse(kind, &opening.bytes).ok()
}

/// How many are kept.
const MAX_QUESTIONS: usize = 1024;
/// How many are remembered that came too late: more than others record while one group of commits is told to its listeners.
const MAX_MISSED_QUESTIONS: usize = 4096;
/// How large the words of one are at most, in bytes.
const MAX_CONTENT_BYTES: usize = 4096;
