//! The key directory: the registry of a store together with the words that its events carry: names, notes, times. A name is
//! the desk's claim; a fingerprint is proven.

use std::collections::BTreeMap;

use demur_api::refusal::Refusal;
use demur_core::{key::Fingerprint, limit::Text, time::Timestamp};
use demur_ledger::{
    event_type::{Content, Facts},
    facts::RevocationReason,
    name::{PersonId, PrincipalId, Sequence},
    registry::Registry,
};
use demur_sequencer::{SequencerError, read_event};
use demur_store::contract::{Kept, Store, Stored};

/// A registry and what its events say in words.
#[derive(Clone, Debug)]
pub struct KeyDirectory {
    registry: Registry,
    names: BTreeMap<PrincipalId, String>,
    people: BTreeMap<PersonId, String>,
    labels: BTreeMap<Fingerprint, String>,
    times: Vec<Timestamp>,
    revocations: BTreeMap<Sequence, (RevocationReason, Option<String>)>,
}

impl KeyDirectory {
    /// Returns the key directory of a registry that a store holds. The words are checked against their commitments.
    pub fn read(store: &dyn Store, registry: Registry) -> Result<Self, SequencerError> {
        let mut key_directory = Self {
            names: BTreeMap::from([(registry.desk(), DESK.to_owned())]),
            people: BTreeMap::new(),
            labels: BTreeMap::new(),
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

    /// Returns what a person is called, by the newest event about them.
    pub fn person_name(&self, person: PersonId) -> Option<&str> {
        self.people.get(&person).map(String::as_str)
    }

    /// Returns what a passkey is called by its person.
    pub fn passkey_label(&self, key: &Fingerprint) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
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
        let Ok(said) = event.said() else { return Ok(()) };
        let content = said.facts.event_type().and_then(|kind| Content::parse(kind, &opening.bytes).ok());
        self.take_words(at, said.facts, content);
        Ok(())
    }

    fn take_words(&mut self, at: Sequence, facts: &Facts, content: Option<Content>) {
        match (facts, content) {
            (Facts::KeyRegistered(facts), Some(Content::KeyRegistered(content))) => {
                self.names.entry(facts.principal).or_insert_with(|| content.name.into());
            }
            (Facts::KeyRevoked(facts), content) => {
                let note = match content {
                    Some(Content::KeyRevoked(content)) => Some(content.note.into()),
                    _ => None,
                };
                self.revocations.insert(at, (facts.reason, note));
            }
            (Facts::PersonAdded(facts), Some(Content::PersonAdded(content))) => {
                self.people.insert(facts.person, content.name.into());
            }
            (Facts::PersonChanged(facts), Some(Content::PersonChanged(content))) => {
                self.people.insert(facts.person, content.name.into());
            }
            (Facts::PasskeyRooted(facts), Some(Content::PasskeyRooted(content))) => {
                self.labels.insert(facts.0.key.fingerprint(), content.label.into());
            }
            (Facts::PasskeyAdded(facts), Some(Content::PasskeyAdded(content))) => {
                self.labels.insert(facts.key.fingerprint(), content.label.into());
            }
            (Facts::PasskeyReset(facts), Some(Content::PasskeyReset(content))) => {
                self.labels.insert(facts.0.key.fingerprint(), content.label.into());
            }
            _ => {}
        }
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
