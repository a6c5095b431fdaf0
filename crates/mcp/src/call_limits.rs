//! How many calls of one asker there are at once, whatever carries them: whoever sends more is told so, and nobody else
//! waits for it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The calls that are at work.
#[derive(Debug, Default)]
pub struct CallLimits {
    taken: Mutex<HashMap<String, usize>>,
}

impl CallLimits {
    /// Lets a call in; none if its asker has as many as there may be.
    pub fn enter(self: &Arc<Self>, asker: &str) -> Option<Turn> {
        let mut taken = self.taken();
        let count = taken.entry(asker.to_owned()).or_default();
        if *count >= MAX_CALLS {
            return None;
        }
        *count += 1;
        Some(Turn { limits: Arc::clone(self), asker: asker.to_owned() })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        // Numbers are whole at any time.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that was let in, until it is over.
#[derive(Debug)]
pub struct Turn {
    limits: Arc<CallLimits>,
    asker: String,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut taken = self.limits.taken();
        if let Some(count) = taken.get_mut(&self.asker) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.asker);
            }
        }
    }
}

/// How many calls of one asker there are at once.
pub const MAX_CALLS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asker_has_room_of_its_own_and_leaves_nothing_behind() {
        let limits = Arc::new(CallLimits::default());
        let turns: Vec<_> = (0..MAX_CALLS).map(|_| limits.enter("one").unwrap()).collect();
        assert!(limits.enter("one").is_none());
        let other = limits.enter("another").unwrap();
        drop(turns);
        assert!(limits.enter("one").is_some());
        drop(other);
        assert!(limits.taken().is_empty());
    }
}
