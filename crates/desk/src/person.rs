//! The people who may sign in besides the user of this machine. Operational data, kept in records of the store: what people
//! do is in the ledger under their names.

mod file;
mod handle;
mod journal;
mod link;
mod session;

use demur_api::{code::Code, person::PersonRole, refusal::Refusal};
use demur_core::{limit::Text, time::Timestamp, visible::visible};
use demur_ledger::{
    content::NameContent,
    event_type::Content,
    facts::{self, PersonAdded, PersonChanged},
    name::PersonId,
};
use demur_store::contract::{Swap, Version};
use serde::{Deserialize, Serialize};

pub(crate) use journal::journal;
pub use link::LINK_TIMEOUT;
pub(crate) use link::{PREFIX as LINK_PREFIX, letters, typed_letters};
pub(crate) use session::NewSession;
pub use session::link_spent;

use crate::{
    desk::Desk,
    name::{self, Holder},
    owner::Owner,
    passkey::Administrator,
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
    /// Who it is on record: the name is content, and in no fact.
    pub id: PersonId,
}

/// Adds somebody, to no more people than this. The user of this machine needs no adding to sign in; for a passkey of theirs, once
/// somebody else has one, an operator's passkey puts them on record.
pub(crate) fn add(
    owner: &Owner,
    (name, role): (&Text<1, 64>, PersonRole),
    most: usize,
    by: &Administrator<'_>,
) -> Result<Person, Refusal> {
    if matches!(by, Administrator::Passkey(_)) && name::is_user(owner, name) {
        return add_user(owner, (name, role), by);
    }
    for _ in 0..records::ATTEMPTS {
        let was = name::free_for_person(owner, name).map_err(|refusal| refusal.about("name"))?;
        let people = list(owner)?;
        if people.len() >= most {
            let message = format!("expected at most {most} people, found {}", people.len());
            return Err(Refusal::new(Code::TooManyPeople, message).with_cure(
                "remove those who no longer answer: `demur people list`; `demur serve --max-people` allows more",
            ));
        }
        let id = name::relayed_person(owner, name)?.id;
        let person = Person { name: name.clone(), role, added: owner.system().now()?, id };
        let facts = PersonAdded { person: id, role: on_record(role) };
        let content = Content::PersonAdded(NameContent { name: Text::try_from(name.as_str())? });
        let naming = name::giving(name, was, &Holder::Person(person.clone()))?;
        match by.state(owner, facts, Some(content), &[naming]) {
            Ok(true) => return Ok(person),
            Ok(false) => {}
            // Somebody else may have given the name away meanwhile: then that is what is wrong.
            Err(refusal) => {
                name::free_for_person(owner, name).map_err(|refusal| refusal.about("name"))?;
                return Err(refusal);
            }
        }
    }
    Err(records::contended())
}

/// Puts the user of this machine on record, who has no record of their own among the people and is an operator.
fn add_user(
    owner: &Owner,
    (name, role): (&Text<1, 64>, PersonRole),
    by: &Administrator<'_>,
) -> Result<Person, Refusal> {
    let id = name::relayed_person(owner, name)?.id;
    let registry = owner.sequencer().newest_registry()?;
    if registry.role_of(id, registry.head().sequence).is_some() {
        return Err(name::user_taken(name));
    }
    if role != PersonRole::Operator {
        let message =
            format!("role: expected operator, which the user of this machine is, found {}", role.as_str());
        return Err(Refusal::malformed(message).about("role"));
    }
    let content = Content::PersonAdded(NameContent { name: Text::try_from(name.as_str())? });
    let facts = PersonAdded { person: id, role: on_record(role) };
    by.state(owner, facts, Some(content), &[])?;
    Ok(Person { name: name.clone(), role, added: owner.system().now()?, id })
}

impl Desk {
    /// Gives somebody another role.
    pub(crate) fn change_person(
        &self,
        owner: &Owner,
        name: &str,
        role: PersonRole,
        by: &Administrator<'_>,
    ) -> Result<Person, Refusal> {
        for _ in 0..records::ATTEMPTS {
            let (version, person) = find(owner, name)?;
            let changed = Person { role, ..person };
            let facts = PersonChanged { person: changed.id, role: on_record(role) };
            let content = NameContent { name: Text::try_from(changed.name.as_str())? };
            let mut swaps = vec![holding(&changed, version)?];
            swaps.extend(link::forgetting(owner.sequencer().store(), name)?);
            let state =
                |swaps: &[_]| by.state(owner, facts, Some(Content::PersonChanged(content.clone())), swaps);
            // A session has the role of its beginning.
            if self.tokens().end_sessions(owner, name, swaps, state)?.is_some() {
                return Ok(changed);
            }
        }
        Err(records::contended())
    }
}

/// Returns a role as the registry names it.
const fn on_record(role: PersonRole) -> facts::PersonRole {
    match role {
        PersonRole::Operator => facts::PersonRole::Operator,
        PersonRole::Answerer => facts::PersonRole::Answerer,
        PersonRole::Auditor => facts::PersonRole::Auditor,
    }
}

/// Returns who somebody is on record who can sign in under this name, and what they are called: somebody who was added, or the user
/// of this machine.
pub(crate) fn called(owner: &Owner, name: &Text<1, 64>) -> Result<Option<(PersonId, Text<1, 64>)>, Refusal> {
    match find(owner, name) {
        Ok((_, person)) => Ok(Some((person.id, person.name))),
        Err(refusal) if refusal.code == Code::PersonUnknown => {
            let Some(user) = owner.user().filter(|user| name::same(user, name)) else { return Ok(None) };
            let user = Text::cut(user)?;
            Ok(Some((name::relayed_person(owner, &user)?.id, user)))
        }
        Err(refusal) => Err(refusal),
    }
}

/// Returns what somebody may do who signs in under this name, and the swap that fails where that has changed.
pub(crate) fn role_of(desk: &Desk, owner: &Owner, name: &str) -> Result<(PersonRole, Option<Swap>), Refusal> {
    if name::same(desk.user(), name) {
        return Ok((PersonRole::Operator, None));
    }
    let (version, person) = find(owner, name).map_err(session::gone)?;
    Ok((person.role, Some(holding(&person, version)?)))
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
