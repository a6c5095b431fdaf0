//! Names: keys, clients and people share one space, so that a reader can tell whom a name means. Each name that is taken is a
//! record, made by compare and swap together with what it names: two processes cannot give one name to two holders.

use demur_api::refusal::Refusal;
use demur_core::hash::sha256;
use demur_ledger::name::PrincipalId;
use demur_store::contract::{RecordKey, Store, Swap, Version};
use serde::{Deserialize, Serialize};

use crate::{person::Person, records};

/// Who has a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Holder {
    /// Somebody with a key.
    Key(PrincipalId),
    /// Somebody who may sign in.
    Person(Person),
}

/// Returns who has a name, and the version of its record.
pub(crate) fn holder(store: &dyn Store, name: &str) -> Result<Option<(Version, Holder)>, Refusal> {
    records::find(store, &key(name)?)
}

/// Returns the swap that gives a name to somebody.
pub(crate) fn giving(name: &str, was: Version, holder: &Holder) -> Result<Swap, Refusal> {
    Ok(Swap { key: key(name)?, was, next: Some(records::value(holder, None)?) })
}

/// Returns the swap that sets a name free.
pub(crate) fn freeing(name: &str, was: Version) -> Result<Swap, Refusal> {
    Ok(records::removal(key(name)?, was))
}

/// Returns whether two names are one to a reader in a hurry.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn key(name: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{}", sha256(name.to_lowercase().as_bytes())))?)
}

/// What the keys of names begin with.
pub(crate) const PREFIX: &str = "name/";
