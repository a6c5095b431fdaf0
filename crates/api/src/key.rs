//! One key as people and programs see it: everything public.

mod change;

use demur_core::{
    key::{Fingerprint, PublicKey},
    time::Timestamp,
};
use demur_ledger::{
    facts::RevocationReason,
    name::{PrincipalId, Sequence},
    registry::KeyOrigin,
    role::Role,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use change::{
    ListedKeys, MakeKey, NewKey, RegisteredKey, RegistryPlace, Removal, RevokeKey, RevokedKey, RotateKey,
    RotatedKey, Spent,
};

/// A key and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyEntry {
    /// What proves it.
    pub fingerprint: Fingerprint,
    /// The desk's claim.
    pub name: String,
    /// How it came in.
    pub origin: Origin,
    /// Whoever holds it.
    pub principal: PrincipalId,
    /// The key itself.
    pub public_key: PublicKey,
    /// The key that may rotate this one when it is lost.
    pub recovery: Option<Fingerprint>,
    /// When a rotated key is retired at the earliest.
    pub retires_after: Option<Timestamp>,
    /// When it was retired.
    pub retired: Option<Moment>,
    /// When and why it was revoked.
    pub revoked: Option<Revocation>,
    /// What it may speak as.
    pub roles: Vec<Role>,
    /// When it got a successor.
    pub rotated: Option<Moment>,
    /// Whether the secret is in this data folder; none where that is not to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_here: Option<bool>,
    /// When it came in.
    pub since: Moment,
    /// What it can still do.
    pub status: Status,
}

/// Every key.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedIdentities {
    /// The oldest first.
    pub identities: Vec<KeyEntry>,
}

/// A registry event and its time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// The event.
    pub event: Sequence,
    /// When.
    pub time: Timestamp,
}

/// How and why a key was revoked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Revocation {
    /// The event.
    pub event: Sequence,
    /// What was noted.
    pub note: Option<String>,
    /// Why.
    pub reason: RevocationReason,
    /// When.
    pub time: Timestamp,
}

/// What a key can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "KeyStatus")]
pub enum Status {
    /// It speaks.
    Active,
    /// It has a successor and still speaks.
    Rotated,
    /// It had a successor and no longer speaks.
    Retired,
    /// It no longer speaks.
    Revoked,
}

/// How a key came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "KeyOrigin")]
pub enum Origin {
    /// The first key of its holder.
    First,
    /// Named by the key before it.
    RotatedByKey,
    /// Named by the recovery key.
    RotatedByRecovery,
    /// New, on the desk's word.
    DeskWord,
}

impl KeyEntry {
    /// Returns whether the secret is here.
    pub fn has_secret(&self) -> bool {
        self.secret_here == Some(true)
    }

    /// Returns the entry as everybody may know it: where its secret lies is nobody's business.
    #[must_use]
    pub fn public(self) -> Self {
        Self { secret_here: None, ..self }
    }

    /// Returns its roles in words.
    pub fn roles(&self) -> String {
        self.roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns its status in words.
    pub fn status(&self) -> String {
        match (self.status, &self.revoked, self.retires_after) {
            (Status::Revoked, Some(revocation), _) => format!("revoked ({})", reason_word(revocation.reason)),
            (Status::Rotated, _, Some(time)) => format!("rotated (retires after {})", clock(time)),
            (status, _, _) => status.as_str().to_owned(),
        }
    }
}

impl Status {
    /// Returns whether a key of this status can still sign anything.
    pub const fn speaks(self) -> bool {
        matches!(self, Self::Active | Self::Rotated)
    }

    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Rotated => "rotated",
            Self::Retired => "retired",
            Self::Revoked => "revoked",
        }
    }
}

impl From<KeyOrigin> for Origin {
    fn from(origin: KeyOrigin) -> Self {
        match origin {
            KeyOrigin::First => Self::First,
            KeyOrigin::RotatedByKey => Self::RotatedByKey,
            KeyOrigin::RotatedByRecovery => Self::RotatedByRecovery,
            KeyOrigin::DeskWord => Self::DeskWord,
        }
    }
}

impl Origin {
    /// Returns how much stands behind the key, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::First => "first key of its holder; that it belongs to this name is the desk's word",
            Self::RotatedByKey => "named by the key before it",
            Self::RotatedByRecovery => "named by the recovery key",
            Self::DeskWord => "new key, desk's word",
        }
    }
}

/// Returns the word for a reason.
pub const fn reason_word(reason: RevocationReason) -> &'static str {
    match reason {
        RevocationReason::Compromised => "compromised",
        RevocationReason::Lost => "lost",
        RevocationReason::Withdrawn => "withdrawn",
    }
}

/// Returns a time for people, to the second.
pub fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    match text.split_once('T') {
        Some((day, clock)) => format!("{day} {} UTC", &clock[..8]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_origin_says_how_much_stands_behind_it() {
        assert!(Origin::from(KeyOrigin::First).words().contains("desk's word"));
        assert_eq!(Origin::from(KeyOrigin::DeskWord).words(), "new key, desk's word");
        assert_eq!(Origin::from(KeyOrigin::RotatedByKey).words(), "named by the key before it");
        assert_eq!(Origin::from(KeyOrigin::RotatedByRecovery).words(), "named by the recovery key");
    }

    #[test]
    fn times_read_as_clocks() {
        assert_eq!(clock("2026-11-15T04:05:06.789Z".parse().unwrap()), "2026-11-15 04:05:06 UTC");
    }
}
