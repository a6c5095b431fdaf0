//! How many events a subscriber may get by now (5.6.1): a bucket that fills smoothly.

use demur_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::capability::EventRate;

/// A bucket of tokens, one for each event. Without a rate it is never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBucket {
    rate: Option<EventRate>,
    /// Thousandths of tokens: a rate of one a second fills in one of them each millisecond. Below zero after events that could not
    /// wait; those are made up for.
    filled: i64,
    /// When it was filled last.
    at: Timestamp,
}

impl TokenBucket {
    /// Returns a full bucket.
    pub fn new(rate: Option<EventRate>, now: Timestamp) -> Self {
        let mut bucket = Self { rate, filled: 0, at: now };
        bucket.filled = bucket.capacity();
        bucket
    }

    /// Changes the rate. What was taken stays taken.
    pub fn change(&mut self, rate: Option<EventRate>, now: Timestamp) {
        self.fill(now);
        self.rate = rate;
        if rate.is_none() {
            self.filled = self.capacity();
        }
        self.filled = self.filled.min(self.capacity());
    }

    /// Takes the token of one event, if there is one.
    pub fn take(&mut self, now: Timestamp) -> bool {
        self.fill(now);
        let has_one = self.filled >= MILLITOKENS_PER_EVENT;
        if has_one && self.rate.is_some() {
            self.filled -= MILLITOKENS_PER_EVENT;
        }
        has_one
    }

    /// Takes the token of an event that cannot wait for one.
    pub fn owe(&mut self, now: Timestamp) {
        self.fill(now);
        if self.rate.is_some() {
            self.filled -= MILLITOKENS_PER_EVENT;
        }
    }

    /// Returns when there will be a token.
    pub fn next_token(&self) -> Timestamp {
        let missing = u64::try_from(MILLITOKENS_PER_EVENT - self.filled).unwrap_or_default();
        let wait = self.rate.map_or(0, |rate| missing.div_ceil(rate.as_u64()));
        self.at.plus_millis(wait)
    }

    /// A clock that goes back fills nothing.
    fn fill(&mut self, now: Timestamp) {
        let passed = now.as_millis().saturating_sub(self.at.as_millis());
        let rate = self.rate.map_or(0, EventRate::as_u64);
        let added = i64::try_from(passed.saturating_mul(rate)).unwrap_or(i64::MAX);
        self.filled = self.filled.saturating_add(added).min(self.capacity());
        self.at = self.at.max(now);
    }

    /// A tenth of a second, and at least one event: a slow subscriber never gets two at once, and a fast one loses nothing to the
    /// times at which timers go off.
    fn capacity(&self) -> i64 {
        let rate = self.rate.map_or(0, EventRate::as_u64);
        i64::try_from(rate / 10).unwrap_or_default().max(1) * MILLITOKENS_PER_EVENT
    }
}

/// One token, in thousandths.
const MILLITOKENS_PER_EVENT: i64 = 1000;
