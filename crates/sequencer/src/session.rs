//! From opening to closing: a use of the store that was not closed crashed, and what it recorded last is followed by
//! a `recovery_recorded` before anything else (LED-22).

use demur_core::{canonical, limit::Limits, time::Timestamp};
use demur_ledger::content::NoteContent;
use demur_store::contract::Store;
use serde::{Deserialize, Serialize};

use super::error::SequencerError;

/// This use of the store and the crashed ones before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Session {
    /// From when to when desks were at work that crashed; the latest last.
    crashes: Vec<(Timestamp, Timestamp)>,
    /// When this use began; none once it ended in good order.
    since: Option<Timestamp>,
}

impl Session {
    /// Notes that the store is in use from now on.
    pub(super) fn begin(store: &dyn Store, now: Timestamp) -> Result<Self, SequencerError> {
        let known =
            store.note(NOTE)?.and_then(|bytes| canonical::from_canonical(&bytes, &Limits::EVENT).ok());
        let Self { mut crashes, since } = known.unwrap_or(Self { crashes: Vec::new(), since: None });
        if let Some(since) = since {
            crashes.push((since, now));
        }
        if crashes.len() > MOST {
            // Older ones are joined: what lies between them is then called interrupted too, which is harmless.
            let (from, to) = (crashes[0].0, crashes[1].1);
            crashes.splice(..2, [(from, to)]);
        }
        let session = Self { crashes, since: Some(now) };
        session.write(store)?;
        Ok(session)
    }

    /// Notes that the use ended in good order.
    pub(super) fn end(&self, store: &dyn Store) -> Result<(), SequencerError> {
        Self { crashes: self.crashes.clone(), since: None }.write(store)
    }

    /// Returns whether an event of this time was recorded by a desk that crashed.
    pub(super) fn was_interrupted(&self, time: Timestamp) -> bool {
        self.crashes.iter().any(|(from, to)| *from <= time && time <= *to)
    }

    fn write(&self, store: &dyn Store) -> Result<(), SequencerError> {
        Ok(store.set_note(NOTE, &canonical::to_vec(self)?)?)
    }
}

/// Returns what the desk remarks when it comes back.
pub(super) fn note() -> NoteContent {
    // Unwrap safety: a short text that is not empty.
    let note = NOTE_TEXT.try_into().expect("a short text fits");
    NoteContent { note }
}

const NOTE: &str = "session";
const NOTE_TEXT: &str = "the desk came back after a crash; the trace is whole up to this event";
/// How many crashes are told apart.
const MOST: usize = 32;
