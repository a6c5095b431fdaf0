//! Callers who wait for a question, and are woken when something is recorded about it: after the commit, and only then. A
//! caller that is woken looks at the question again, so that nothing depends on the order in which they are woken.

mod attendance;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use demur_api::question::{QuestionId, QuestionView};
use demur_ledger::{confirmation::touched_confirmation, entry::Entry, name::TraceId, question::touched};
use demur_sequencer::Listener;
use tokio::sync::{Notify, watch};

use self::attendance::Attendance;

/// The callers who wait, by question.
#[derive(Default)]
pub struct Waiters {
    waiting: Mutex<HashMap<QuestionId, Arc<Notify>>>,
    /// Which askers wait, or did.
    attendance: Mutex<Attendance>,
    commits: watch::Sender<u64>,
}

impl Waiters {
    /// Begins to wait for a question, until the waiter is dropped.
    pub fn wait_for(self: &Arc<Self>, id: QuestionId) -> Waiter {
        let notify = Arc::clone(self.waiting().entry(id).or_default());
        let (asks, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Waiter { waiters: Arc::clone(self), id, notify, asks, ended }
    }

    /// Returns a receiver that is told of every commit.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// Wakes everybody who waits for one of these questions: something was recorded about them.
    pub(crate) fn wake(&self, questions: impl IntoIterator<Item = QuestionId>) {
        for id in questions {
            if let Some(notify) = self.waiting().get(&id) {
                notify.notify_waiters();
            }
        }
        self.commits.send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Returns how many questions are waited for.
    pub fn len(&self) -> usize {
        self.waiting().len()
    }

    /// Returns whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    /// Adds to an open question whether its asker waits for the answer, as far as that is known.
    pub fn tell(&self, question: &mut QuestionView) {
        if question.is_open() {
            question.waited_for = self.attendance().waits(question.id, Instant::now());
        }
    }

    fn attendance(&self) -> MutexGuard<'_, Attendance> {
        self.attendance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<QuestionId, Arc<Notify>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Waiters {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        let touched =
            entries.iter().flat_map(|entry| touched(&entry.event).chain(touched_confirmation(&entry.event)));
        self.wake(touched.map(|sequence| QuestionId { trace, sequence }));
    }
}

/// A caller who waits for one question.
pub struct Waiter {
    waiters: Arc<Waiters>,
    id: QuestionId,
    notify: Arc<Notify>,
    /// Whether it is the asker who waits.
    asks: AtomicBool,
    /// Whether the caller got its reply, and did not hang up.
    ended: AtomicBool,
}

impl Waiter {
    /// Notes that it is the asker who waits.
    pub fn note_asker(&self) {
        if !self.asks.swap(true, Ordering::Relaxed) {
            self.waiters.attendance().came(self.id);
        }
    }

    /// Notes that the caller gets its reply now: a waiter that is dropped without that was hung up.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Returns what tells the caller that something happened to the question. Listen before looking at the question, so that
    /// nothing in between is missed.
    pub fn notify(&self) -> &Notify {
        &self.notify
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if self.asks.load(Ordering::Relaxed) {
            let hung_up = !self.ended.load(Ordering::Relaxed);
            self.waiters.attendance().left(self.id, Instant::now(), hung_up);
        }
        let mut waiting = self.waiters.waiting();
        // The map and this one: nobody else waits.
        if Arc::strong_count(&self.notify) == 2 {
            waiting.remove(&self.id);
        }
    }
}
