//! What can be known without the disk: the time, the keys that were read already, the questions of the last moments. A
//! thread that must not wait works with this and cannot reach the store.

use std::sync::Arc;

use demur_api::{
    question::{Answer, Ask, Done, QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_ledger::author::Author;

use crate::{
    access::Caller,
    owner::Owner,
    question::{self, Asked},
    recording::Recording,
};

/// A desk without its store.
pub struct Lookup<'a> {
    owner: &'a Owner,
}

impl<'a> Lookup<'a> {
    /// Returns what is in memory of a folder.
    pub(crate) const fn new(owner: &'a Owner) -> Self {
        Self { owner }
    }

    /// Returns a question that was asked moments ago, if this caller may see it.
    pub fn question(&self, caller: &Caller, id: QuestionId) -> Option<QuestionView> {
        let shown = question::recent(self.owner, id)?;
        caller.sees_questions_of(shown.asker.principal).then_some(shown)
    }

    /// Returns the same question to one who may see it.
    pub(crate) fn question_now(&self, id: QuestionId) -> Option<QuestionView> {
        question::recent(self.owner, id)
    }

    /// Returns the one who asks in a caller's name, if its key was read already.
    pub fn asker(&self, caller: &Caller, name: Option<&str>) -> Result<Option<Arc<Author>>, Refusal> {
        caller.known_asker(self.owner, name)
    }

    /// Returns what is to be recorded for a question in a trace of its own.
    pub fn asking(&self, author: &Author, ask: &Ask) -> Result<Recording<Asked>, Refusal> {
        question::asking(self.owner, author, ask)
    }

    /// Returns what is to be recorded for an answer; none where something has to be read first.
    pub fn answering(
        &self,
        caller: &Caller,
        question: &QuestionView,
        given: &Answer,
    ) -> Result<Option<Recording<Done>>, Refusal> {
        let Some(speaker) = caller.known_answerer(self.owner, given.by.clone())? else { return Ok(None) };
        question::answering(self.owner, question, &speaker, given)
    }
}
