//! Facts of the registry: the store, its keys, its checkpoints (`docs/format.md` 7). Key events are facts
//! entirely; a name of a person is content.

use demur_core::{
    hash::Digest,
    key::{Fingerprint, PublicKey, Signature},
    limit::{List, Whole},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventFacts;
use crate::{
    name::{CommandId, PrincipalId, Sequence, StoreId, present},
    role::Role,
};

/// The first event of every registry; its hash names the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreCreated {
    /// The desk's principal.
    pub desk: PrincipalId,
    /// The desk's first key; the statement is signed with it.
    pub key: PublicKey,
    /// The key that may rotate it when it is lost.
    #[serde(deserialize_with = "present")]
    pub recovery: Option<PublicKey>,
}

/// A key enters the registry. The statement is signed with that very key: proof of possession.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRegistered {
    /// The key.
    pub key: PublicKey,
    /// Who controls it. A principal that has a key already shows as "new key, desk's word".
    pub principal: PrincipalId,
    /// The key that may rotate it when it is lost.
    #[serde(deserialize_with = "present")]
    pub recovery: Option<PublicKey>,
    /// What it may speak as, ascending.
    pub roles: List<Role, 1, 8>,
}

/// A key is followed by another; signed by the old key or by its recovery key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRotated {
    /// The new key.
    pub key: PublicKey,
    /// The old one; it stays usable until a `key_retired` event.
    pub old: Fingerprint,
    /// The new key's signature over [`PossessionClaim`].
    pub possession: Signature,
    /// The key that may rotate the new one.
    #[serde(deserialize_with = "present")]
    pub recovery: Option<PublicKey>,
}

/// What a new key signs to show that somebody holds it: purpose `possession`, canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PossessionClaim {
    /// The command of the `key_rotated` statement.
    pub command: CommandId,
    /// The new key.
    pub key: PublicKey,
    /// The old one.
    pub old: Fingerprint,
    /// The store.
    pub store: StoreId,
}

/// The overlap after a rotation is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRetired {
    /// The key that may no longer speak.
    pub key: Fingerprint,
    /// The `key_rotated` event that replaced it.
    pub rotation: Sequence,
}

/// A key may no longer speak. The root fixes what every trace held at that moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRevoked {
    /// The key.
    pub key: Fingerprint,
    /// Why.
    pub reason: RevocationReason,
    /// RFC 6962 root over (trace, length, head) of all traces, ordered by trace.
    pub root: Digest,
    /// How many traces the root covers.
    pub traces: Whole<1, 9_007_199_254_740_991>,
}

/// Why a key was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RevocationReason {
    /// Somebody else may hold it.
    Compromised,
    /// Nobody holds it any more.
    Lost,
    /// Its holder no longer takes part.
    Withdrawn,
}

/// The set of traces at one moment, made on demand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointRecorded {
    /// As in [`KeyRevoked`].
    pub root: Digest,
    /// As in [`KeyRevoked`].
    pub traces: Whole<1, 9_007_199_254_740_991>,
}

/// The store was restored from a backup; what comes after belongs to a new epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreRestored {
    /// The new epoch: one more than the last.
    pub epoch: Whole<2, 9_007_199_254_740_991>,
}

impl EventFacts for StoreCreated {}
impl EventFacts for KeyRegistered {}
impl EventFacts for KeyRotated {}
impl EventFacts for KeyRevoked {}
impl EventFacts for CheckpointRecorded {}
impl EventFacts for StoreRestored {}

impl EventFacts for KeyRetired {
    fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
        visit(self.rotation);
    }
}
