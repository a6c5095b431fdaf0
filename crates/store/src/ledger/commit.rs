//! Group commit without a thread of its own: whoever finds nobody writing writes for everybody who waits, then hands
//! the pen on. A lone caller pays no hand-over; many callers share one sync.

use std::{
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use super::item::Item;
use crate::contract::{Conflict, StoreError};

/// What became of an item.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// Recorded and durable.
    Done,
    /// Refused by the store; decide again.
    Conflict(Conflict),
    /// The commit failed as a whole.
    Failed(Arc<StoreError>),
    /// The disk did not confirm.
    Uncertain,
}

/// Where one caller waits.
#[derive(Debug, Default)]
pub(super) struct Slot {
    state: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Debug, Default)]
enum Turn {
    /// Somebody else writes.
    #[default]
    NotYet,
    /// It is this caller's turn to write.
    Lead,
    /// It is over.
    Ended(Ending),
}

impl Slot {
    fn set(&self, state: Turn) {
        *lock(&self.state) = state;
        self.changed.notify_all();
    }

    /// Ends the wait.
    pub(super) fn end(&self, ending: Ending) {
        self.set(Turn::Ended(ending));
    }

    /// Ends the wait for what nobody will end any more. Returns whether anybody still waited.
    pub(super) fn abandon(&self) -> bool {
        let waits = !matches!(*lock(&self.state), Turn::Ended(_));
        if waits {
            self.end(Ending::Uncertain);
        }
        waits
    }

    /// Waits for the ending; none means that this caller has to write now.
    fn wait(&self) -> Option<Ending> {
        let mut state = lock(&self.state);
        loop {
            match &*state {
                Turn::NotYet => {}
                Turn::Lead => {
                    *state = Turn::NotYet;
                    return None;
                }
                Turn::Ended(ending) => return Some(ending.clone()),
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the ending of somebody else's item.
    pub(super) fn watch(&self) -> Ending {
        let mut state = lock(&self.state);
        loop {
            if let Turn::Ended(ending) = &*state {
                return ending.clone();
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The items of all queues that wait for the next commit.
#[derive(Default)]
pub(super) struct Commits {
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    items: Vec<Item>,
    /// Somebody is writing, or was told to.
    led: bool,
}

impl Commits {
    /// Puts an item at the end. Returns whether the caller has to write.
    pub(super) fn put(&self, item: Item) -> bool {
        let mut pending = lock(&self.pending);
        pending.items.push(item);
        !mem::replace(&mut pending.led, true)
    }

    /// Puts an item at the end whose caller has more to say before it waits.
    pub(super) fn put_deferred(&self, item: Item) {
        lock(&self.pending).items.push(Item { deferred: true, ..item });
    }

    /// Makes deferred items wait like any other. Returns whether the caller has to write.
    pub(super) fn call_in(&self, slots: &[Arc<Slot>]) -> bool {
        let mut pending = lock(&self.pending);
        let mut found = false;
        for item in &mut pending.items {
            if slots.iter().any(|slot| Arc::ptr_eq(slot, &item.waiting.slot)) {
                item.deferred = false;
                found = true;
            }
        }
        found && !mem::replace(&mut pending.led, true)
    }

    /// Waits until the item of this slot has ended, writing for everybody whenever it is this caller's turn.
    pub(super) fn wait(&self, slot: &Slot, mut leads: bool, write: &dyn Fn(Vec<Item>)) -> Ending {
        loop {
            if leads {
                self.lead(write);
            }
            match slot.wait() {
                Some(ending) => return ending,
                None => leads = true,
            }
        }
    }

    fn lead(&self, write: &dyn Fn(Vec<Item>)) {
        let items = {
            let mut pending = lock(&self.pending);
            let count = pending.items.len().min(LARGEST);
            pending.items.drain(..count).collect()
        };
        // The pen is handed on however the writing ends, a panic included.
        let _handing_on = HandOn(self);
        write(items);
    }
}

struct HandOn<'a>(&'a Commits);

impl Drop for HandOn<'_> {
    fn drop(&mut self) {
        let mut pending = lock(&self.0.pending);
        match pending.items.iter().find(|item| !item.deferred) {
            Some(next) => next.waiting.slot.set(Turn::Lead),
            None => pending.led = false,
        }
    }
}

/// A thread that panicked has left nothing half done behind these locks.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many items one commit takes at most, so that nobody waits for a very long one.
const LARGEST: usize = 512;
