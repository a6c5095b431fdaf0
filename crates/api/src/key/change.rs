//! Changes of keys, as the user of this machine asks for them and hears what came of them.

use demur_core::{
    key::{Fingerprint, PublicKey},
    limit::Text,
    time::Timestamp,
};
use demur_ledger::{
    facts::RevocationReason,
    name::{Position, PrincipalId, Sequence, StoreId, TraceId},
    role::Role,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KeyEntry;
use crate::statement::SignedStatement;

/// Every key, with where its secret is, and what a statement about keys has to name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedKeys {
    /// The oldest first.
    pub keys: Vec<KeyEntry>,
    /// The registry that holds them.
    pub registry: RegistryPlace,
}

/// Where the registry is, and how far it goes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegistryPlace {
    /// The store.
    pub store: StoreId,
    /// The registry event with which its epoch began: the first one, or the newest restoration.
    pub epoch: Position,
    /// The trace of the keys.
    pub trace: TraceId,
    /// Its newest event.
    pub head: Position,
    /// The key that demur itself signs with now.
    pub desk: Option<Fingerprint>,
}

/// A key to be registered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewKey {
    /// The server makes the key, keeps its secret and registers it.
    Made(MakeKey),
    /// The key was made elsewhere and has signed its own registration.
    Signed(SignedStatement),
}

/// What a key is made for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeKey {
    /// Who holds it.
    pub name: Text<1, 256>,
    /// What it speaks as.
    pub role: Role,
    /// The holder, who is new.
    pub principal: PrincipalId,
    /// The key that may replace it when it is lost.
    #[serde(default)]
    pub recovery: Option<PublicKey>,
}

/// A key that was registered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredKey {
    /// The event that records it.
    pub event: Sequence,
    /// The key.
    pub public_key: PublicKey,
    /// Where its secret is, if the server keeps it.
    pub key_file: Option<String>,
    /// Other keys whose time had come.
    pub retired: Vec<Spent>,
}

/// A key that is to have a successor.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateKey {
    /// Whether it ends at once, and not after a day.
    #[serde(default)]
    pub retire_now: bool,
    /// The statement of its recovery key that names the successor; otherwise the server makes one and signs with the key
    /// itself.
    #[serde(default)]
    pub statement: Option<SignedStatement>,
    /// The recovery key of the successor, where the key itself has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<PublicKey>,
}

/// A key that has a successor.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RotatedKey {
    /// The event that records it.
    pub event: Sequence,
    /// The successor.
    pub fingerprint: Fingerprint,
    /// Where its secret is.
    pub key_file: String,
    /// What became of the old secret, if the old key was retired at once.
    pub old_secret: Option<Removal>,
    /// Other keys whose time had come.
    pub retired: Vec<Spent>,
    /// When the old key is retired at the earliest, if it still speaks.
    pub retires_after: Option<Timestamp>,
}

/// Why a key may no longer speak.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeKey {
    /// Why, in one word.
    pub reason: RevocationReason,
    /// Why, in more.
    #[serde(default)]
    pub note: Option<Text<1, 4096>>,
}

/// A key that may no longer speak.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevokedKey {
    /// The event that records it.
    pub event: Sequence,
    /// Other keys whose time had come.
    pub retired: Vec<Spent>,
    /// What became of its secret.
    pub secret: Removal,
    /// When.
    pub time: Option<Timestamp>,
}

/// A key that stopped speaking, and what became of its secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Which.
    pub fingerprint: Fingerprint,
    /// Whose.
    pub name: String,
    /// What became of its file.
    pub secret: Removal,
}

/// What became of the file of a secret that must no longer be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SecretRemoval")]
pub enum Removal {
    /// It was removed.
    Removed,
    /// There was none.
    NotHere,
    /// It is still there and has to be removed by hand.
    Failed,
}

impl Removal {
    /// Returns the sentence for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Removed => "Its secret was removed from this data folder.",
            Self::NotHere => "Its secret was not in this data folder: destroy it wherever it is.",
            Self::Failed => "Its secret could not be removed from this data folder: remove it by hand.",
        }
    }
}
