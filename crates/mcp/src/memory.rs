//! What a process remembers of its callers: how often they looked at a question, which form is on screen and which its user
//! closed, and which task nobody waits for any more. It is a courtesy and no record: whatever is forgotten costs a sentence
//! or a form shown once more, so it is bounded and ends with the process.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// What is remembered, by caller and by question or task.
#[derive(Debug)]
pub struct Memory {
    kept: Mutex<Kept>,
    /// Room for forms that stay after their calls.
    left: Arc<Semaphore>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { kept: Mutex::default(), left: Arc::new(Semaphore::new(MAX_FORMS)) }
    }
}

#[derive(Debug, Default)]
struct Kept {
    notes: HashMap<(String, String), Note>,
    /// The names of the notes, the oldest first.
    order: VecDeque<(String, String)>,
}

#[derive(Debug, Default)]
struct Note {
    /// When the caller looked, the last few times.
    looks: VecDeque<Instant>,
    form: Option<Screen>,
    stopped: bool,
}

/// Where a form is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// Before its user.
    Shown,
    /// Closed by its user, or nothing that the client can show.
    Closed,
}

impl Memory {
    /// Notes that a caller looks at a question; returns whether it looked so often lately that it had better stop.
    pub fn look(&self, caller: &str, name: &str) -> bool {
        let now = Instant::now();
        self.note(caller, name, |note| {
            note.looks.retain(|look| now.duration_since(*look) < LOOK_LIFETIME);
            note.looks.push_back(now);
            if note.looks.len() > MAX_LOOKS {
                note.looks.pop_front();
            }
            note.looks.len() >= MAX_LOOKS
        })
    }

    /// Returns where the form of a question is, as far as anybody remembers.
    pub fn screen(&self, caller: &str, name: &str) -> Option<Screen> {
        self.kept().notes.get(&(caller.to_owned(), name.to_owned()))?.form
    }

    /// Notes where the form of a question is.
    pub fn place(&self, caller: &str, name: &str, form: Option<Screen>) {
        self.note(caller, name, |note| note.form = form);
    }

    /// Returns room for a form that stays after its call, as long as it is kept; none if as many stay as there may be.
    pub fn leave_form(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.left).try_acquire_owned().ok()
    }

    /// Notes that nobody waits for a task any more.
    pub fn stop(&self, caller: &str, name: &str) {
        self.note(caller, name, |note| note.stopped = true);
    }

    /// Notes that somebody waits for a task again.
    pub fn resume(&self, caller: &str, name: &str) {
        if self.is_stopped(caller, name) {
            self.note(caller, name, |note| note.stopped = false);
        }
    }

    /// Returns whether nobody waits for a task any more.
    pub fn is_stopped(&self, caller: &str, name: &str) -> bool {
        self.kept().notes.get(&(caller.to_owned(), name.to_owned())).is_some_and(|note| note.stopped)
    }

    fn note<T>(&self, caller: &str, name: &str, write: impl FnOnce(&mut Note) -> T) -> T {
        let key = (caller.to_owned(), name.to_owned());
        let mut kept = self.kept();
        if !kept.notes.contains_key(&key) {
            kept.order.push_back(key.clone());
            if kept.order.len() > MAX_NOTES
                && let Some(oldest) = kept.order.pop_front()
            {
                kept.notes.remove(&oldest);
            }
        }
        write(kept.notes.entry(key).or_default())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A note that is half written says nothing wrong.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many notes there are at once.
const MAX_NOTES: usize = 4_096;
/// How many forms stay at once after their calls: each is waited for, and nobody reads more.
const MAX_FORMS: usize = 64;
/// With which look within [`LOOK_LIFETIME`] it is enough.
const MAX_LOOKS: usize = 3;
/// How long a look counts.
const LOOK_LIFETIME: Duration = Duration::from_mins(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_look_within_ten_minutes_is_one_too_many() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let memory = Memory::default();
            let look = || memory.look("a", "q");
            assert_eq!([look(), look(), look(), look()], [false, false, true, true]);
            assert!(!memory.look("b", "q") && !memory.look("a", "p"), "others are others");
            tokio::time::advance(LOOK_LIFETIME).await;
            assert_eq!([look(), look(), look()], [false, false, true]);
        });
    }

    #[test]
    fn what_is_oldest_is_forgotten_first() {
        let memory = Memory::default();
        for number in 0..=MAX_NOTES {
            memory.stop("a", &number.to_string());
        }
        assert!(!memory.is_stopped("a", "0") && memory.is_stopped("a", "1"));
        assert_eq!(memory.kept().notes.len(), MAX_NOTES);
    }
}
