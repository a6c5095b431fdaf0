//! Facts of clients: which client a key was made for, and the tokens that were made and taken back (`docs/format.md` 7).
//! The name of a client or of a token is content; its secret is nowhere.

use demur_core::{key::Fingerprint, limit::List, time::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventFacts;
use crate::name::{ClientId, PersonId, PrincipalId, TokenId, present};

/// A key is a client's: whatever it says, that client says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientBound {
    /// The client; the desk's principal for a key with which the desk itself plays a role.
    pub client: ClientId,
    /// The key.
    pub key: Fingerprint,
}

/// A token was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenMade {
    /// Whoever holds it.
    pub client: ClientId,
    /// When it ends; null for one that is good until it is revoked.
    #[serde(deserialize_with = "present")]
    pub expires: Option<Timestamp>,
    /// Whose words it may relay, ascending; null for whoever it names, about what its own client asked.
    #[serde(deserialize_with = "present")]
    pub people: Option<List<PersonId, 0, 256>>,
    /// The holder of the key that speaks for it, if one does.
    #[serde(deserialize_with = "present")]
    pub principal: Option<PrincipalId>,
    /// What it allows, ascending.
    pub scopes: List<TokenScope, 1, 8>,
    /// Its public name.
    pub token: TokenId,
}

/// What a token allows, in the order in which facts list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// To ask, to submit plans and to take part in runs.
    Ask,
    /// To answer with a key.
    Answer,
    /// To pass on what people said.
    Relay,
    /// To read everything.
    Read,
    /// To abort runs.
    Operate,
    /// To read figures of the server.
    Metrics,
}

impl TokenScope {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Relay => "relay",
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Metrics => "metrics",
        }
    }
}

/// A token is worth nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRevoked {
    /// Which.
    pub token: TokenId,
}

impl EventFacts for ClientBound {}
impl EventFacts for TokenMade {}
impl EventFacts for TokenRevoked {}
