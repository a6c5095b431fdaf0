//! The people whose words tokens pass on. Each has an id in the record from the first time a token names them, the same however
//! often: the name itself is content, and in no fact.

use demur_api::refusal::Refusal;
use demur_core::{hash::sha256, limit::Text};
use demur_ledger::name::PersonId;
use demur_store::contract::{RecordKey, Store, Swap, Version};

use super::{Holder, OTHER_NAME, check, folded, holder, likeness, same, taken};
use crate::{access::RelayedPerson, owner::Owner, records};

/// Returns the person of this name, who is noted where nobody named them before. A name that a program has is no person's.
pub(crate) fn person(owner: &Owner, name: &Text<1, 64>) -> Result<RelayedPerson, Refusal> {
    check(name)?;
    let store = owner.sequencer().store();
    for _ in 0..records::ATTEMPTS {
        if let Some((_, known)) = known(store, name)? {
            return Ok(known);
        }
        // Somebody who signs in is a person already; of anybody else nobody may have the name.
        match holder(store, name)? {
            Some((_, Holder::Person(_) | Holder::User)) => {}
            Some((_, Holder::Key(_))) => return Err(taken(name, "by a key").with_cure(OTHER_NAME)),
            None if owner.key_directory()?.names().values().any(|known| same(known, name)) => {
                return Err(taken(name, "by a key").with_cure(OTHER_NAME));
            }
            None => likeness::expect_unlike(owner, name)?,
        }
        let person = RelayedPerson {
            id: PersonId::new(owner.system().now()?, &mut { owner.system() }),
            name: name.clone(),
        };
        if records::swap(owner, vec![records::creation(key(name)?, records::value(&person, None)?)])? {
            return Ok(person);
        }
    }
    Err(records::contended())
}

/// Returns the swap that takes the id of a name away, where it has one.
pub(crate) fn forgetting(owner: &Owner, name: &str) -> Result<Option<Swap>, Refusal> {
    let found = known(owner.sequencer().store(), name)?;
    found.map(|(version, _)| Ok(records::removal(key(name)?, version))).transpose()
}

/// Returns who it is whose words a token passes on under this name, if one does.
pub(super) fn known(store: &dyn Store, name: &str) -> Result<Option<(Version, RelayedPerson)>, Refusal> {
    records::find(store, &key(name)?)
}

fn key(name: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{}", sha256(folded(name).as_bytes())))?)
}

/// What the keys of their records begin with.
pub(super) const PREFIX: &str = "relayed/";
