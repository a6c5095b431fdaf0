//! The people who may sign in besides the user of this machine. Operational data, kept in records of the store: what people
//! do is in the ledger under their names.

mod file;
mod handle;
mod link;
mod session;

use demur_api::{code::Code, person::PersonRole, refusal::Refusal};
use demur_core::{limit::Text, time::Timestamp, visible::visible};
use demur_store::contract::{Swap, Version};
use serde::{Deserialize, Serialize};

pub use link::LINK_TIMEOUT;
pub(crate) use link::PREFIX as LINK_PREFIX;
pub use session::link_spent;

use crate::{
    name::{self, Holder},
    owner::Owner,
    records,
};

/// Somebody who may sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// The name, which nobody else has.
    pub name: Text<1, 64>,
    /// What this one may do.
    pub role: PersonRole,
    /// Since when.
    pub added: Timestamp,
}

/// Adds somebody, to no more people than this. The user of this machine needs no adding.
pub(crate) fn add(
    owner: &Owner,
    name: &Text<1, 64>,
    role: PersonRole,
    most: usize,
) -> Result<Person, Refusal> {
    for _ in 0..records::ATTEMPTS {
        let was = name::free_for_person(owner, name).map_err(|refusal| refusal.about("name"))?;
        let people = list(owner)?;
        if people.len() >= most {
            let message = format!("expected at most {most} people, found {}", people.len());
            return Err(Refusal::new(Code::TooManyPeople, message).with_cure(
                "remove those who no longer answer: `demur people list`; `demur serve --max-people` allows more",
            ));
        }
        let person = Person { name: name.clone(), role, added: owner.system().now()? };
        if records::swap(owner, vec![name::giving(name, was, &Holder::Person(person.clone()))?])? {
            return Ok(person);
        }
    }
    Err(records::contended())
}

/// Returns everybody, in the order in which they were added.
pub(crate) fn list(owner: &Owner) -> Result<Vec<Person>, Refusal> {
    let mut people = Vec::new();
    for kept in records::all(owner.sequencer().store(), name::PREFIX)? {
        if let Some(Holder::Person(person)) = records::listed(&kept) {
            people.push((kept.version, person));
        }
    }
    people.sort_by_key(|(version, person)| (person.added, *version));
    Ok(people.into_iter().map(|(_, person)| person).collect())
}

/// Returns the person of this name, and the version of the record.
pub(crate) fn find(owner: &Owner, name: &str) -> Result<(Version, Person), Refusal> {
    match name::holder(owner.sequencer().store(), name)? {
        Some((version, Holder::Person(person))) => Ok((version, person)),
        Some((_, Holder::Key(_) | Holder::User)) | None => Err(unknown(name)),
    }
}

/// Returns the swap that lets somebody sign in no longer.
fn removing(person: &Person, was: Version) -> Result<Swap, Refusal> {
    name::freeing(&person.name, was)
}

/// Returns the swap that changes nothing, and fails where somebody was removed or has another role by now.
fn holding(person: &Person, was: Version) -> Result<Swap, Refusal> {
    name::giving(&person.name, was, &Holder::Person(person.clone()))
}

fn unknown(name: &str) -> Refusal {
    let message = format!("expected the name of a person who was added, found \"{}\"", visible(name));
    Refusal::new(Code::PersonUnknown, message).with_cure("`demur people list` shows them")
}

/// The page on which a code signs a browser in.
pub const SIGN_IN_PATH: &str = "/sign-in";
