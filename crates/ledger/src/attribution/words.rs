//! How an answer came, in words: said in one way in reports, timelines and lists. What rests on no proof is "recorded by demur".

use std::collections::{BTreeMap, BTreeSet};

use demur_core::quote::quoted;

use crate::{
    facts::{Assurance, Attribution, Door, Root},
    name::ClientId,
};

/// The names that demur gives to clients, and which of them are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientNames {
    known: BTreeMap<ClientId, String>,
    /// The clients of which an event that named them was erased or withheld.
    hidden: BTreeSet<ClientId>,
}

impl ClientNames {
    /// Takes the name that one event gives to a client; none where that is not disclosed. The newest counts.
    pub fn give(&mut self, client: ClientId, name: Option<String>) {
        match name {
            Some(name) => drop(self.known.insert(client, name)),
            None => drop(self.hidden.insert(client)),
        }
    }

    /// Returns whether what a client is called was said and is no more.
    pub fn is_hidden(&self, client: ClientId) -> bool {
        self.hidden.contains(&client) && !self.known.contains_key(&client)
    }

    /// Returns a client with its name.
    pub fn words(&self, client: ClientId) -> String {
        match self.known.get(&client) {
            Some(name) => format!("client {client}, which demur calls {}", quoted(name)),
            None if self.is_hidden(client) => {
                format!("client {client}, whose name is not established: erased or withheld")
            }
            None => format!("client {client}"),
        }
    }
}

/// Returns how one knows who did something, with whose word that is.
pub fn how_known(assurance: Assurance, way: Option<&Attribution>, names: &ClientNames) -> String {
    match assurance {
        Assurance::Agent => "proven by its key".to_owned(),
        Assurance::Passkey => "proven by a passkey".to_owned(),
        Assurance::Relayed | Assurance::Terminal | Assurance::SignedIn => {
            format!(
                "{}{}, recorded by demur",
                came(assurance, way, names),
                way.map_or("", |way| over(way.door))
            )
        }
    }
}

/// Returns how something came, in a few words.
pub fn came(assurance: Assurance, way: Option<&Attribution>, names: &ClientNames) -> String {
    let Some(way) = way else { return assurance_word(assurance).to_owned() };
    let client = way.client.map(|client| names.words(client));
    match (way.root, way.own, client) {
        (Root::Client, true, _) => "relayed by the asker's own client".to_owned(),
        (Root::Client, false, Some(client)) => format!("relayed by {client}"),
        (Root::Client, false, None) => "relayed by a client that is not recorded".to_owned(),
        (Root::Mail, _, _) => "by a mailed link".to_owned(),
        (Root::SameUser, true, _) => "same user, from inside the asker's own client".to_owned(),
        (Root::SameUser, false, Some(client)) => format!("same user, from inside {client}"),
        (Root::SameUser, false, None) => "same user".to_owned(),
        (Root::Passkey, _, _) => "signed in with a passkey".to_owned(),
        (Root::Link, _, _) => "signed in by a link of an operator".to_owned(),
    }
}

/// Returns the word that people read for an assurance.
pub const fn assurance_word(assurance: Assurance) -> &'static str {
    match assurance {
        Assurance::Agent => "key",
        Assurance::Relayed => "relayed",
        Assurance::Terminal => "same user",
        Assurance::SignedIn => "signed in",
        Assurance::Passkey => "passkey",
    }
}

/// Returns the word that people read for an assurance by its name on the wire; what is none stays as it is.
pub fn assurance_of(name: &str) -> &str {
    let known = Assurance::ALL.into_iter().find(|assurance| assurance.as_str() == name);
    match known {
        Some(known) => assurance_word(known),
        None => name,
    }
}

const fn over(door: Door) -> &'static str {
    match door {
        Door::Socket => "",
        Door::Page => ", on a page",
        Door::Http => ", over HTTP",
        Door::Mcp => ", over MCP",
        Door::Aaep => ", over AAEP",
        Door::Aauth => ", over AAuth",
        Door::Clowl => ", over CLowl",
    }
}
