//! The passkeys of a store as people look at them. None of it is secret: fingerprints are what is pinned.

use demur_api::{
    passkey::{ListedPasskeys, ShownPasskey, VouchedBy, WaitingPasskey},
    person::PersonRole,
    refusal::Refusal,
};
use demur_core::key::Fingerprint;
use demur_ledger::{
    name::PersonId,
    registry::{PasskeyOrigin, PasskeyRecord},
};

use super::{is_active, text, waiting};
use crate::{access::Caller, desk::Desk, key_directory::KeyDirectory, owner::Owner};

impl Desk {
    /// Returns the credentials of a caller that sign on the pages of this server: with one, the pages offer a touch. May block.
    pub fn credentials_here(&self, caller: &Caller) -> Result<Vec<String>, Refusal> {
        let Some(person) = caller.person().and_then(|token| token.person) else { return Ok(Vec::new()) };
        let registry = self.owner()?.sequencer().newest_registry()?;
        let here = self.passkeys_here(&registry, person).unwrap_or_default();
        Ok(here.iter().map(|passkey| text(&passkey.credential)).collect())
    }
}

/// Returns every passkey, and those that wait.
pub(super) fn list(owner: &Owner, caller: &Caller) -> Result<ListedPasskeys, Refusal> {
    owner.sequencer().newest_registry()?;
    let directory = owner.key_directory()?;
    let registry = directory.registry();
    let own = caller.person().and_then(|token| token.person);
    let mut found: Vec<_> = registry.passkeys().collect();
    found.sort_by_key(|(_, record)| record.since);
    let may_vouch = |person: PersonId| match own {
        Some(own) if registry.has_passkey(person) => own == person,
        Some(own) => caller.role() == Some(PersonRole::Operator) && registry.has_passkey(own),
        None => false,
    };
    let waits = waiting::list(owner)?.into_iter().map(|waiting| WaitingPasskey {
        key: waiting.facts.key.fingerprint(),
        person: name(&directory, waiting.facts.person),
        vouches: may_vouch(waiting.facts.person),
        label: waiting.label.to_string(),
        origin: waiting.facts.origin.to_string(),
        expires: waiting.expires,
    });
    Ok(ListedPasskeys {
        waiting: waits.collect(),
        needs_setup_code: !registry.has_root(),
        passkeys: found.into_iter().map(|found| shown(&directory, found, own)).collect(),
    })
}

/// Returns a passkey as people look at it.
pub(super) fn shown(
    directory: &KeyDirectory,
    (key, record): (&Fingerprint, &PasskeyRecord),
    own: Option<PersonId>,
) -> ShownPasskey {
    let person = record.enrolment.person;
    ShownPasskey {
        key: *key,
        person: name(directory, person),
        label: directory.passkey_label(key).map(str::to_owned),
        origin: record.enrolment.origin.to_string(),
        eligible: record.enrolment.eligible,
        voucher: match record.origin {
            PasskeyOrigin::Root { is_late: false } => VouchedBy::Nobody,
            PasskeyOrigin::Root { is_late: true } => VouchedBy::NobodyLate,
            PasskeyOrigin::Vouched { by } => VouchedBy::Passkey(by),
            PasskeyOrigin::Recovery => VouchedBy::Recovery,
        },
        since: directory.time(record.since),
        active: is_active(record),
        own: own == Some(person),
    }
}

fn name(directory: &KeyDirectory, person: PersonId) -> String {
    directory.person_name(person).unwrap_or("(no name)").to_owned()
}
