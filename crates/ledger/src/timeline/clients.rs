//! The clients of participants, as the registry that was read before the run tells them.

use std::collections::BTreeMap;

use demur_core::key::Fingerprint;

use crate::{
    attribution::ClientNames,
    client::words,
    envelope::Event,
    event_type::{Content, Facts},
    name::{ClientId, PrincipalId},
    registry::Registry,
};

/// Whose keys were made for which clients.
#[derive(Clone, Debug, Default)]
pub(super) struct Clients {
    /// The desk; none before the registry was read.
    desk: Option<PrincipalId>,
    holders: BTreeMap<Fingerprint, PrincipalId>,
    by_holder: BTreeMap<PrincipalId, Vec<ClientId>>,
    names: ClientNames,
}

impl Clients {
    /// Returns what a registry tells, without the names.
    pub(super) fn of(registry: &Registry) -> Self {
        let principals = registry.keys().map(|(_, record)| record.principal);
        let clients = principals.map(|principal| (principal, registry.clients_of(principal).collect()));
        Self { desk: Some(registry.desk()), by_holder: clients.collect(), ..Self::default() }
    }

    /// Takes an event of the registry.
    pub(super) fn learn(&mut self, event: &Event, content: Option<&Content>) {
        let (actor, Ok(said)) = (event.envelope().actor, event.said()) else { return };
        match said.facts {
            Facts::StoreCreated(_) => self.desk = Some(actor),
            Facts::KeyRegistered(facts) => drop(self.holders.insert(facts.key.fingerprint(), actor)),
            Facts::ClientBound(facts) => {
                let holder = self.holders.get(&facts.key);
                self.by_holder.entry(*holder.unwrap_or(&actor)).or_default().push(facts.client);
                if let Some(Content::ClientBound(content)) = content {
                    self.names.give(facts.client, Some(content.name.to_string()));
                }
            }
            Facts::KeyRotated(facts) => drop(self.holders.insert(facts.key.fingerprint(), actor)),
            _ => {}
        }
    }

    /// Returns the client of a participant in words; none where no registry was read.
    pub(super) fn words(&self, principal: PrincipalId) -> Option<String> {
        let clients = self.by_holder.get(&principal).map_or(&[][..], Vec::as_slice);
        Some(words(clients, self.desk?, &self.names))
    }
}
