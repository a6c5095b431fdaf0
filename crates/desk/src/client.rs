//! Clients: whom the desk makes keys for. A client is a token, an MCP connection, the program of an agent in a run, `demur run` where it
//! runs the tools, or in a run a name on the socket; who types at the command line is none. The registry says for each key which client it was made for, so that one client that plays several
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
    /// Returns whom the key of an agent in a process of its own is made for: its program, whatever arguments that gets, such as
    /// another key. It is the same in every run.
    pub(crate) fn program(player: &Player) -> Result<Self, LimitError> {
        let words: Vec<_> = player.command.iter().map(Text::as_str).collect();
        let id = ClientId::of_digest(&sha256(format!("program\0{}", program(&words)).as_bytes()));
        let name = Text::try_from(player.name.as_str())?;
        Ok(Self::Client(KnownClient { id, name }))
    }

    /// Returns whom a key is made for with which somebody speaks on the socket who shows nothing but a name: one name is one client,
    /// by its own word.
    pub(crate) fn named_on_the_socket(name: &str) -> Result<Self, LimitError> {
        let id = ClientId::of_digest(&sha256(format!("socket\0{}", name.to_lowercase()).as_bytes()));
        Ok(Self::Client(KnownClient { id, name: Text::cut(&format!("{name} on the socket"))? }))
    }

    /// Returns whom the key of a run's executor is made for where the command line runs the tools.
    pub(crate) fn command_line() -> Result<Self, LimitError> {
        let id = ClientId::of_digest(&sha256(b"command line"));
        Ok(Self::Client(KnownClient { id, name: "demur run".try_into()? }))
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

/// Returns the path of a command's program: of one that interprets scripts, the script's.
fn program<'a>(command: &[&'a str]) -> &'a str {
    let Some((first, rest)) = command.split_first() else { return "" };
    let name =
        first.rsplit('/').next().unwrap_or(first).trim_end_matches(|last: char| "0123456789.".contains(last));
    let script = rest.iter().find(|word| !word.starts_with('-')).filter(|_| INTERPRETERS.contains(&name));
    let path = script.unwrap_or(first);
    path.strip_prefix("./").unwrap_or(path)
}

/// Programs of which the first argument says what they do.
const INTERPRETERS: [&str; 9] = ["bash", "bun", "deno", "node", "perl", "php", "python", "ruby", "sh"];

/// Returns the client that somebody with this name is, if a key of that name was made for one.
pub(crate) fn of_name(owner: &Owner, name: &str) -> Result<Option<KnownClient>, Refusal> {
    let key_directory = owner.key_directory()?;
    let registry = key_directory.registry();
    let named = key_directory.names().iter().filter(|(_, known)| name::same(known, name));
    let mut clients = named.flat_map(|(principal, _)| registry.clients_of(*principal));
    let found = clients.find(|client| !registry.is_desk(*client));
    Ok(found.map(|id| Text::cut(name).map(|name| KnownClient { id, name })).transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_the_same_with_another_key_and_its_script_another() {
        for (command, expected) in [
            (&["agents/critic", "cleo.key"][..], "agents/critic"),
            (&["./critic", "ben.key", "plan.json"], "critic"),
            (&["python3", "one.py", "c.key"], "one.py"),
            (&["/usr/bin/python3.13", "-u", "./one.py", "e.key"], "one.py"),
            (&["python", "-m", "critic", "c.key"], "critic"),
            (&["sh", "-c", "exec critic c.key"], "exec critic c.key"),
            (&["python"], "python"),
            (&[], ""),
        ] {
            assert_eq!(program(command), expected, "{command:?}");
        }
    }
}
