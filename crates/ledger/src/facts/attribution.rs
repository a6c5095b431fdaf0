//! Attribution: the way that an act of a person came to the desk. Where a statement is signed, its proof says who spoke; where
//! the desk records an act, this says what it knows, and the assurance is worth no more than that (`docs/format.md` 5).

use demur_core::hash::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Assurance;
use crate::name::{ClientId, PersonId, TokenId, present};

/// The way an act came. Names of people are content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attribution {
    /// The program that passed it on; null where a person needed none, or nothing tells which it was.
    #[serde(deserialize_with = "present")]
    pub client: Option<ClientId>,
    /// How it came in.
    pub door: Door,
    /// Whether it came through the program that asked.
    pub own: bool,
    /// The person, where the registry knows one.
    #[serde(deserialize_with = "present")]
    pub person: Option<PersonId>,
    /// What the credential rests on.
    pub root: Root,
    /// The hash of the event that opened the session, where one is recorded.
    #[serde(deserialize_with = "present")]
    pub session: Option<Digest>,
    /// The token it came with.
    #[serde(deserialize_with = "present")]
    pub token: Option<TokenId>,
}

impl Attribution {
    /// Returns the way of an act that no program passed on.
    pub const fn new(door: Door, root: Root) -> Self {
        Self { client: None, door, own: false, person: None, root, session: None, token: None }
    }

    /// Returns whether it came through a client's own form: what a client puts before its user, and not what a program sends.
    pub fn is_form(&self) -> bool {
        self.door == Door::Mcp && self.root == Root::Client
    }
}

/// The attribution of a statement: none where its proof says who spoke. Apart, because most facts are small.
pub type MaybeAttribution = Option<Box<Attribution>>;

/// How an act came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// The Unix socket.
    Socket,
    /// A page in the browser.
    Page,
    /// HTTP, with a token.
    Http,
    /// An MCP client's own form.
    Mcp,
    /// The accessibility protocol.
    Aaep,
    /// The authorization protocol.
    Aauth,
    /// The conversation protocol.
    Clowl,
}

impl Door {
    /// Every door.
    pub const ALL: [Self; 7] =
        [Self::Socket, Self::Page, Self::Http, Self::Mcp, Self::Aaep, Self::Aauth, Self::Clowl];

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Page => "page",
            Self::Http => "http",
            Self::Mcp => "mcp",
            Self::Aaep => "aaep",
            Self::Aauth => "aauth",
            Self::Clowl => "clowl",
        }
    }
}

/// What a credential rests on: it is worth no more than what made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// A client says that somebody said it: a relay's token, or the client's own form.
    Client,
    /// A link that was mailed.
    Mail,
    /// A process of the user who runs the server: the socket, or a link made over it.
    SameUser,
    /// A session that a passkey opened.
    Passkey,
    /// A link from an operator's session that a passkey opened.
    Link,
}

impl Root {
    /// Every root.
    pub const ALL: [Self; 5] = [Self::Client, Self::Mail, Self::SameUser, Self::Passkey, Self::Link];

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Mail => "mail",
            Self::SameUser => "same_user",
            Self::Passkey => "passkey",
            Self::Link => "link",
        }
    }

    /// Returns the most that a word resting on it can be worth.
    pub const fn bears(self) -> Assurance {
        match self {
            Self::Client | Self::Mail => Assurance::Relayed,
            Self::SameUser => Assurance::Terminal,
            Self::Passkey | Self::Link => Assurance::SignedIn,
        }
    }
}
