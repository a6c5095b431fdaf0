//! What a desk knows without the disk: the time, the keys that were read already, the questions of the last moments. A
//! thread that must not wait works with this and cannot reach the store.

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
    access::{Caller, Sight},
    key_directory::KeyDirectory,
    operating_system::OperatingSystem,
    question::{self, QuestionCache},
};

/// A desk without its store.
pub struct Lookup {
    system: OperatingSystem,
    /// What the sequencer has in memory.
    at_hand: Arc<AtHand>,
    /// The questions of the last moments.
    questions: Arc<QuestionCache>,
    /// The registry with its words, as it was last read.
    key_directory: Mutex<Option<Arc<KeyDirectory>>>,
    /// The authors whose secrets were read.
    authors: Mutex<Authors>,
}

/// Authors by role and name, as of this event of the registry.
type Authors = (Option<Position>, BTreeMap<(Role, String), Arc<Author>>);

impl Lookup {
    /// Returns what is known at first: the system, and what the sequencer has in memory.
    pub(crate) fn new(system: OperatingSystem, at_hand: Arc<AtHand>) -> Self {
        Self {
            system,
            at_hand,
            questions: Arc::default(),
            key_directory: Mutex::default(),
            authors: Mutex::default(),
        }
    }

    /// Returns clock and randomness.
    pub(crate) const fn system(&self) -> OperatingSystem {
        self.system
    }

    /// Returns the registry as it is known here.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.at_hand.registry()
    }

    /// Returns what decides commands.
    pub(crate) fn at_hand(&self) -> &AtHand {
        &self.at_hand
    }

    /// Returns the questions of the last moments.
    pub(crate) const fn questions(&self) -> &Arc<QuestionCache> {
        &self.questions
    }

    /// Returns the newest event of a trace.
    pub(crate) fn head(&self, trace: TraceId) -> Option<Position> {
        self.at_hand.head(trace)
    }

    /// Returns the registry with its words, if it was read since the registry last changed.
    pub(crate) fn key_directory(&self) -> Option<Arc<KeyDirectory>> {
        let head = self.registry().head();
        lock(&self.key_directory).as_ref().filter(|read| read.registry().head() == head).map(Arc::clone)
    }

    /// Keeps the registry with its words, which was just read.
    pub(crate) fn keep_key_directory(&self, key_directory: &Arc<KeyDirectory>) {
        *lock(&self.key_directory) = Some(Arc::clone(key_directory));
    }

    /// Returns the author with this name in this role, if its secret was read since the registry last changed.
    pub(crate) fn author(&self, name: &str, role: Role) -> Option<Arc<Author>> {
        let head = self.registry().head();
        let (read_at, authors) = &*lock(&self.authors);
        authors.get(&(role, name.to_owned())).filter(|_| *read_at == Some(head)).map(Arc::clone)
    }

    /// Keeps an author whose secret was read when the registry had this head.
    pub(crate) fn keep_author(&self, head: Position, name: &str, role: Role, author: &Arc<Author>) {
        let (read_at, authors) = &mut *lock(&self.authors);
        if *read_at != Some(head) {
            *read_at = Some(head);
            authors.clear();
        }
        authors.insert((role, name.to_owned()), Arc::clone(author));
    }

    /// Returns a question that was asked moments ago.
    pub(crate) fn question(&self, id: QuestionId) -> Option<QuestionView> {
        let key_directory = self.key_directory()?;
        self.questions.find(id).map(|found| question::named(&key_directory, found.view))
    }

    /// Returns the same question if this caller may see it.
    pub(crate) fn seen_question(&self, caller: &Caller, id: QuestionId) -> Option<QuestionView> {
        let key_directory = self.key_directory()?;
        let found = self.questions.find(id)?;
        let (asker, people) = (found.view.asker.principal, found.view.people);
        let sees =
            Sight::of(caller, self.registry()).sees(asker, people, || Ok(found.keys)).is_ok_and(|sees| sees);
        sees.then(|| question::named(&key_directory, found.view))
    }
}

/// What these locks guard is replaced as a whole, so that a panic leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
