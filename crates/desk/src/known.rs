//! What a desk has in memory beside its sequencer: names, keys that were read, the questions of the last moments. No store
//! can be reached from here.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_ledger::{author::Author, name::Position, role::Role};

use crate::{key_directory::KeyDirectory, operating_system::OperatingSystem, question::QuestionCache};

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
