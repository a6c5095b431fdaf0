//! Who follows a session, and who replies to its prompts.
//!
//! Its producer does, whoever sees everything, and a token that passes on the words of people. Prompts are for people, so only those
//! reply who speak for one: the user of this machine, a person who signed in and may answer, and such a token.

use demur_api::{refusal::Refusal, scope::Scope};
use demur_core::limit::Text;

use crate::{
    access::{Caller, stranger},
    name,
};

/// What a caller sees of sessions.
#[derive(Clone, Debug)]
pub(super) struct Viewpoint {
    /// Whose subscriptions and sessions are its own.
    pub(super) holder: String,
    sees_all: bool,
    /// Whether it passes on the words of people whom it names.
    for_people: bool,
    /// Whether it speaks for a person at all.
    speaks: bool,
}

impl Viewpoint {
    /// Returns what a caller sees.
    pub(super) fn of(caller: &Caller) -> Result<Self, Refusal> {
        let holder = match caller {
            Caller::Local { .. } => LOCAL_HOLDER.to_owned(),
            Caller::Token(token) => {
                // Tokens that speak with one key are one holder, as for quotas.
                token.principal.map_or_else(|| token.id.clone(), |principal| principal.to_string())
            }
            Caller::Stranger => return Err(stranger()),
        };
        let for_people = match caller {
            Caller::Token(token) => {
                let named = token.people.as_ref().is_some_and(|people| !people.is_empty());
                token.scopes.contains(&Scope::Relay) && named
            }
            Caller::Local { .. } | Caller::Stranger => false,
        };
        let sees_all = caller.may(&[Scope::Read, Scope::Operate]);
        Ok(Self { holder, sees_all, for_people, speaks: caller.may(&[Scope::Relay]) })
    }

    /// Returns whether it follows the sessions of a publisher.
    pub(super) fn sees(&self, publisher: &str) -> bool {
        self.sees_all || self.for_people || self.holder == publisher
    }

    /// Returns whether it may reply to prompts of a publisher.
    pub(super) fn replies_to(&self, publisher: &str) -> bool {
        self.speaks && self.sees(publisher)
    }

    /// Returns whether it may reply to anything.
    pub(super) const fn speaks(&self) -> bool {
        self.speaks
    }
}

/// Returns as whom a caller replies; none where it does not say for whom it speaks. `claimed` is what the reply says.
pub(super) fn replier(caller: &Caller, claimed: Option<&str>) -> Option<Text<1, 256>> {
    let person = |name: &str| Text::cut(&format!("user:{name}")).ok();
    let claimed = claimed.map(|claimed| claimed.strip_prefix("user:").unwrap_or(claimed));
    match caller {
        Caller::Local { name, .. } => person(claimed.unwrap_or(name)),
        Caller::Token(token) if token.scopes.contains(&Scope::Person) => person(&token.name),
        Caller::Token(token) => match (&token.people, claimed) {
            (Some(people), Some(claimed)) => {
                let known = people.iter().find(|known| name::same(&known.name, claimed));
                known.and_then(|known| person(&known.name))
            }
            (Some(people), None) => match &people[..] {
                [only] => person(&only.name),
                _ => None,
            },
            (None, claimed) => claimed.and_then(person),
        },
        Caller::Stranger => None,
    }
}

/// Whose sessions those of the user of this machine are.
const LOCAL_HOLDER: &str = "local";
