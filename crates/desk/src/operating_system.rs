//! The clock and the randomness of the operating system: everything that a desk records takes both from here.

use std::time::{SystemTime, UNIX_EPOCH};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{random::Random, time::Timestamp};
use demur_sequencer::System;

/// The clock and the randomness of this machine.
#[derive(Clone, Copy, Debug)]
pub struct OperatingSystem {
    clock: fn() -> SystemTime,
}

impl OperatingSystem {
    /// Returns the system, once its randomness and its clock have answered.
    pub fn open() -> Result<Self, Refusal> {
        getrandom::fill(&mut [0; 32]).map_err(|error| {
            Refusal::new(Code::NoRandomness, format!("the system gives no randomness: {error}"))
        })?;
        let system = Self { clock: SystemTime::now };
        system.now().map(|_| system)
    }

    /// Returns the time.
    pub fn now(self) -> Result<Timestamp, Refusal> {
        let since = (self.clock)().duration_since(UNIX_EPOCH).ok();
        since
            .and_then(|since| u64::try_from(since.as_millis()).ok())
            .and_then(|millis| Timestamp::from_millis(millis).ok())
            .ok_or_else(|| {
                let message = "expected a clock between the years 1970 and 9999, found another time";
                Refusal::new(Code::Clock, message).with_cure("set the clock of this machine")
            })
    }
}

impl Random for OperatingSystem {
    fn fill(&mut self, bytes: &mut [u8]) {
        // The system's source does not fail once it has answered, and `open` saw it answer.
        getrandom::fill(bytes).expect("the system's randomness answered when the command began");
    }
}

impl System for OperatingSystem {
    /// A clock that went wrong after `open` saw it right stands still: an event is never earlier than the one before.
    fn now(&self) -> Timestamp {
        Self::now(*self).unwrap_or(Timestamp::MIN)
    }

    fn fill(&self, bytes: &mut [u8]) {
        Random::fill(&mut { *self }, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn randomness_fills_every_byte_anew() {
        let mut system = OperatingSystem::open().unwrap();
        let (mut one, mut other) = ([0; 64], [0; 64]);
        Random::fill(&mut system, &mut one);
        Random::fill(&mut system, &mut other);
        assert_ne!(one, other);
        assert!(one.chunks(16).all(|part| part != [0; 16]));
    }

    #[test]
    fn clock_before_1970_is_refused() {
        let system = OperatingSystem { clock: || UNIX_EPOCH - std::time::Duration::from_secs(1) };
        assert_eq!(system.now().unwrap_err().code, Code::Clock);
    }

    #[test]
    fn clock_is_past_the_year_this_was_begun() {
        let begun = "2026-01-01T00:00:00.000Z".parse().unwrap();
        assert!(OperatingSystem::open().unwrap().now().unwrap() > begun);
    }
}
