//! Names that nobody has used: chosen here, so that a request can be sent again and is recorded once. The clock and the
//! randomness of this machine, and the only place of this crate that asks for either.

use std::time::{SystemTime, UNIX_EPOCH};

use demur_api::{call::IdempotencyKey, code::Code, refusal::Refusal};
use demur_clarify::uuid::Uuid;
use demur_core::{
    id::{Ulid, Uuid7},
    random::Random,
    time::Timestamp,
};
use demur_ledger::name::TraceId;

/// A clock and a randomness that have answered.
pub(crate) struct NewNames {
    now: Timestamp,
}

impl NewNames {
    /// Returns where new names come from, at this moment.
    pub(crate) fn open() -> Result<Self, Refusal> {
        getrandom::fill(&mut [0; 32]).map_err(|error| {
            Refusal::new(Code::NoRandomness, format!("the system gives no randomness: {error}"))
        })?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let millis = since.and_then(|since| u64::try_from(since.as_millis()).ok());
        let now = millis.and_then(|millis| Timestamp::from_millis(millis).ok()).ok_or_else(|| {
            Refusal::new(Code::Clock, "expected a clock between the years 1970 and 9999, found another time")
        })?;
        Ok(Self { now })
    }

    /// Returns the time.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns a key under which a request can be sent again without being recorded twice.
    pub(crate) fn key(&mut self) -> Result<IdempotencyKey, Refusal> {
        IdempotencyKey::try_from(self.ulid().to_string()).map_err(|error| Refusal::bug(&error))
    }

    /// Returns a name for a trace.
    pub(crate) fn trace(&mut self) -> TraceId {
        self.ulid().into()
    }

    /// Returns a name for a session of a plan.
    pub(crate) fn session(&mut self) -> Uuid {
        Uuid7::new(self.now, self).into()
    }

    /// Returns a name for whatever else needs one.
    pub(crate) fn ulid(&mut self) -> Ulid {
        Ulid::new(self.now, self)
    }
}

impl Random for NewNames {
    fn fill(&mut self, bytes: &mut [u8]) {
        // The system's source does not fail once it has answered, and `open` saw it answer.
        getrandom::fill(bytes).expect("the system's randomness answered when this was opened");
    }
}
