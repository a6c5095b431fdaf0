//! Effects on other traces, done once each: the log is read from where the last reading ended, and the command id of
//! an effect follows from the event that caused it.

use demur_engine::reactor::{Effect, Reactor};
use demur_ledger::{envelope::Event, name::CommandId, newer::Reading};
use demur_store::contract::{Cursor, KeptRecord, RecordKey, RecordValue, Swap, Version};

use super::{Sequencer, SequencerError};

impl Sequencer {
    /// Lets a reactor read everything it has not read yet. Returns how many effects were recorded.
    ///
    /// What a newer version wrote is left for a newer version, and what is damaged for a restoration: the reading goes on
    /// behind it, and begins with it the next time. Effects that are there are not recorded twice.
    pub fn react(&self, reactor: &dyn Reactor) -> Result<u64, SequencerError> {
        let key = RecordKey::new(format!("reactor/{}", reactor.name()))?;
        let mut kept = self.store.record(&key)?;
        let mut cursor = kept.as_ref().map_or(Cursor::START, place);
        // Up to where every event is known here.
        let mut known = cursor;
        let (mut recorded, mut is_known) = (0, true);
        loop {
            let page = self.store.changes(cursor, EVENTS_PER_READ)?;
            if page.is_empty() {
                return Ok(recorded);
            }
            for (place, stored) in &page {
                cursor = *place;
                match Reading::of(&stored.bytes, &stored.hash) {
                    Reading::Known(event) => {
                        if let Some(effect) = reactor.react(&event) {
                            recorded += u64::from(self.perform_effect(effect, reactor, &event)?);
                        }
                    }
                    Reading::Newer(_) | Reading::Damaged => is_known = false,
                }
                if is_known {
                    known = cursor;
                }
            }
            // Only now: after a crash the page is read again, and its effects are found to be there.
            self.remember(&key, kept.as_ref(), known)?;
            kept = self.store.record(&key)?;
        }
    }

    fn perform_effect(
        &self,
        effect: Effect,
        reactor: &dyn Reactor,
        source: &Event,
    ) -> Result<bool, SequencerError> {
        let command = reactor.command(source.hash());
        match effect {
            Effect::RecordCheckpoint => {
                if self.is_recorded(command)? {
                    return Ok(false);
                }
                match self.checkpoint_as(command) {
                    // Another process recorded it meanwhile, in words of its own.
                    Err(SequencerError::Refused(_)) if self.is_recorded(command)? => Ok(false),
                    recorded => Ok(!recorded?.repeated),
                }
            }
        }
    }

    /// Returns whether the desk has recorded a command, under whichever of its keys.
    fn is_recorded(&self, command: CommandId) -> Result<bool, SequencerError> {
        let registry = self.newest_registry()?;
        for (key, _) in registry.keys().filter(|(_, record)| record.principal == registry.desk()) {
            if self.store.command(key, command)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps how far a reactor has read. Another process that reads with it has kept that before: as good a place to go on.
    fn remember(
        &self,
        key: &RecordKey,
        kept: Option<&KeptRecord>,
        cursor: Cursor,
    ) -> Result<(), SequencerError> {
        let was = kept.map_or(Version::ABSENT, |kept| kept.version);
        let next = RecordValue { bytes: cursor.as_bytes().to_vec(), expires: None };
        match self.swap(vec![Swap { key: key.clone(), was, next: Some(next) }]) {
            Ok(()) | Err(SequencerError::RecordChanged) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Returns how far a record says that a reactor has read; one that says nothing of the kind sends it to the beginning.
fn place(kept: &KeptRecord) -> Cursor {
    kept.value.bytes.as_slice().try_into().map_or(Cursor::START, Cursor::from_bytes)
}

/// How many events are read at once.
const EVENTS_PER_READ: usize = 256;
