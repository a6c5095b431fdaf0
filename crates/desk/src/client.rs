//! Clients: whom the desk makes keys for. A client is a token, an MCP connection or the command of an agent in a run; the
//! command line is none. The registry says for each key which client it was made for, so that one client that plays several
//! roles of a run shows.

use demur_api::refusal::Refusal;
use demur_core::{
    hash::sha256,
    key::Fingerprint,
    limit::{LimitError, Text},
};
use demur_ledger::{
    content::NameContent,
    event_type::Content,
    facts::ClientBound,
    name::{ClientId, PrincipalId},
};
use demur_run::task::Player;

use crate::{key_directory::DESK, name, owner::Owner};

/// Whom a key is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeFor {
    /// A client.
    Client(KnownClient),
    /// The desk, which plays a role itself.
    Desk,
    /// No client: the command line, or somebody who has not spoken yet.
    Nobody,
}

/// A client with the name it goes by here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownClient {
    /// Which.
    pub id: ClientId,
    /// What the desk calls it.
    pub name: Text<1, 256>,
}

impl MadeFor {
    /// Returns whom the key of an agent in a process of its own is made for: its command, which is the same in every run.
    pub(crate) fn command(player: &Player) -> Result<Self, LimitError> {
        let mut bytes = b"command".to_vec();
        for word in &player.command {
            bytes.push(0);
            bytes.extend_from_slice(word.as_bytes());
        }
        let name = Text::try_from(player.name.as_str())?;
        Ok(Self::Client(KnownClient { id: ClientId::of_digest(&sha256(&bytes)), name }))
    }

    /// Returns whom a key is made for that belongs to a name: the client of that name where one is known, otherwise this.
    pub(crate) fn or_of_name(self, owner: &Owner, name: &str) -> Result<Self, Refusal> {
        Ok(of_name(owner, name)?.map_or(self, Self::Client))
    }

    /// Returns what the registry says of a key that is made for this; nothing where it is made for nobody.
    pub(crate) fn binding(&self, desk: PrincipalId, key: Fingerprint) -> Option<(ClientBound, Content)> {
        let (client, name) = match self {
            Self::Client(client) => (client.id, client.name.clone()),
            Self::Desk => (desk.into(), DESK.try_into().ok()?),
            Self::Nobody => return None,
        };
        Some((ClientBound { client, key }, Content::ClientBound(NameContent { name })))
    }
}

/// Returns the client that somebody with this name is, if a key of that name was made for one.
pub(crate) fn of_name(owner: &Owner, name: &str) -> Result<Option<KnownClient>, Refusal> {
    let key_directory = owner.key_directory()?;
    let registry = key_directory.registry();
    let named = key_directory.names().iter().filter(|(_, known)| name::same(known, name));
    let mut clients = named.flat_map(|(principal, _)| registry.clients_of(*principal));
    let found = clients.find(|client| !registry.is_desk(*client));
    Ok(found.map(|id| Text::cut(name).map(|name| KnownClient { id, name })).transpose()?)
}
