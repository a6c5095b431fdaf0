//! Calls by digest: which were blocked, and how often each failed since it last completed (LED-11, LED-32). An intent is
//! over; the call it was about can come again in another.

use std::collections::BTreeMap;

use demur_core::hash::Digest;
use serde::{Deserialize, Serialize};

use crate::{facts::Risk, name::Sequence};

/// What stands against calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Calls {
    blocked: BTreeMap<Digest, Blocked>,
    failed: BTreeMap<Digest, u64>,
}

/// A call that was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Blocked {
    /// The newest review that blocks it.
    pub(super) at: Sequence,
    /// The greatest risk at which it was blocked.
    pub(super) risk: Risk,
}

impl Calls {
    /// Returns none.
    pub(super) const fn new() -> Self {
        Self { blocked: BTreeMap::new(), failed: BTreeMap::new() }
    }

    /// Notes that a review blocks a call.
    pub(super) fn block(&mut self, call: Digest, at: Sequence, risk: Risk) {
        let before = self.blocked.get(&call).map_or(risk, |blocked| blocked.risk);
        self.blocked.insert(call, Blocked { at, risk: risk.max(before) });
    }

    /// Returns whether an execution of this call may fail: only so many calls are remembered that did. One that is
    /// remembered may be tried again, so that it can complete.
    pub(super) fn has_room(&self, call: &Digest) -> bool {
        self.failed.len() < MAX_FAILED_CALLS || self.failed.contains_key(call)
    }

    /// Notes that an execution of a call has ended.
    pub(super) fn end(&mut self, call: Digest, completed: bool) {
        if completed {
            self.failed.remove(&call);
        } else {
            *self.failed.entry(call).or_default() += 1;
        }
    }

    /// Returns how a call was blocked, if it was.
    pub(super) fn blocked(&self, call: &Digest) -> Option<Blocked> {
        self.blocked.get(call).copied()
    }

    /// Returns how often a call failed since it last completed.
    pub(super) fn failed(&self, call: &Digest) -> u64 {
        self.failed.get(call).copied().unwrap_or_default()
    }
}

/// How many calls may have failed and not completed since: as many as there may be intents in play, of which every blocked
/// one is about one call.
pub(super) const MAX_FAILED_CALLS: usize = 1024;
