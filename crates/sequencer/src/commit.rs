//! Group commit without a thread of its own. A caller who finds nobody writing has the lead: it writes for everybody in line,
//! then hands the lead on. A lone caller pays no hand-over; many callers share one sync. A caller without a thread is woken.

use std::{
    fmt, mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use demur_store::contract::{Conflict, StoreError};

use super::write::{Item, Waits};

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
    state: Mutex<SlotState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SlotState {
    turn: SlotTurn,
    /// Wakes a caller who waits without a thread.
    waker: Option<Waker>,
    /// Nobody waits any more.
    left: bool,
}

#[derive(Debug, Default)]
enum SlotTurn {
    /// Another caller writes.
    #[default]
    NotYet,
    /// It is this caller's turn to write.
    Lead,
    /// It is over.
    Ended(Ending),
}

impl SlotTurn {
    /// Returns what the caller is told, if anything: to write (none), or how it ended.
    fn told(&mut self) -> Poll<Option<Ending>> {
        match self {
            Self::NotYet => Poll::Pending,
            Self::Lead => {
                *self = Self::NotYet;
                Poll::Ready(None)
            }
            Self::Ended(ending) => Poll::Ready(Some(ending.clone())),
        }
    }
}

impl Slot {
    fn set(&self, mut state: MutexGuard<'_, SlotState>, turn: SlotTurn) {
        state.turn = turn;
        let waker = state.waker.take();
        drop(state);
        self.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the wait.
    pub(super) fn end(&self, ending: Ending) {
        self.set(lock(&self.state), SlotTurn::Ended(ending));
    }

    /// Offers the lead. Returns whether the caller who put the item is there to take it; others may watch, and take it instead.
    fn offer(&self) -> bool {
        let state = lock(&self.state);
        let there = !state.left;
        self.set(state, SlotTurn::Lead);
        there
    }

    /// Leaves without waiting for the ending. Returns whether the lead was offered meanwhile.
    pub(super) fn leave(&self) -> bool {
        let mut state = lock(&self.state);
        state.left = true;
        matches!(state.turn, SlotTurn::Lead)
    }

    /// Ends the wait for an item that nobody will end any more. Returns whether it had not ended.
    pub(super) fn abandon(&self) -> bool {
        let waits = !matches!(lock(&self.state).turn, SlotTurn::Ended(_));
        if waits {
            self.end(Ending::Uncertain);
        }
        waits
    }

    /// Waits for the ending; none means that this caller has to write now.
    fn wait(&self) -> Option<Ending> {
        let mut state = lock(&self.state);
        loop {
            if let Poll::Ready(told) = state.turn.told() {
                return told;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the ending once there is one; none means that this caller has to find a thread that writes.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Option<Ending>> {
        let mut state = lock(&self.state);
        let told = state.turn.told();
        if told.is_pending() {
            state.waker = Some(context.waker().clone());
        }
        told
    }

    /// Waits for the ending of another caller's item; none means that its caller has left and nobody writes it.
    fn watch(&self) -> Option<Ending> {
        let mut state = lock(&self.state);
        loop {
            match &state.turn {
                SlotTurn::Ended(ending) => return Some(ending.clone()),
                SlotTurn::Lead if state.left => {
                    state.turn = SlotTurn::NotYet;
                    return None;
                }
                SlotTurn::Lead | SlotTurn::NotYet => {}
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
    /// A caller has the lead, or was told to take it.
    led: bool,
}

impl Pending {
    fn next(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.waits != Waits::Later)
    }
}

impl Commits {
    /// Puts an item at the end. Returns the leader if there was none, and the caller can be told to write.
    pub(super) fn put(self: &Arc<Self>, item: Item) -> Option<CommitLeader> {
        let mut pending = lock(&self.pending);
        let is_deferred = item.waits == Waits::Later;
        pending.items.push(item);
        if is_deferred { None } else { self.appoint(&mut pending) }
    }

    /// Makes deferred items wait like any other. Returns the leader if there was none.
    pub(super) fn call_in(self: &Arc<Self>, slots: &[Arc<Slot>]) -> Option<CommitLeader> {
        let mut pending = lock(&self.pending);
        let mut found = false;
        for item in &mut pending.items {
            if item.slots().any(|own| slots.iter().any(|slot| Arc::ptr_eq(slot, own))) {
                item.waits = Waits::OnAThread;
                found = true;
            }
        }
        found.then(|| self.appoint(&mut pending)).flatten()
    }

    fn appoint(self: &Arc<Self>, pending: &mut Pending) -> Option<CommitLeader> {
        (!mem::replace(&mut pending.led, true)).then(|| CommitLeader(Arc::clone(self)))
    }

    /// Waits until the item of this slot has ended, writing for everybody whenever it is this caller's turn.
    pub(super) fn wait(
        self: &Arc<Self>,
        slot: &Slot,
        mut leader: Option<CommitLeader>,
        write: &dyn Fn(Vec<Item>),
    ) -> Ending {
        loop {
            if let Some(leader) = leader.take() {
                write(leader.take_items());
            }
            match slot.wait() {
                Some(ending) => return ending,
                None => leader = Some(self.taken_over()),
            }
        }
    }

    /// Waits until another caller's item has ended, writing for everybody if nobody else would.
    pub(super) fn watch(self: &Arc<Self>, slot: &Slot, write: &dyn Fn(Vec<Item>)) -> Ending {
        loop {
            if let Some(ending) = slot.watch() {
                return ending;
            }
            let leader = self.appoint(&mut lock(&self.pending));
            if let Some(leader) = leader {
                write(leader.take_items());
            }
        }
    }

    /// Returns the lead of a caller who was told to write.
    pub(super) fn taken_over(self: &Arc<Self>) -> CommitLeader {
        CommitLeader(Arc::clone(self))
    }
}

/// The right and the duty to write for everybody who waits. There is one, and it is handed on however the writing ends, a
/// panic included.
pub struct CommitLeader(Arc<Commits>);

impl CommitLeader {
    /// Takes the items of the next commit out of the line.
    pub(super) fn take_items(&self) -> Vec<Item> {
        let mut pending = lock(&self.0.pending);
        let count = pending.items.len().min(MAX_COMMIT_ITEMS);
        pending.items.drain(..count).collect()
    }

    /// Returns whether the next caller in line waits without a thread: it would have to find one to write.
    pub(super) fn precedes_unattended(&self) -> bool {
        lock(&self.0.pending).next().next().is_some_and(|item| item.waits == Waits::Unattended)
    }
}

impl fmt::Debug for CommitLeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CommitLeader")
    }
}

impl Drop for CommitLeader {
    fn drop(&mut self) {
        let mut pending = lock(&self.0.pending);
        // Items whose callers have all left are written by the next caller, or by one who watches.
        let taken = pending.next().flat_map(Item::slots).any(|slot| slot.offer());
        pending.led = taken;
    }
}

/// A thread that panicked has left nothing half done behind these locks.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many items one commit takes at most, so that nobody waits for a very long one.
const MAX_COMMIT_ITEMS: usize = 512;
