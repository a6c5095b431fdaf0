//! What can be known and begun without the disk: the time, the keys that were read already, the questions of the last
//! moments. A thread that must not wait works with this and cannot reach the store.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_api::question::{QuestionId, QuestionView};
use demur_ledger::{
    author::Author,
    name::{Position, TraceId},
    registry::Registry,
    role::Role,
};
use demur_sequencer::AtHand;

use crate::{
    access::Caller,
    key_directory::KeyDirectory,
    operating_system::OperatingSystem,
    question::{self, QuestionCache},
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

/// What is known without a look at the store.
pub(crate) struct Known {
    /// The questions of the last moments.
    pub(crate) questions: Arc<QuestionCache>,
    /// Clock and randomness.
    pub(crate) system: OperatingSystem,
    /// The words of the registry when somebody last asked.
    key_directory: Mutex<Option<Arc<KeyDirectory>>>,
    /// Authors whose secrets were read.
    authors: Mutex<Authors>,
}

/// Authors by role and name, as of this place of the registry.
type Authors = (Option<Position>, BTreeMap<(Role, String), Arc<Author>>);

impl Known {
    pub(crate) fn new(system: OperatingSystem) -> Self {
        Self { questions: Arc::default(), system, key_directory: Mutex::default(), authors: Mutex::default() }
    }

    /// Returns the registry with its words, if it was read since it came to this head.
    pub(crate) fn key_directory(&self, head: Position) -> Option<Arc<KeyDirectory>> {
        lock(&self.key_directory)
            .as_ref()
            .filter(|key_directory| key_directory.registry().head() == head)
            .map(Arc::clone)
    }

    /// Takes in the registry with its words.
    pub(crate) fn learn_key_directory(&self, key_directory: &Arc<KeyDirectory>) {
        *lock(&self.key_directory) = Some(Arc::clone(key_directory));
    }

    /// Returns the author with this name in this role, if its secret was read since the registry came to this head.
    pub(crate) fn author(&self, head: Position, name: &str, role: Role) -> Option<Arc<Author>> {
        let known = lock(&self.authors);
        known.1.get(&(role, name.to_owned())).filter(|_| known.0 == Some(head)).map(Arc::clone)
    }

    /// Takes in an author whose secret was read.
    pub(crate) fn learn_author(&self, head: Position, name: &str, role: Role, author: &Arc<Author>) {
        let mut known = lock(&self.authors);
        if known.0 != Some(head) {
            *known = (Some(head), BTreeMap::new());
        }
        known.1.insert((role, name.to_owned()), Arc::clone(author));
    }
}

/// What these locks guard is replaced as a whole, so that a panic leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
