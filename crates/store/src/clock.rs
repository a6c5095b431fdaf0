//! The clock of this machine, which is that of a store that nobody shares.

use std::time::{SystemTime, UNIX_EPOCH};

use demur_core::time::Timestamp;

/// Returns the time of this machine.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_millis(millis).unwrap_or(Timestamp::MAX)
}
