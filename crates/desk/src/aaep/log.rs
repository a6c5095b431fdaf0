//! The stream of events as this process reads it: once for everybody who follows here. The newest entries are kept in memory; whoever
//! is further back reads the stream itself, at its own pace.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use demur_api::refusal::Refusal;
use demur_store::contract::StreamPosition;
use tokio::{
    sync::{Notify, watch},
    time,
};

use super::posted::{self, LogEntry};
use crate::{desk::Desk, owner::Owner, trouble_log::TroubleLog};

/// What was told lately, and who listens.
pub(crate) struct EventLog {
    state: watch::Sender<LogState>,
    ring: Mutex<Ring>,
    arrived: Notify,
    /// Counts what was kept here.
    posted: watch::Sender<u64>,
}

/// How far everything is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogState {
    /// The newest place that was read; none while nobody follows here.
    pub(super) newest: Option<u64>,
    /// Nothing more is read.
    pub(super) over: bool,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(LogState::default()),
            ring: Mutex::default(),
            arrived: Notify::new(),
            posted: watch::Sender::new(0),
        }
    }
}

impl EventLog {
    /// Returns what says how far everything is; whoever holds it follows.
    pub(super) fn subscribe(&self) -> watch::Receiver<LogState> {
        let receiver = self.state.subscribe();
        self.arrived.notify_one();
        receiver
    }

    /// Returns what is told whenever something was kept here.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.posted.subscribe()
    }

    /// Says that something was kept.
    pub(super) fn posted(&self) {
        self.posted.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Says that nothing more is read.
    pub(super) fn end(&self) {
        self.state.send_modify(|state| state.over = true);
    }

    /// Returns what stands after a place, some of it at a time; none where it is not in memory any more.
    pub(super) fn since(&self, place: u64) -> Option<Vec<Arc<LogEntry>>> {
        self.ring().since(place)
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, place: u64) {
        *self.ring() = Ring { after: place, ..Ring::default() };
        self.state.send_modify(|state| state.newest = Some(place));
    }

    fn rest(&self) {
        *self.ring() = Ring::default();
        self.state.send_if_modified(|state| state.newest.take().is_some());
    }

    fn tell(&self, entries: Vec<Arc<LogEntry>>, newest: u64) {
        {
            let mut ring = self.ring();
            for entry in entries {
                ring.push(entry);
            }
        }
        self.state.send_modify(|state| state.newest = Some(newest));
    }
}

/// The newest entries, by place.
#[derive(Debug, Default)]
struct Ring {
    /// Everything after this place is here.
    after: u64,
    entries: VecDeque<Arc<LogEntry>>,
    bytes: usize,
}

impl Ring {
    fn push(&mut self, entry: Arc<LogEntry>) {
        self.bytes += entry.bytes;
        self.entries.push_back(entry);
        while self.entries.len() > MAX_KEPT_ENTRIES || (self.bytes > MAX_KEPT_BYTES && self.entries.len() > 1)
        {
            let Some(dropped) = self.entries.pop_front() else { return };
            self.bytes -= dropped.bytes;
            self.after = dropped.place;
        }
    }

    fn since(&self, place: u64) -> Option<Vec<Arc<LogEntry>>> {
        if place < self.after {
            return None;
        }
        let first = self.entries.partition_point(|known| known.place <= place);
        Some(self.entries.range(first..).take(ENTRIES_PER_PART).cloned().collect())
    }
}

/// Reads the stream for as long as somebody follows here.
pub(super) async fn run(desk: &Arc<Desk>) {
    let log = desk.events();
    let mut posted = log.listen();
    let mut trouble = TroubleLog::new("the stream of accessibility events cannot be read");
    loop {
        while log.state.receiver_count() == 0 {
            log.rest();
            log.arrived.notified().await;
        }
        let begun = desk.work(|_, owner| {
            let store = owner.sequencer().store();
            Ok((store.newest_post(&posted::events()?)?, store.is_shared()))
        });
        let Some((mut place, is_shared)) = trouble.note(begun.await) else {
            time::sleep(RETRY_DELAY).await;
            continue;
        };
        log.begin(place.number());
        while log.state.receiver_count() > 0 {
            // Seen before the look: whatever is posted after it wakes us again.
            posted.mark_unchanged();
            while let Some(Some(read)) = trouble.note(desk.work(move |_, owner| page(owner, place)).await) {
                place = read.1;
                log.tell(read.0, place.number());
            }
            let look = if is_shared { SHARED_LOOK_INTERVAL } else { LOOK_INTERVAL };
            tokio::select! {
                changed = posted.changed() => if changed.is_err() { return },
                () = time::sleep(look) => {}
            }
        }
    }
}

/// Returns entries after a place, and the place of the last of them; none where there are none.
type Page = (Vec<Arc<LogEntry>>, StreamPosition);

fn page(owner: &Owner, after: StreamPosition) -> Result<Option<Page>, Refusal> {
    let entries = entries_after(owner, after)?;
    let last = entries.last().map(|entry| StreamPosition::new(entry.place));
    Ok(last.map(|last| (entries, last)))
}

/// Reads entries of the stream after a place.
pub(super) fn entries_after(owner: &Owner, after: StreamPosition) -> Result<Vec<Arc<LogEntry>>, Refusal> {
    let posts = owner.sequencer().store().posts(&posted::events()?, after, ENTRIES_PER_PART)?;
    Ok(posts.iter().map(|post| Arc::new(LogEntry::read(post))).collect())
}

/// How many entries are kept, and how much memory they take at most.
const MAX_KEPT_ENTRIES: usize = 4096;
const MAX_KEPT_BYTES: usize = 32 << 20;
/// How many go out together.
const ENTRIES_PER_PART: usize = 64;
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// How often a stream is looked at that other processes write to.
const SHARED_LOOK_INTERVAL: Duration = Duration::from_millis(100);
const RETRY_DELAY: Duration = Duration::from_millis(250);
