//! A stored event, read: what a newer version wrote is refused and never called damage (`docs/format.md` 12).

use demur_ledger::{
    envelope::{Event, event_hash},
    name::{Sequence, TraceId},
    newer::Reading,
};
use demur_store::contract::{Performed, StoreError, Stored};

use super::error::SequencerError;

/// Returns a stored event of a trace.
pub fn read_event(trace: TraceId, sequence: Sequence, stored: &Stored) -> Result<Event, SequencerError> {
    judge(Reading::of(&stored.bytes, &stored.hash), trace, sequence)
}

/// Returns the event that a command became.
pub fn read_performed(performed: &Performed) -> Result<Event, SequencerError> {
    let Performed { trace, bytes } = performed;
    judge(Reading::of(bytes, &event_hash(bytes)), *trace, Sequence::FIRST)
}

fn judge(reading: Reading<'_>, trace: TraceId, sequence: Sequence) -> Result<Event, SequencerError> {
    match reading {
        Reading::Known(event) => Ok(event),
        Reading::Newer(event) => {
            Err(StoreError::TraceNewer { trace, sequence, newer: event.newer().clone() }.into())
        }
        Reading::Damaged => Err(SequencerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" }),
    }
}
