//! Who follows a session, and who replies to its prompts.
//!
//! What a producer publishes is followed by itself, by whoever sees everything, and by a token that passes on the words of people.
//! Prompts of producers are for people, so only those reply who speak for one: the user of this machine, a person who signed in and may
//! answer, and such a token. A question of this folder is followed by whoever sees it, and answered by whoever may.

use demur_api::{refusal::Refusal, scope::Scope};
use demur_core::limit::Text;
use demur_ledger::name::PrincipalId;
use serde::{Deserialize, Serialize};

use crate::{
    access::{AnsweringKeys, Caller, Sight, stranger},
    name,
    owner::Owner,
};

/// For whom a session is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum Audience {
    /// What this one publishes.
    Publisher(String),
    /// A question of this folder.
    Question {
        /// Who asks.
        asker: PrincipalId,
        /// Whether people may answer.
        people: bool,
        /// Which keys may.
        keys: AnsweringKeys,
    },
}

/// What a caller sees of sessions.
#[derive(Clone, Debug)]
pub(super) struct Viewpoint {
    /// Whose subscriptions and sessions are its own.
    pub(super) holder: String,
    /// What it sees of questions.
    sight: Sight,
    /// Whether it passes on the words of people whom it names.
    for_people: bool,
    /// Whether it speaks for a person at all.
    speaks: bool,
    /// Whether it answers at all.
    answers: bool,
}

impl Viewpoint {
    /// Returns what a caller sees.
    pub(super) fn of(caller: &Caller, owner: &Owner) -> Result<Self, Refusal> {
        let for_people = match caller {
            Caller::Token(token) => {
                let named = token.people.as_ref().is_some_and(|people| !people.is_empty());
                token.scopes.contains(&Scope::Relay) && named
            }
            Caller::Local { .. } | Caller::Stranger => false,
        };
        Ok(Self {
            holder: holder(caller)?,
            sight: Sight::of(caller, owner.sequencer().registry()),
            for_people,
            speaks: caller.may(&[Scope::Relay]),
            answers: caller.may(&[Scope::Answer, Scope::Relay]),
        })
    }

    /// Returns whether it follows a session.
    pub(super) fn sees(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Publisher(publisher) => {
                self.sight.is_all() || self.for_people || self.holder == *publisher
            }
            Audience::Question { asker, people, keys } => {
                self.sight.sees(*asker, *people, || Ok(keys.clone())).unwrap_or(false)
            }
        }
    }

    /// Returns whether it may reply to the prompts of a session.
    pub(super) fn replies_to(&self, audience: &Audience) -> bool {
        let may = match audience {
            Audience::Publisher(_) => self.speaks,
            Audience::Question { .. } => self.answers,
        };
        may && self.sees(audience)
    }

    /// Returns whether it may reply to prompts of producers.
    pub(super) const fn speaks(&self) -> bool {
        self.speaks
    }
}

/// Returns whose subscriptions and sessions are a caller's own.
pub(super) fn holder(caller: &Caller) -> Result<String, Refusal> {
    match caller {
        Caller::Local { .. } => Ok(LOCAL_HOLDER.to_owned()),
        Caller::Token(token) => {
            // Tokens that speak with one key are one holder, as for quotas.
            Ok(token.principal.map_or_else(|| token.id.clone(), |principal| principal.to_string()))
        }
        Caller::Stranger => Err(stranger()),
    }
}

/// Returns as whom a caller replies; none where it does not say for whom it speaks. `claimed` is what the reply says.
pub(super) fn replier(caller: &Caller, claimed: Option<&str>) -> Option<Text<1, 256>> {
    let person = |name: &str| Text::cut(&format!("user:{name}")).ok();
    let claimed = claimed.map(|claimed| claimed.strip_prefix("user:").unwrap_or(claimed));
    match caller {
        // A process of the same user is nobody else, whatever it says.
        Caller::Local { name, .. } => person(name),
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
