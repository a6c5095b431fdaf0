//! People and their passkeys in the registry: who vouches for whom, and that an operator's passkey remains (ONE-10).

use demur_core::{
    canonical,
    hash::{Purpose, digest},
    key::Fingerprint,
};

use super::{PasskeyOrigin, PasskeyRecord, PersonRecord, Registry, RegistryError, Standing, rules};
use crate::{
    admission::speaks_as,
    envelope::{Event, Said},
    facts::{
        Enrolment, PasskeyAdded, PasskeyRemoved, PasskeyReset, PasskeyRooted, PersonAdded, PersonChanged,
        PersonRemoved, PersonRole,
    },
    name::{PersonId, Sequence},
    passkey::{AuthenticatorFlags, EnrolmentClaim, ExpectedAssertion},
    proof::Proof,
    role::Role,
};

impl Registry {
    pub(super) fn add_person(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &PersonAdded,
    ) -> Result<(), RegistryError> {
        self.check_administrator(event, said, facts.role == PersonRole::Operator)?;
        let principal = facts.person.principal();
        let has_keys = self.keys.values().any(|record| record.principal == principal);
        if self.people.contains_key(&facts.person) || has_keys {
            return Err(RegistryError::PersonKnown);
        }
        let roles = vec![(event.envelope().sequence, facts.role)];
        self.people.insert(facts.person, PersonRecord { roles, removed: None });
        Ok(())
    }

    pub(super) fn change_person(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &PersonChanged,
    ) -> Result<(), RegistryError> {
        let before = self.active_person(facts.person)?;
        let about_operators = [before, facts.role].contains(&PersonRole::Operator);
        self.check_administrator(event, said, about_operators || self.has_passkey(facts.person))?;
        if facts.role != PersonRole::Operator {
            self.check_operator_remains(|record| record.enrolment.person == facts.person)?;
        }
        if let Some(record) = self.people.get_mut(&facts.person) {
            record.roles.push((event.envelope().sequence, facts.role));
        }
        Ok(())
    }

    pub(super) fn remove_person(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: PersonRemoved,
    ) -> Result<(), RegistryError> {
        let role = self.active_person(facts.person)?;
        let touched = role == PersonRole::Operator || self.has_passkey(facts.person);
        self.check_administrator(event, said, touched)?;
        self.check_operator_remains(|record| record.enrolment.person == facts.person)?;
        let at = event.envelope().sequence;
        if let Some(record) = self.people.get_mut(&facts.person) {
            record.removed = Some(at);
        }
        self.end_passkeys(at, |_, record| record.enrolment.person == facts.person);
        Ok(())
    }

    pub(super) fn root_passkey(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &PasskeyRooted,
    ) -> Result<(), RegistryError> {
        let enrolment = &facts.0;
        if self.has_root() {
            return Err(RegistryError::RootKnown);
        }
        let Proof::Webauthn(assertion) = &event.envelope().proof else {
            return Err(RegistryError::NoProof);
        };
        rules::check_signer(event, said, &enrolment.key.fingerprint())?;
        rules::check_actor(event, enrolment.person.principal())?;
        if self.active_person(enrolment.person)? != PersonRole::Operator {
            return Err(RegistryError::RootRole);
        }
        self.check_enrolment(enrolment, assertion.flags())?;
        let is_late = self.first_credential.is_some();
        self.enrol(event, enrolment.clone(), PasskeyOrigin::Root { is_late });
        Ok(())
    }

    pub(super) fn add_passkey(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &PasskeyAdded,
    ) -> Result<(), RegistryError> {
        let (by, voucher) = self.speaking_passkey(event, said)?;
        let is_own = voucher == facts.person;
        let fits = if self.has_passkey(facts.person) { is_own } else { self.is_operator(voucher) };
        if !fits {
            return Err(RegistryError::Voucher);
        }
        self.active_person(facts.person)?;
        let enrolment = self.check_possession_of_passkey(facts)?;
        self.enrol(event, enrolment, PasskeyOrigin::Vouched { by });
        Ok(())
    }

    pub(super) fn remove_passkey(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: PasskeyRemoved,
    ) -> Result<(), RegistryError> {
        let (_, voucher) = self.speaking_passkey(event, said)?;
        let at = event.envelope().sequence;
        let person = self.passkey_speaker(&facts.key, at).map_err(RegistryError::Subject)?.enrolment.person;
        if voucher != person && !self.is_operator(voucher) {
            return Err(RegistryError::Voucher);
        }
        self.check_operator_remains(|record| record.enrolment.key.fingerprint() == facts.key)?;
        self.end_passkeys(at, |key, _| *key == facts.key);
        Ok(())
    }

    pub(super) fn reset_passkeys(
        &mut self,
        event: &Event,
        said: &Said<'_>,
        facts: &PasskeyReset,
    ) -> Result<(), RegistryError> {
        let newest = self
            .keys
            .values()
            .filter(|record| record.principal == self.desk)
            .max_by_key(|record| record.since);
        let recovery = newest.and_then(|record| record.recovery).ok_or(RegistryError::NoRecovery)?;
        rules::check_signer(event, said, &recovery)?;
        rules::check_actor(event, self.desk)?;
        if self.active_person(facts.0.person)? != PersonRole::Operator {
            return Err(RegistryError::RootRole);
        }
        let enrolment = self.check_possession_of_passkey(&facts.0)?;
        self.end_passkeys(event.envelope().sequence, |_, _| true);
        self.enrol(event, enrolment, PasskeyOrigin::Recovery);
        Ok(())
    }

    /// Checks that the desk signed with its key, or an operator with a passkey, which is a must where `touch` says so and there is
    /// one. Both speak in their own names.
    pub(super) fn check_administrator(
        &self,
        event: &Event,
        said: &Said<'_>,
        touch: bool,
    ) -> Result<(), RegistryError> {
        let role = said.role;
        match (&event.envelope().proof, role) {
            (Proof::Ed25519(_), Role::Desk) if touch && self.has_root() => Err(RegistryError::NeedsTouch),
            (Proof::Ed25519(_), Role::Desk) => self.check_desk(event, said),
            (Proof::Webauthn(_), Role::Operator) => self.check_operator(event, said),
            (Proof::None, _) => Err(RegistryError::NoProof),
            _ => Err(RegistryError::Role { role, kind: said.kind.clone() }),
        }
    }

    /// Checks that an operator signed with a passkey.
    pub(super) fn check_operator(&self, event: &Event, said: &Said<'_>) -> Result<(), RegistryError> {
        let (_, person) = self.speaking_passkey(event, said)?;
        if self.is_operator(person) { Ok(()) } else { Err(RegistryError::Voucher) }
    }

    /// Returns the passkey that signed, and the person behind it, in whose name the event is.
    fn speaking_passkey(
        &self,
        event: &Event,
        said: &Said<'_>,
    ) -> Result<(Fingerprint, PersonId), RegistryError> {
        let head = self.head().sequence;
        let signer = rules::signer(event)?;
        let record = self.passkey_speaker(&signer, head);
        let person = record.map_err(|standing| rules::not_entitled(said, standing))?.enrolment.person;
        rules::check_actor(event, person.principal())?;
        let role = self.role_of(person, head);
        if role.is_some_and(|role| speaks_as(role, said.role, said.facts)) {
            Ok((signer, person))
        } else {
            Err(RegistryError::Role { role: said.role, kind: said.kind.clone() })
        }
    }

    fn active_person(&self, person: PersonId) -> Result<PersonRole, RegistryError> {
        self.role_of(person, self.head().sequence).ok_or(RegistryError::PersonUnknown)
    }

    fn is_operator(&self, person: PersonId) -> bool {
        self.role_of(person, self.head().sequence) == Some(PersonRole::Operator)
    }

    /// Checks that an operator's passkey is left when those that `goes` says of are gone. Before there was any, none can be.
    fn check_operator_remains(&self, goes: impl Fn(&PasskeyRecord) -> bool) -> Result<(), RegistryError> {
        let mut left = self.passkeys.values().filter(|record| record.ended.is_none() && !goes(record));
        if !self.has_root() || left.any(|record| self.is_operator(record.enrolment.person)) {
            Ok(())
        } else {
            Err(RegistryError::LastOperatorPasskey)
        }
    }

    /// Checks a passkey that comes in by what its own assertion says of it.
    fn check_enrolment(
        &self,
        enrolment: &Enrolment,
        flags: Option<AuthenticatorFlags>,
    ) -> Result<(), RegistryError> {
        self.check_new_passkey(enrolment)?;
        if enrolment.origin.host() != &*enrolment.rp {
            return Err(RegistryError::RpId);
        }
        let (eligible, synced) = (enrolment.eligible, enrolment.synced);
        if flags.is_some_and(|flags| (flags.is_eligible(), flags.is_synced()) == (eligible, synced)) {
            Ok(())
        } else {
            Err(RegistryError::PasskeyFlags)
        }
    }

    /// No two keys have the same bytes, whatever they are for.
    fn check_new_passkey(&self, enrolment: &Enrolment) -> Result<(), RegistryError> {
        let key = &enrolment.key;
        let mut others = self.keys.values().map(|record| &record.public).chain(self.recovery.values());
        if self.passkeys.contains_key(&key.fingerprint()) || others.any(|other| key.is_also(other)) {
            return Err(RegistryError::KeyKnown);
        }
        Ok(())
    }

    fn check_possession_of_passkey(&self, facts: &PasskeyAdded) -> Result<Enrolment, RegistryError> {
        let enrolment = facts.enrolment();
        let claim = EnrolmentClaim { key: facts.key, person: facts.person, store: self.store };
        let leaf = digest(Purpose::Enrolment, &[&canonical::to_vec(&claim)?]);
        let possession = &facts.possession;
        if possession.key != facts.key.fingerprint() {
            return Err(RegistryError::Possession);
        }
        let expected = ExpectedAssertion { leaf, is_alone: true, enrolment: &enrolment };
        possession.verify(&expected).map_err(RegistryError::PasskeyPossession)?;
        self.check_enrolment(&enrolment, possession.flags())?;
        Ok(enrolment)
    }

    fn enrol(&mut self, event: &Event, enrolment: Enrolment, origin: PasskeyOrigin) {
        let record = PasskeyRecord { since: event.envelope().sequence, ended: None, origin, enrolment };
        self.passkeys.insert(record.enrolment.key.fingerprint(), record);
    }

    /// Ends passkeys. What they said before is shown to come before by the checkpoint that must follow.
    fn end_passkeys(&mut self, at: Sequence, ends: impl Fn(&Fingerprint, &PasskeyRecord) -> bool) {
        for (key, record) in &mut self.passkeys {
            if record.ended.is_none() && ends(key, record) {
                record.ended = Some(at);
                self.owes_checkpoint = true;
            }
        }
    }
}

impl Registry {
    /// Returns whether passkeys ended and what they said before is not yet shown to come before: a checkpoint is next.
    pub const fn owes_checkpoint(&self) -> bool {
        self.owes_checkpoint
    }

    /// Returns whether a passkey has ever come in: from then on people vouch for people.
    pub fn has_root(&self) -> bool {
        !self.passkeys.is_empty()
    }

    /// Returns every passkey with its fingerprint.
    pub fn passkeys(&self) -> impl Iterator<Item = (&Fingerprint, &PasskeyRecord)> {
        self.passkeys.iter()
    }

    /// Returns one passkey, whatever became of it.
    pub fn passkey(&self, fingerprint: &Fingerprint) -> Option<&PasskeyRecord> {
        self.passkeys.get(fingerprint)
    }

    /// Returns the passkey if it may speak as of a registry event, and what stands against it if not.
    pub fn passkey_speaker(
        &self,
        fingerprint: &Fingerprint,
        at: Sequence,
    ) -> Result<&PasskeyRecord, Standing> {
        let record = self.passkeys.get(fingerprint).filter(|record| record.since <= at);
        let record = record.ok_or(Standing::Unknown)?;
        match record.ended.filter(|ended| *ended <= at) {
            Some(since) => Err(Standing::Revoked { since }),
            None => Ok(record),
        }
    }

    /// Returns every person with what became of them.
    pub fn people(&self) -> impl Iterator<Item = (PersonId, &PersonRecord)> {
        self.people.iter().map(|(person, record)| (*person, record))
    }

    /// Returns what a person may do as of a registry event; none for somebody who takes no part then.
    pub fn role_of(&self, person: PersonId, at: Sequence) -> Option<PersonRole> {
        self.people.get(&person)?.role_at(at)
    }

    /// Returns whether a person has a passkey that may speak.
    pub fn has_passkey(&self, person: PersonId) -> bool {
        self.has_passkey_at(person, self.head().sequence)
    }

    /// Returns whether a person had a passkey that might speak as of a registry event.
    pub fn has_passkey_at(&self, person: PersonId, at: Sequence) -> bool {
        let own = self.passkeys.iter().filter(|(_, record)| record.enrolment.person == person);
        own.into_iter().any(|(key, _)| self.passkey_speaker(key, at).is_ok())
    }

    /// Returns the root that came in after the first key of an agent or the first token: perhaps it is an agent's.
    pub fn late_root(&self) -> Option<(&Fingerprint, &PasskeyRecord)> {
        let is_late = |record: &PasskeyRecord| record.origin == PasskeyOrigin::Root { is_late: true };
        self.passkeys.iter().find(|(_, record)| is_late(record))
    }
}

impl PersonRecord {
    /// Returns what the person may do as of a registry event.
    pub fn role_at(&self, at: Sequence) -> Option<PersonRole> {
        if self.removed.is_some_and(|removed| removed <= at) {
            return None;
        }
        self.roles.iter().rev().find(|(since, _)| *since <= at).map(|(_, role)| *role)
    }
}
