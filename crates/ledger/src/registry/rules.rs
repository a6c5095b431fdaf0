//! What each registry event demands and does. Signatures over statements are checked elsewhere, in batches;
//! the possession signature inside a rotation is checked here, because it is a fact.

use std::collections::BTreeMap;

use demur_core::{
    canonical,
    hash::Purpose,
    key::{Fingerprint, PublicKey},
};

use super::{KeyOrigin, KeyRecord, Registry, RegistryError, Standing};
use crate::{
    envelope::{Event, Said},
    erasure::Erasures,
    event_type::{EventType, Facts, TraceKind, TypeName},
    facts::{KeyRegistered, KeyRetired, KeyRevoked, KeyRotated, PossessionClaim, StoreCreated},
    name::{PrincipalId, Sequence, StoreId},
    role::Role,
};

impl Registry {
    /// Returns the registry that begins with this event.
    pub fn open(event: &Event) -> Result<Self, RegistryError> {
        let said = event.agree()?;
        let Facts::StoreCreated(facts) = said.facts else {
            return Err(RegistryError::NotRegistry { kind: said.kind.clone() });
        };
        check_role(&said)?;
        let envelope = event.envelope();
        if envelope.store.is_some() || envelope.sequence != Sequence::FIRST {
            return Err(RegistryError::Chain { expected: 0, found: envelope.sequence });
        }
        if envelope.epoch != 1 {
            return Err(RegistryError::Epoch { expected: 1, found: envelope.epoch });
        }
        check_signer(event, &said, &facts.key.fingerprint())?;
        check_actor(event, facts.desk)?;
        Self::with_first_key(event, facts)
    }

    fn with_first_key(event: &Event, facts: &StoreCreated) -> Result<Self, RegistryError> {
        let mut registry = Self {
            store: StoreId::new(*event.hash()),
            trace: event.envelope().trace,
            desk: facts.desk,
            keys: BTreeMap::new(),
            recovery: BTreeMap::new(),
            hashes: vec![*event.hash()],
            times: vec![event.envelope().time],
            epochs: vec![Sequence::FIRST],
            roots: BTreeMap::new(),
            clients: BTreeMap::new(),
            tokens: BTreeMap::new(),
            people: BTreeMap::new(),
            passkeys: BTreeMap::new(),
            first_credential: None,
            owes_checkpoint: false,
            erasures: Erasures::new(),
            unknown: None,
        };
        registry.erasures.fold(Sequence::FIRST, &Facts::from(facts.clone()));
        let recovery = registry.name_recovery(&facts.key, facts.recovery.as_ref())?;
        registry.keys.insert(
            facts.key.fingerprint(),
            KeyRecord {
                public: facts.key,
                principal: facts.desk,
                roles: vec![Role::Desk],
                origin: KeyOrigin::First,
                since: Sequence::FIRST,
                replaces: None,
                rotated: None,
                retired: None,
                revoked: None,
                recovery,
                clients: Vec::new(),
            },
        );
        Ok(registry)
    }

    /// Folds the next event of the registry into it. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event) -> Result<(), RegistryError> {
        let said = event.agree()?;
        self.check_place(event, &said)?;
        check_role(&said)?;
        let at = event.envelope().sequence;
        if self.owes_checkpoint && !matches!(said.facts, Facts::CheckpointRecorded(_)) {
            return Err(RegistryError::CheckpointOwed);
        }
        match said.facts {
            Facts::KeyRegistered(facts) => self.register(event, &said, facts)?,
            Facts::KeyRotated(facts) => self.rotate(event, &said, facts)?,
            Facts::KeyRetired(facts) => self.retire(event, &said, facts)?,
            Facts::KeyRevoked(facts) => self.revoke(event, &said, facts)?,
            Facts::CheckpointRecorded(facts) => {
                self.check_desk(event, &said)?;
                self.roots.insert(at, (facts.root, facts.traces.as_u64()));
                self.owes_checkpoint = false;
            }
            Facts::StoreRestored(facts) => {
                self.check_desk(event, &said)?;
                let expected = self.epoch_at(at) + 1;
                if facts.epoch.as_u64() != expected || event.envelope().epoch != expected {
                    return Err(RegistryError::Epoch { expected, found: facts.epoch.as_u64() });
                }
                self.epochs.push(at);
            }
            Facts::ClientBound(facts) => self.bind(event, &said, facts)?,
            Facts::TokenMade(facts) => self.note_token(event, &said, facts)?,
            Facts::TokenRevoked(facts) => self.revoke_token(event, &said, *facts)?,
            Facts::PersonAdded(facts) => self.add_person(event, &said, facts)?,
            Facts::PersonChanged(facts) => self.change_person(event, &said, facts)?,
            Facts::PersonRemoved(facts) => self.remove_person(event, &said, *facts)?,
            Facts::PasskeyRooted(facts) => self.root_passkey(event, &said, facts)?,
            Facts::PasskeyAdded(facts) => self.add_passkey(event, &said, facts)?,
            Facts::PasskeyRemoved(facts) => self.remove_passkey(event, &said, *facts)?,
            Facts::PasskeyReset(facts) => self.reset_passkeys(event, &said, facts)?,
            Facts::ContentErased(_) => self.check_erasure(event, &said)?,
            _ => return Err(RegistryError::NotRegistry { kind: said.kind.clone() }),
        }
        if matches!(said.facts, Facts::KeyRegistered(_) | Facts::TokenMade(_)) {
            self.first_credential = self.first_credential.or(Some(at));
        }
        self.erasures.fold(at, said.facts);
        self.record(event);
        Ok(())
    }

    /// Goes past an event of a later version, for a reader who says so: its place is checked, and nothing else is
    /// known of it.
    pub fn pass_over(&mut self, event: &Event) -> Result<(), RegistryError> {
        let said = event.agree()?;
        self.check_place(event, &said)?;
        self.unknown = self.unknown.or(Some(event.envelope().sequence));
        self.record(event);
        Ok(())
    }

    fn record(&mut self, event: &Event) {
        self.hashes.push(*event.hash());
        self.times.push(event.envelope().time);
    }

    fn check_place(&self, event: &Event, said: &Said<'_>) -> Result<(), RegistryError> {
        let envelope = event.envelope();
        let head = self.head();
        if envelope.sequence != head.sequence.next() || envelope.previous != Some(head.hash) {
            return Err(RegistryError::Chain {
                expected: head.sequence.next().number(),
                found: envelope.sequence,
            });
        }
        if envelope.store != Some(self.store)
            || envelope.trace != self.trace
            || envelope.registry != Some(head)
        {
            return Err(RegistryError::Pin);
        }
        let expected = self.epoch_at(head.sequence);
        let restoring = matches!(said.facts, Facts::StoreRestored(_));
        if envelope.epoch != expected && !restoring {
            return Err(RegistryError::Epoch { expected, found: envelope.epoch });
        }
        Ok(())
    }

    fn register(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &KeyRegistered,
    ) -> Result<(), RegistryError> {
        let fingerprint = facts.key.fingerprint();
        check_signer(event, said, &fingerprint)?;
        check_actor(event, facts.principal)?;
        self.check_new(&facts.key)?;
        if facts.principal == self.desk {
            return Err(RegistryError::DeskPrincipal);
        }
        if self.people.contains_key(&facts.principal.into()) {
            return Err(RegistryError::PersonKnown);
        }
        let allowed = |role: &Role| !matches!(role, Role::Desk | Role::Holder | Role::Person);
        if !facts.roles.iter().all(allowed) || !facts.roles.is_sorted_by(|left, right| left < right) {
            return Err(RegistryError::Roles);
        }
        let recovery = self.name_recovery(&facts.key, facts.recovery.as_ref())?;
        let known = self.keys.values().any(|record| record.principal == facts.principal);
        self.keys.insert(
            fingerprint,
            KeyRecord {
                public: facts.key,
                principal: facts.principal,
                roles: facts.roles.to_vec(),
                origin: if known { KeyOrigin::DeskWord } else { KeyOrigin::First },
                since: event.envelope().sequence,
                replaces: None,
                rotated: None,
                retired: None,
                revoked: None,
                recovery,
                clients: Vec::new(),
            },
        );
        Ok(())
    }

    fn rotate(&mut self, event: &Event, said: &Said<'_>, facts: &KeyRotated) -> Result<(), RegistryError> {
        let at = event.envelope().sequence;
        let old = self.keys.get(&facts.old).cloned().ok_or(RegistryError::Subject(Standing::Unknown))?;
        let signer = signer(event)?;
        // A recovery key works on whatever became of the old key: that is what it is for.
        let by_recovery = old.recovery == Some(signer);
        if !by_recovery {
            check_signer(event, said, &facts.old)?;
            self.active(&facts.old, at)?;
            if let Some(since) = old.rotated {
                return Err(RegistryError::Rotation { found: since });
            }
        }
        check_actor(event, old.principal)?;
        let expected_role = if old.principal == self.desk { Role::Desk } else { Role::Holder };
        if said.role != expected_role {
            return Err(RegistryError::Role { role: said.role, kind: said.kind.clone() });
        }
        let fingerprint = facts.key.fingerprint();
        self.check_new(&facts.key)?;
        self.check_possession(event, facts)?;
        let recovery = self.name_recovery(&facts.key, facts.recovery.as_ref())?;
        if let Some(record) = self.keys.get_mut(&facts.old) {
            record.rotated = Some(at);
        }
        let origin = if by_recovery { KeyOrigin::RotatedByRecovery } else { KeyOrigin::RotatedByKey };
        self.keys.insert(
            fingerprint,
            KeyRecord {
                public: facts.key,
                origin,
                since: at,
                replaces: Some(facts.old),
                rotated: None,
                retired: None,
                revoked: None,
                recovery,
                ..old
            },
        );
        Ok(())
    }

    fn retire(&mut self, event: &Event, said: &Said<'_>, facts: &KeyRetired) -> Result<(), RegistryError> {
        self.check_desk(event, said)?;
        let at = event.envelope().sequence;
        let record = self.active(&facts.key, at)?;
        if record.rotated != Some(facts.rotation) {
            return Err(RegistryError::Rotation { found: facts.rotation });
        }
        self.check_desk_keeps_a_key(&facts.key, at)?;
        if let Some(record) = self.keys.get_mut(&facts.key) {
            record.retired = Some(at);
        }
        Ok(())
    }

    fn revoke(&mut self, event: &Event, said: &Said<'_>, facts: &KeyRevoked) -> Result<(), RegistryError> {
        self.check_desk(event, said)?;
        let at = event.envelope().sequence;
        let record = self.keys.get(&facts.key).ok_or(RegistryError::Subject(Standing::Unknown))?;
        if let Some(since) = record.revoked {
            return Err(RegistryError::Subject(Standing::Revoked { since }));
        }
        self.check_desk_keeps_a_key(&facts.key, at)?;
        if let Some(record) = self.keys.get_mut(&facts.key) {
            record.revoked = Some(at);
        }
        self.roots.insert(at, (facts.root, facts.traces.as_u64()));
        Ok(())
    }

    /// Without a key the desk could sign nothing any more, not even the head over this event.
    fn check_desk_keeps_a_key(&self, without: &Fingerprint, at: Sequence) -> Result<(), RegistryError> {
        let is_desk = |record: &KeyRecord| record.principal == self.desk;
        let another = |(key, record): (&Fingerprint, &KeyRecord)| {
            key != without && is_desk(record) && self.speaker(key, at).is_ok()
        };
        if self.key(without).is_some_and(is_desk) && !self.keys.iter().any(another) {
            return Err(RegistryError::LastDeskKey);
        }
        Ok(())
    }

    pub(super) fn active(
        &self,
        fingerprint: &Fingerprint,
        at: Sequence,
    ) -> Result<&KeyRecord, RegistryError> {
        self.speaker(fingerprint, at).map_err(RegistryError::Subject)
    }

    fn check_new(&self, key: &PublicKey) -> Result<(), RegistryError> {
        let known = self.public_key(&key.fingerprint()).is_some() || self.is_passkey(key);
        if known { Err(RegistryError::KeyKnown) } else { Ok(()) }
    }

    fn is_passkey(&self, key: &PublicKey) -> bool {
        self.passkeys.values().any(|record| record.enrolment.key.is_also(key))
    }

    pub(super) fn check_desk(&self, event: &Event, said: &Said<'_>) -> Result<(), RegistryError> {
        let signer = signer(event)?;
        self.desk_key(&signer, self.head().sequence).map_err(|standing| not_entitled(said, standing))?;
        check_actor(event, self.desk)
    }

    /// An operator erases with a key, the desk on its own word: nobody else does, and neither in the name of the other.
    fn check_erasure(&self, event: &Event, said: &Said<'_>) -> Result<(), RegistryError> {
        let actor = match (event.envelope().proof.key(), said.role) {
            (None, Role::Desk) => self.desk,
            (Some(_), Role::Operator) if event.envelope().proof.assertion().is_some() => {
                self.check_operator(event, said)?;
                event.envelope().actor
            }
            (Some(key), Role::Operator) => {
                let record = self.speaker(&key, self.head().sequence);
                let record = record.map_err(|standing| not_entitled(said, standing))?;
                if !record.roles.contains(&Role::Operator) {
                    return Err(not_entitled(said, Standing::Unknown));
                }
                record.principal
            }
            (_, role) => return Err(RegistryError::Role { role, kind: said.kind.clone() }),
        };
        check_actor(event, actor)?;
        Ok(self.erasures.guard(event.envelope().sequence, said.facts)?)
    }

    fn check_possession(&self, event: &Event, facts: &KeyRotated) -> Result<(), RegistryError> {
        let statement = event.envelope().statement.as_ref().ok_or(RegistryError::NoProof)?;
        let claim =
            PossessionClaim { command: statement.command, key: facts.key, old: facts.old, store: self.store };
        let bytes = canonical::to_vec(&claim)?;
        facts
            .key
            .verify(Purpose::Possession, &bytes, &facts.possession)
            .map_err(|_| RegistryError::Possession)
    }

    /// Remembers a recovery key. It must differ from the key it recovers and from every speaking key.
    fn name_recovery(
        &mut self,
        key: &PublicKey,
        recovery: Option<&PublicKey>,
    ) -> Result<Option<Fingerprint>, RegistryError> {
        let Some(recovery) = recovery else { return Ok(None) };
        let fingerprint = recovery.fingerprint();
        if recovery == key || self.keys.contains_key(&fingerprint) || self.is_passkey(recovery) {
            return Err(RegistryError::Recovery);
        }
        self.recovery.insert(fingerprint, *recovery);
        Ok(Some(fingerprint))
    }
}

fn check_role(said: &Said<'_>) -> Result<(), RegistryError> {
    match said.kind {
        TypeName::Known(kind) if !kind.stands_in(TraceKind::Registry) => {
            Err(RegistryError::NotRegistry { kind: said.kind.clone() })
        }
        TypeName::Known(kind) if EventType::admits_role(*kind, said.role) => Ok(()),
        TypeName::Known(_) => Err(RegistryError::Role { role: said.role, kind: said.kind.clone() }),
        TypeName::Unknown(_) => Err(RegistryError::NotRegistry { kind: said.kind.clone() }),
    }
}

pub(super) fn signer(event: &Event) -> Result<Fingerprint, RegistryError> {
    event.envelope().proof.key().ok_or(RegistryError::NoProof)
}

pub(super) fn check_signer(
    event: &Event,
    said: &Said<'_>,
    expected: &Fingerprint,
) -> Result<(), RegistryError> {
    if signer(event)? == *expected { Ok(()) } else { Err(not_entitled(said, Standing::Unknown)) }
}

pub(super) fn not_entitled(said: &Said<'_>, standing: Standing) -> RegistryError {
    RegistryError::Signer { kind: said.kind.clone(), standing }
}

pub(super) fn check_actor(event: &Event, expected: PrincipalId) -> Result<(), RegistryError> {
    if event.envelope().actor == expected { Ok(()) } else { Err(RegistryError::Actor) }
}
