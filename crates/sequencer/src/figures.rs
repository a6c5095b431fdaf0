//! What a sequencer has done since it was opened, for whoever watches it.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a sequencer has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Events that were recorded.
    pub events: u64,
    /// Commits that carried them.
    pub commits: u64,
    /// Callers that are in line now: to decide, or to have recorded what was decided.
    pub waiting: u64,
    /// Commands that were refused by a rule. Whether a refusal was recorded makes no difference.
    pub refusals: u64,
}

/// The figures as they are counted. Each counts by itself: together they may be of different moments.
#[derive(Debug, Default)]
pub(super) struct Counters {
    events: AtomicU64,
    commits: AtomicU64,
    waiting: AtomicU64,
    refusals: AtomicU64,
}

impl Counters {
    /// Returns the figures of now.
    pub(super) fn read(&self) -> Figures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Figures {
            events: read(&self.events),
            commits: read(&self.commits),
            waiting: read(&self.waiting),
            refusals: read(&self.refusals),
        }
    }

    /// Counts a commit with this many events.
    pub(super) fn count_commit(&self, events: usize) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events as u64, Ordering::Relaxed);
    }

    /// Counts a refused command.
    pub(super) fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a caller as waiting for as long as the answer lives.
    pub(super) fn stand_in_line(&self) -> InLine<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        InLine(self)
    }
}

/// A caller in line.
pub(super) struct InLine<'a>(&'a Counters);

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
