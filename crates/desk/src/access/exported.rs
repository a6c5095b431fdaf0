//! What a token without `read` is shown of the registry in an export of a trace that it takes part in: what those are called who
//! did something there, and itself. What everybody else is called is withheld, and the file holds all the same.

use std::collections::BTreeSet;

use demur_api::{refusal::Refusal, scope::Scope};
use demur_ledger::{
    envelope::Event,
    event_type::Facts,
    name::{ClientId, PersonId, PrincipalId, Sequence, TokenId, TraceId},
    registry::Registry,
};

use super::Caller;
use crate::{owner::Owner, record};

/// Whose names an export shows.
#[derive(Debug, Default)]
pub(crate) struct ShownNames {
    principals: BTreeSet<PrincipalId>,
    clients: BTreeSet<ClientId>,
    people: BTreeSet<PersonId>,
    tokens: BTreeSet<TokenId>,
}

impl ShownNames {
    /// Returns whose names a caller is shown with a trace; none where it reads everything.
    pub(crate) fn of(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<Option<Self>, Refusal> {
        let Caller::Token(token) = caller else { return Ok(None) };
        if caller.may(&[Scope::Read]) {
            return Ok(None);
        }
        let registry = owner.sequencer().registry();
        let mut shown = Self::default();
        shown.principals.extend(token.principal);
        shown.principals.extend(caller.seats(owner)?.into_iter().map(|(_, principal)| principal));
        shown.clients.extend(token.client);
        shown.tokens.extend(token.id.parse::<TokenId>().ok());
        record::walk(owner.sequencer().store(), trace, Sequence::FIRST, |event, _| {
            shown.take(&event);
            Ok::<_, Refusal>(true)
        })?;
        shown.add_clients(&registry);
        Ok(Some(shown))
    }

    /// Takes over who did something, as the event says.
    fn take(&mut self, event: &Event) {
        self.principals.insert(event.envelope().actor);
        let Ok(said) = event.said() else { return };
        if let Facts::SessionInitialized(facts) = said.facts {
            self.principals.extend(facts.participants.iter().map(|one| one.principal));
        }
        if let Some(way) = said.facts.attribution().flatten() {
            self.clients.extend(way.client);
            self.people.extend(way.person);
            self.tokens.extend(way.token);
        }
    }

    /// Adds the clients of those who took part: their keys were made for them.
    fn add_clients(&mut self, registry: &Registry) {
        let clients = self.principals.iter().flat_map(|principal| registry.clients_of(*principal));
        self.clients.extend(clients);
    }

    /// Returns whether the words of an event of the registry are shown.
    pub(crate) fn shows(&self, event: &Event) -> bool {
        let Ok(said) = event.said() else { return false };
        let is_person =
            |person: PersonId| self.people.contains(&person) || self.principals.contains(&person.principal());
        match said.facts {
            // What the store is called.
            Facts::StoreCreated(_) => true,
            Facts::KeyRegistered(facts) => self.principals.contains(&facts.principal),
            Facts::ClientBound(facts) => self.clients.contains(&facts.client),
            Facts::TokenMade(facts) => {
                self.tokens.contains(&facts.token) || self.clients.contains(&facts.client)
            }
            Facts::PersonAdded(facts) => is_person(facts.person),
            Facts::PersonChanged(facts) => is_person(facts.person),
            _ => false,
        }
    }
}
