//! What can be known and begun without the disk: the time, the keys that were read already, the questions of the last
//! moments. A thread that must not wait works with this and cannot reach the store.

use std::sync::Arc;

use demur_api::question::{QuestionId, QuestionView};
use demur_ledger::{
    author::Author,
    name::{Position, TraceId},
    registry::Registry,
    role::Role,
};
use demur_sequencer::AtHand;

use crate::{
    access::Caller, key_directory::KeyDirectory, known::Known, operating_system::OperatingSystem, question,
};

/// A desk without its store.
pub struct Lookup<'a> {
    known: &'a Known,
    at_hand: &'a AtHand,
}

impl<'a> Lookup<'a> {
    /// Returns what is in memory.
    pub(crate) const fn new(known: &'a Known, at_hand: &'a AtHand) -> Self {
        Self { known, at_hand }
    }

    /// Returns clock and randomness.
    pub(crate) const fn system(&self) -> OperatingSystem {
        self.known.system
    }

    /// Returns the registry as it is known here.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.at_hand.registry()
    }

    /// Returns what decides commands.
    pub(crate) const fn at_hand(&self) -> &AtHand {
        self.at_hand
    }

    /// Returns the newest event of a trace.
    pub(crate) fn head(&self, trace: TraceId) -> Option<Position> {
        self.at_hand.head(trace)
    }

    /// Returns the registry with its words.
    pub(crate) fn key_directory(&self) -> Option<Arc<KeyDirectory>> {
        self.known.key_directory(self.registry().head())
    }

    /// Returns the author with this name in this role.
    pub(crate) fn author(&self, name: &str, role: Role) -> Option<Arc<Author>> {
        self.known.author(self.registry().head(), name, role)
    }

    /// Returns a question that was asked moments ago.
    pub(crate) fn question(&self, id: QuestionId) -> Option<QuestionView> {
        let key_directory = self.key_directory()?;
        self.known.questions.find(id).map(|shown| question::named(&key_directory, shown))
    }

    /// Forgets a question that something happened to elsewhere.
    pub(crate) fn forget(&self, id: QuestionId) {
        self.known.questions.forget(id);
    }

    /// Returns the same question if this caller may see it.
    pub(crate) fn seen_question(&self, caller: &Caller, id: QuestionId) -> Option<QuestionView> {
        self.question(id).filter(|shown| caller.sees_questions_of(shown.asker.principal))
    }
}
