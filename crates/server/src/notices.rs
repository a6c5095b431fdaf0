//! What was recorded, told to whoever waits for it. Told after the commit, and only then; whoever is told looks again, so
//! that nothing depends on the order of notices.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use demur_desk::question::QuestionId;
use demur_engine::entry::Entry;
use demur_ledger::{name::TraceId, question::touched};
use demur_store::ledger::Listener;
use tokio::sync::{Notify, watch};

use crate::metrics::Metrics;

/// Who waits for what.
pub struct Notices {
    waiting: Mutex<HashMap<QuestionId, Arc<Notify>>>,
    commits: watch::Sender<u64>,
    metrics: Arc<Metrics>,
}

impl Notices {
    /// Returns notices that nobody waits for yet.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { waiting: Mutex::default(), commits: watch::Sender::new(0), metrics }
    }

    /// Returns a watch over a question, until it is dropped.
    pub fn watch(self: &Arc<Self>, id: QuestionId) -> Watch {
        let notify = Arc::clone(self.waiting().entry(id).or_default());
        Watch { notices: Arc::clone(self), id, notify }
    }

    /// Returns a receiver that is told of every commit.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    /// Has everybody look again: somebody else may have recorded something.
    pub fn wake_all(&self) {
        self.waiting().values().for_each(|notify| notify.notify_waiters());
        self.commits.send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Returns how many questions somebody waits for.
    pub fn len(&self) -> usize {
        self.waiting().len()
    }

    /// Returns whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<QuestionId, Arc<Notify>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Notices {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        self.metrics.count(entries);
        for entry in entries {
            for sequence in touched(&entry.event) {
                if let Some(notify) = self.waiting().get(&QuestionId { trace, sequence }) {
                    notify.notify_waiters();
                }
            }
        }
        self.commits.send_modify(|number| *number = number.wrapping_add(1));
    }
}

/// A watch over one question.
pub struct Watch {
    notices: Arc<Notices>,
    id: QuestionId,
    notify: Arc<Notify>,
}

impl Watch {
    /// Returns what is woken when something happens to the question. Made before the look at the question, so that
    /// nothing in between is missed.
    pub fn notify(&self) -> &Notify {
        &self.notify
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut waiting = self.notices.waiting();
        // The map and this one: nobody else waits.
        if Arc::strong_count(&self.notify) == 2 {
            waiting.remove(&self.id);
        }
    }
}
