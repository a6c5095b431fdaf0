//! How often somebody may try. A bucket is one number, the time at which it is full again; there are only so many of them,
//! and time is a parameter.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
};

use demur_api::code::Code;
use demur_core::time::Timestamp;

use crate::problem::Problem;

/// The limits of a server.
pub(crate) struct Limits {
    /// Codes and touches that sign nobody in, by address.
    pub(crate) sign_in: Buckets<Peer>,
    /// Touches that are prepared to sign somebody in, by address: each signs a draft, and nothing is kept for it.
    pub(crate) sign_in_preparations: Buckets<Peer>,
    /// Tokens and sessions that are no good, by address.
    pub(crate) credentials: Buckets<Peer>,
    /// What a session changes, by session.
    pub(crate) acts: Buckets<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sign_in: Buckets::new(TRIES_PER_MINUTE),
            sign_in_preparations: Buckets::new(PREPARATIONS_PER_MINUTE),
            credentials: Buckets::new(TRIES_PER_MINUTE),
            acts: Buckets::new(ACTS_PER_MINUTE),
        }
    }
}

/// Where a connection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Peer(IpAddr);

impl Peer {
    /// Returns the peer at this address. Whoever has one address of IPv6 has all those beside it.
    pub(crate) fn new(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            address @ IpAddr::V4(_) => Self(address),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Somebody tried too often. Goes with the request to where it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    /// How many there may be in a minute.
    most: u64,
    /// After how many seconds the next one is let through.
    pub(crate) seconds: u64,
}

impl From<TooMany> for Problem {
    fn from(TooMany { most, seconds }: TooMany) -> Self {
        let detail = format!("expected at most {most} attempts in a minute, found more");
        let hint = format!("nothing was changed; try again in {seconds} seconds");
        Self::new(Code::TooManyAttempts, detail).with_cure(hint).retry_after(seconds)
    }
}

/// One bucket for each key: it holds as much as a minute brings.
pub(crate) struct Buckets<K> {
    most: u64,
    /// When each is full again, in milliseconds. One that is full is none.
    full_at: Mutex<BTreeMap<K, u64>>,
}

impl<K: Clone + Ord> Buckets<K> {
    const fn new(most: u64) -> Self {
        Self { most, full_at: Mutex::new(BTreeMap::new()) }
    }

    /// Takes one out of a bucket, if there is one left.
    pub(crate) fn take(&self, key: &K, now: Timestamp) -> Result<(), TooMany> {
        let (now, cost) = (now.as_millis(), MINUTE_MS / self.most);
        let mut known = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back must not lock anybody out for longer than a minute.
        let found = known.get(key).copied().unwrap_or(0).clamp(now, now + MINUTE_MS);
        let full_at = found + cost;
        if full_at > now + MINUTE_MS {
            known.insert(key.clone(), found);
            let seconds = (full_at - now - MINUTE_MS).div_ceil(1000);
            return Err(TooMany { most: self.most, seconds });
        }
        if known.len() >= MAX_BUCKETS && !known.contains_key(key) {
            make_room(&mut known, now);
        }
        known.insert(key.clone(), full_at);
        Ok(())
    }
}

/// Forgets the buckets that are full again, or else the one that is so first.
fn make_room<K: Clone + Ord>(known: &mut BTreeMap<K, u64>, now: u64) {
    known.retain(|_, full_at| *full_at > now);
    if known.len() >= MAX_BUCKETS {
        let first = known.iter().min_by_key(|(_, full_at)| **full_at).map(|(key, _)| key.clone());
        first.map(|key| known.remove(&key));
    }
}

/// How many attempts an address has in a minute.
pub(crate) const TRIES_PER_MINUTE: u64 = 20;
/// How many touches an address has prepared in a minute.
const PREPARATIONS_PER_MINUTE: u64 = 120;
/// How many things a session changes in a minute.
const ACTS_PER_MINUTE: u64 = 120;
/// How many buckets there are at most.
const MAX_BUCKETS: usize = 4096;
const MINUTE_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + millis).unwrap()
    }

    fn peer(text: &str) -> Peer {
        Peer::new(text.parse().unwrap())
    }

    #[test]
    fn a_minute_s_worth_goes_at_once_and_then_one_at_a_time() {
        let buckets = Buckets::new(20);
        for _ in 0..20 {
            assert_eq!(buckets.take(&1, at(0)), Ok(()));
        }
        assert_eq!(buckets.take(&1, at(0)), Err(TooMany { most: 20, seconds: 3 }));
        assert_eq!(buckets.take(&1, at(2_999)), Err(TooMany { most: 20, seconds: 1 }));
        assert_eq!(buckets.take(&1, at(3_000)), Ok(()));
        assert!(buckets.take(&1, at(3_000)).is_err());
        assert_eq!(buckets.take(&2, at(0)), Ok(()), "others have their own");
        for _ in 0..20 {
            assert_eq!(buckets.take(&1, at(70_000)), Ok(()), "a minute later it is full again");
        }
    }

    #[test]
    fn a_clock_that_goes_back_locks_nobody_out_for_more_than_a_minute() {
        let buckets = Buckets::new(20);
        for _ in 0..20 {
            let _ = buckets.take(&1, at(10_000_000));
        }
        assert!(buckets.take(&1, at(0)).is_err());
        assert_eq!(buckets.take(&1, at(60_000)), Ok(()));
    }

    #[test]
    fn however_many_come_the_memory_is_bounded() {
        let buckets = Buckets::new(20);
        for number in 0..3 * MAX_BUCKETS {
            assert_eq!(buckets.take(&number, at(number as u64 % 1000)), Ok(()));
        }
        assert!(buckets.full_at.lock().unwrap().len() <= MAX_BUCKETS);
    }

    #[test]
    fn addresses_of_one_network_and_both_spellings_of_one_are_one_peer() {
        assert_eq!(peer("2001:db8:1:2::1"), peer("2001:db8:1:2:ffff::9"));
        assert_ne!(peer("2001:db8:1:2::1"), peer("2001:db8:1:3::1"));
        assert_eq!(peer("::ffff:192.0.2.1"), peer("192.0.2.1"));
        assert_ne!(peer("192.0.2.1"), peer("192.0.2.2"));
    }
}
