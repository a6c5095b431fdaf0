//! Names: keys, clients and people share one space, so that a reader can tell whom a name means. Each name that is taken is a
//! record, made by compare and swap together with what it names: two processes cannot give one name to two holders.

mod likeness;
mod relayed;

use demur_api::{code::Code, key::KeyEntry, refusal::Refusal};
use demur_core::{
    hash::sha256,
    visible::{deceives, is_blank, is_unseen, visible},
};
use demur_ledger::name::PrincipalId;
use demur_store::contract::{RecordKey, Store, Swap, Version};
use serde::{Deserialize, Serialize};

use crate::{
    access::{LOCAL_AGENT, LOCAL_ASKER},
    owner::Owner,
    person::Person,
    records,
};

pub(crate) use relayed::{forgetting as forgetting_relayed, person as relayed_person};

/// Who has a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Holder {
    /// Somebody with a key.
    Key(PrincipalId),
    /// Somebody who may sign in.
    Person(Person),
    /// The user for whom a process of this store works.
    User,
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

/// Keeps the name of the user for whom this process works, so that no other process of the store gives it away. A name that a key
/// or a person has stays theirs. Where nobody else writes to the store, this process looks by itself.
pub(crate) fn keep_user(owner: &Owner) -> Result<(), Refusal> {
    let Some(user) = owner.user().filter(|_| owner.sequencer().store().is_shared()) else { return Ok(()) };
    let is_key = |owner: &Owner| -> Result<bool, Refusal> {
        Ok(owner.key_directory()?.names().values().any(|known| same(known, user)))
    };
    if holder(owner.sequencer().store(), user)?.is_some() || is_key(owner)? {
        return Ok(());
    }
    // Whoever was faster has it.
    records::swap(owner, vec![giving(user, Version::ABSENT, &Holder::User)?]).map(drop)
}

/// What keeps a name from showing all of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFlaw {
    /// A character that hides, or moves those around it.
    #[error("expected characters that can be seen in the name, found U+{:04X}", u32::from(*.0))]
    Unseen(char),
    /// A blank that nobody sees.
    #[error("expected no blank at the beginning or end of the name, found one")]
    BlankEnd,
    /// Nothing that can be read.
    #[error("expected a letter or a number in the name, found neither")]
    Blank,
    /// Letters of scripts that are not written together.
    #[error("expected letters of one script in the name, found several that are not written together")]
    Scripts,
}

impl NameFlaw {
    /// Returns what is wrong with a name. It stands beside everything that its holder says, so it must show all of itself.
    pub fn of(name: &str) -> Option<Self> {
        match name.chars().find(|character| deceives(*character)) {
            Some(character) => Some(Self::Unseen(character)),
            None if name.trim() != name => Some(Self::BlankEnd),
            None if is_blank(name) => Some(Self::Blank),
            None => likeness::mixes_scripts(name).then_some(Self::Scripts),
        }
    }
}

/// Checks that a name shows all of itself.
pub(crate) fn check(name: &str) -> Result<(), Refusal> {
    NameFlaw::of(name).map_or(Ok(()), |flaw| {
        Err(Refusal::new(Code::NameInvalid, flaw)
            .with_cure("write the name with letters and numbers, and with blanks only between them"))
    })
}

/// Returns the version of the record of a name that is free for the holder of a new key. One name is one holder at a time:
/// who asks under it must not answer under it as somebody else (ONE-07).
pub(crate) fn free_for_key(owner: &Owner, name: &str) -> Result<Version, Refusal> {
    let found = expect_no_person(owner, name)?;
    // Its holder may have been registered elsewhere a moment ago.
    if found.is_some() {
        owner.sequencer().newest_registry()?;
    }
    expect_silent(&owner.entries()?, name, None)?;
    Ok(found.map_or(Version::ABSENT, |(version, _)| version))
}

/// Checks that a program may have this name, with a key or without: no person has it. Returns who has it.
pub(crate) fn expect_no_person(owner: &Owner, name: &str) -> Result<Option<(Version, Holder)>, Refusal> {
    check(name)?;
    let found = holder(owner.sequencer().store(), name)?;
    if let Some((_, Holder::Person(_))) = found {
        return Err(taken(name, "by a person").with_cure(OTHER_NAME));
    }
    if relayed::known(owner.sequencer().store(), name)?.is_some() {
        return Err(taken(name, "by a person whose words a token passes on").with_cure(OTHER_NAME));
    }
    expect_not_demur(name)?;
    // Under these names demur itself asks for its user, whatever the user is called.
    let is_own = [LOCAL_ASKER, LOCAL_AGENT].iter().any(|own| same(own, name));
    if !is_own && is_user(owner, name) {
        return Err(taken(name, "by the user of this machine").with_cure(OTHER_NAME));
    }
    if !is_own && matches!(found, Some((_, Holder::User))) {
        return Err(taken(name, ELSEWHERE).with_cure(OTHER_NAME));
    }
    if found.is_none() {
        likeness::expect_unlike(owner, name)?;
    }
    Ok(found)
}

/// The program that keeps the record has no other's name.
fn expect_not_demur(name: &str) -> Result<(), Refusal> {
    if same(name, likeness::OWN_NAME) {
        return Err(taken(name, "by demur itself").with_cure(OTHER_NAME));
    }
    Ok(())
}

/// Returns the version of the record of a name whose holder gets another key.
pub(crate) fn kept_by_key(owner: &Owner, name: &str) -> Result<Version, Refusal> {
    match holder(owner.sequencer().store(), name)? {
        Some((_, Holder::Person(_))) => Err(taken(name, "by a person").with_cure(OTHER_NAME)),
        Some((version, Holder::Key(_) | Holder::User)) => Ok(version),
        None => Ok(Version::ABSENT),
    }
}

/// Returns the version of the record of a name that is free for a person. Readers of a trace must be able to tell people from
/// agents, also from those whose keys are gone.
pub(crate) fn free_for_person(owner: &Owner, name: &str) -> Result<Version, Refusal> {
    check(name)?;
    if is_user(owner, name) {
        return Err(user_taken(name));
    }
    expect_not_demur(name)?;
    let found = holder(owner.sequencer().store(), name)?;
    if let Some((_, Holder::Person(_))) = found {
        return Err(taken(name, "by a person")
            .with_cure("`demur people list` shows them; remove first to change a role"));
    }
    if let Some((_, Holder::User)) = found {
        return Err(taken(name, ELSEWHERE).with_cure("people have names of their own: take another one"));
    }
    owner.sequencer().newest_registry()?;
    if found.is_some() || owner.key_directory()?.names().values().any(|known| same(known, name)) {
        return Err(taken(name, "by a key").with_cure("`demur keys list` shows them: take another name"));
    }
    // Somebody whose words a token passes on is the same person.
    if relayed::known(owner.sequencer().store(), name)?.is_none() {
        likeness::expect_unlike(owner, name)?;
    }
    Ok(Version::ABSENT)
}

/// Checks that nobody but this holder has a key under this name that may speak.
pub(crate) fn expect_silent(
    entries: &[KeyEntry],
    name: &str,
    holder: Option<PrincipalId>,
) -> Result<(), Refusal> {
    let speaks = |entry: &&KeyEntry| {
        same(&entry.name, name) && Some(entry.principal) != holder && entry.status.speaks()
    };
    let Some(entry) = entries.iter().find(speaks) else { return Ok(()) };
    let key = format!("by key {} as {}", entry.fingerprint.short(), entry.roles());
    Err(taken(name, &key)
        .with_cure("a name is one holder in one role: choose another, or give its holder a new key with `demur keys rotate`"))
}

/// Returns whether this is the name of the user for whom this process works.
pub(crate) fn is_user(owner: &Owner, name: &str) -> bool {
    owner.user().is_some_and(|user| same(user, name))
}

/// Returns the refusal of the name of that user where somebody is to be added.
pub(crate) fn user_taken(name: &str) -> Refusal {
    taken(name, "by the user of this machine")
        .with_cure("this one is an operator already: `demur open` signs in")
}

fn taken(name: &str, by: &str) -> Refusal {
    let message = format!("expected a name that is free, found \"{}\" in use {by}", visible(name));
    Refusal::new(Code::NameTaken, message)
}

/// Returns whether two names are one to a reader in a hurry.
pub(crate) fn same(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

fn key(name: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{}", sha256(folded(name).as_bytes())))?)
}

/// Returns a name without what tells it apart only for programs: capitals, and characters that leave no mark.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|character| !is_unseen(*character)).collect::<String>().to_lowercase()
}

const ELSEWHERE: &str = "by the user of another machine that serves this store";
const OTHER_NAME: &str = "people and agents have different names: take another one";

/// What the keys of names begin with.
pub(crate) const PREFIX: &str = "name/";
