//! The people who may sign in besides the user of this machine. Operational data, kept in a note of the store: what people
//! do is in the ledger under their names.

mod handle;
mod link;

use demur_api::{code::Code, person::PersonRole, refusal::Refusal};
use demur_core::{limit::Text, time::Timestamp, visible::visible};
use serde::{Deserialize, Serialize};

pub use link::{LINK_TIMEOUT, Links, WaitingLink};

use crate::owner::Owner;

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
pub fn add(
    owner: &Owner,
    user: &str,
    name: Text<1, 64>,
    role: PersonRole,
    most: usize,
) -> Result<Person, Refusal> {
    check(&name)?;
    let mut people = list(owner)?;
    if same(user, &name) {
        let message = "expected another name than that of the user of this machine, found it";
        return Err(taken(message).with_cure("this one is an operator already: `demur open` signs in"));
    }
    if people.iter().any(|person| same(&person.name, &name)) {
        let message = "expected a name that is free, found one that somebody has";
        return Err(taken(message).with_cure("`demur people list` shows them; remove first to change a role"));
    }
    // Whoever reads a trace must be able to tell people from agents.
    let roster = owner.roster()?;
    if roster.names().values().any(|known| same(known, &name)) {
        let message = "expected a name that is free, found that of a key";
        return Err(taken(message).with_cure("`demur keys list` shows them: take another name"));
    }
    if people.len() >= most {
        let message = format!("expected at most {most} people, found {}", people.len());
        return Err(Refusal::new(Code::TooManyPeople, message).with_cure(
            "remove those who no longer answer: `demur people list`; `demur serve --max-people` allows more",
        ));
    }
    let person = Person { name, role, added: owner.world().now()? };
    people.push(person.clone());
    write(owner, &people)?;
    Ok(person)
}

/// Returns everybody, in the order in which they were added.
pub fn list(owner: &Owner) -> Result<Vec<Person>, Refusal> {
    let note = owner.ledger().store().note(NOTE)?;
    let read = |bytes: Vec<u8>| serde_json::from_slice(&bytes).map_err(|error| Refusal::bug(&error));
    Ok(note.map(read).transpose()?.unwrap_or_default())
}

/// Returns the person of this name.
pub fn find(owner: &Owner, name: &str) -> Result<Person, Refusal> {
    let found = list(owner)?.into_iter().find(|person| same(&person.name, name));
    found.ok_or_else(unknown)
}

/// Removes somebody, who can no longer sign in.
pub fn remove(owner: &Owner, name: &str) -> Result<Person, Refusal> {
    let mut people = list(owner)?;
    let at = people.iter().position(|person| same(&person.name, name)).ok_or_else(unknown)?;
    let removed = people.remove(at);
    write(owner, &people)?;
    Ok(removed)
}

/// Returns whether two names are one to a reader in a hurry.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// A name is shown beside every answer: it must not hide anything.
fn check(name: &str) -> Result<(), Refusal> {
    if visible(name) == name && name.trim() == name {
        return Ok(());
    }
    let message = "expected a name that can be seen as a whole, found characters that hide";
    Err(Refusal::new(Code::NameInvalid, message).about("name"))
}

fn write(owner: &Owner, people: &[Person]) -> Result<(), Refusal> {
    let bytes = serde_json::to_vec(people).map_err(|error| Refusal::bug(&error))?;
    Ok(owner.ledger().store().set_note(NOTE, &bytes)?)
}

fn taken(message: &str) -> Refusal {
    Refusal::new(Code::NameTaken, message).about("name")
}

fn unknown() -> Refusal {
    Refusal::new(Code::PersonUnknown, "expected the name of somebody who was added, found another")
        .with_cure("`demur people list` shows them")
}

/// Where a link that signs a browser in leads.
pub const SIGN_IN_PATH: &str = "/sign-in";
/// Where the store keeps them.
const NOTE: &str = "people";
