//! The key directory: the registry of a store together with the words that its events carry: names, notes, times. A name is
//! the desk's claim; a fingerprint is proven.

use std::collections::BTreeMap;

use demur_api::refusal::Refusal;
use demur_core::{limit::Text, time::Timestamp};
use demur_ledger::{
    event_type::{Content, EventType, Facts},
    facts::RevocationReason,
    name::{PrincipalId, Sequence},
    registry::Registry,
};
use demur_sequencer::{SequencerError, read_event};
use demur_store::contract::{Kept, Store, Stored};

/// A registry and what its events say in words.
#[derive(Clone, Debug)]
pub struct KeyDirectory {
    registry: Registry,
    names: BTreeMap<PrincipalId, String>,
    times: Vec<Timestamp>,
    revocations: BTreeMap<Sequence, (RevocationReason, Option<String>)>,
}

impl KeyDirectory {
    /// Returns the key directory of a registry that a store holds. The words are checked against their commitments.
    pub fn read(store: &dyn Store, registry: Registry) -> Result<Self, SequencerError> {
        let mut key_directory = Self {
            names: BTreeMap::from([(registry.desk(), DESK.to_owned())]),
            times: Vec::new(),
            revocations: BTreeMap::new(),
            registry,
        };
        let mut next = Sequence::FIRST;
        while next <= key_directory.registry.head().sequence {
            let page = store.events(key_directory.registry.trace(), next, EVENTS_PER_READ)?;
            if page.is_empty() {
                return Err(key_directory.damaged(next, "CHAIN_BREAK"));
            }
            for stored in page {
                key_directory.take(next, &stored)?;
                next = next.next();
            }
        }
        Ok(key_directory)
    }

    /// Returns the keys.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the name a principal is known by.
    pub fn name(&self, principal: PrincipalId) -> &str {
        self.names.get(&principal).map_or("(no name)", String::as_str)
    }

    /// Returns every name.
    pub const fn names(&self) -> &BTreeMap<PrincipalId, String> {
        &self.names
    }

    /// Returns when an event was recorded.
    pub fn time(&self, at: Sequence) -> Option<Timestamp> {
        self.times.get(usize::try_from(at.number()).ok()?).copied()
    }

    /// Returns why an event revoked a key, and what was noted.
    pub fn revocation(&self, at: Sequence) -> Option<(RevocationReason, Option<String>)> {
        self.revocations.get(&at).cloned()
    }

    fn take(&mut self, at: Sequence, stored: &Stored) -> Result<(), SequencerError> {
        let event = read_event(self.registry.trace(), at, stored)?;
        if at <= self.registry.head().sequence && !self.registry.holds(&event.position()) {
            return Err(self.damaged(at, "CHAIN_BREAK"));
        }
        self.times.push(event.envelope().time);
        let Some(commitment) = event.envelope().content else { return Ok(()) };
        let opening = match &stored.content {
            Kept::Here(opening) if opening.commitment() == commitment => opening,
            Kept::Here(_) => return Err(self.damaged(at, "COMMITMENT_MISMATCH")),
            Kept::Absent => return Err(self.damaged(at, "NOT_DISCLOSED")),
            Kept::Erased => return Ok(()),
        };
        match event.said().map(|said| said.facts) {
            Ok(Facts::KeyRegistered(facts)) => {
                if let Ok(Content::KeyRegistered(content)) =
                    Content::parse(EventType::KeyRegistered, &opening.bytes)
                {
                    self.names.entry(facts.principal).or_insert_with(|| content.name.into());
                }
            }
            Ok(Facts::KeyRevoked(facts)) => {
                let note = match Content::parse(EventType::KeyRevoked, &opening.bytes) {
                    Ok(Content::KeyRevoked(content)) => Some(content.note.into()),
                    _ => None,
                };
                self.revocations.insert(at, (facts.reason, note));
            }
            _ => {}
        }
        Ok(())
    }

    fn damaged(&self, sequence: Sequence, code: &'static str) -> SequencerError {
        SequencerError::Damaged { trace: self.registry.trace(), sequence, code }
    }
}

/// Returns the name and version that stand in the files we write.
pub fn software() -> Result<Text<1, 128>, Refusal> {
    Ok(Text::try_from(concat!("demur ", env!("CARGO_PKG_VERSION")))?)
}

/// The name of the desk's own keys.
pub const DESK: &str = "desk";

/// How many events are read at once.
const EVENTS_PER_READ: usize = 1024;
