//! What other processes record in a store that they share: read after a cursor, so that this one goes on from it and tells
//! whoever waits here.

use demur_ledger::{entry::Entry, envelope::Event, name::TraceId, newer::Reading};
use demur_store::contract::{Cursor, Kept, Stored};

use super::{Sequencer, SequencerError};

/// What other processes recorded after a cursor.
#[derive(Debug)]
pub struct Followed {
    /// Where to go on from.
    pub cursor: Cursor,
    /// In the order of commits. What this version cannot read is left out.
    pub changes: Vec<(TraceId, Entry)>,
    /// Whether there may be more at once.
    pub has_more: bool,
}

impl Sequencer {
    /// Returns what other processes recorded after a cursor. What this process recorded itself is not among it: whoever
    /// listens heard of it.
    ///
    /// When this returns, the registry is the newest if it can be read, and so is the desk's key, and whoever decides in one of these traces
    /// reads on first. Reads the store, so it may wait for it; where nobody shares the store there is nothing to follow.
    pub fn follow(&self, after: Cursor) -> Result<Followed, SequencerError> {
        let page = self.store.changes(after, EVENTS_PER_READ)?;
        let has_more = page.len() == EVENTS_PER_READ;
        let cursor = page.last().map_or(after, |(cursor, _)| *cursor);
        let foreign =
            page.into_iter().map(|(_, stored)| stored).filter(|stored| stored.writer != self.at_hand.lease);
        let mut changes = Vec::new();
        for stored in foreign {
            let (trace, entry) = match Reading::of(&stored.bytes, &stored.hash) {
                Reading::Known(event) => (Some(event.envelope().trace), Some(event)),
                Reading::Newer(newer) => (newer.trace(), None),
                // Whoever reads its trace says so.
                Reading::Damaged => (None, None),
            };
            let Some(trace) = trace else { continue };
            if let Some(queue) = self.at_hand.queues.known(trace) {
                queue.void();
            }
            changes.extend(entry.map(|event| (trace, entry_of(event, stored))));
        }
        let registry = self.registry().trace();
        if changes.iter().any(|(trace, _)| *trace == registry) {
            // Whoever decides next meets what is wrong with it; whoever waits hears of the changes all the same.
            let _ = self.refresh();
        }
        Ok(Followed { cursor, changes, has_more })
    }
}

fn entry_of(event: Event, stored: Stored) -> Entry {
    let opening = match stored.content {
        Kept::Here(opening) => Some(opening),
        Kept::Absent | Kept::Erased => None,
    };
    let artifact = match stored.artifact {
        Kept::Here(place) => Some(place),
        Kept::Absent | Kept::Erased => None,
    };
    // Nothing is decided by it: who decides next reads the trace again.
    Entry { event, opening, artifact, meaning: None }
}

/// How many events are read at once.
const EVENTS_PER_READ: usize = 256;
