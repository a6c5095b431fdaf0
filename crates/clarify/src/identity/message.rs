//! The messages about identities. Each payload names its type, so that none can be taken for another.

use demur_core::{canonical, limit::Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::Status;
use crate::{
    Error,
    name::AgentId,
    read::present,
    seal::{AgentKey, Seal, Signer},
    time::Time,
};

/// A message and the signature over its canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedMessage<P> {
    /// What is said.
    pub message: Message<P>,
    /// The signature over it.
    pub signature: Seal,
}

/// Who says what, when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message<P> {
    /// Who.
    pub agent_id: AgentId,
    /// When, by the agent's word.
    pub timestamp: Time,
    /// What.
    pub payload: P,
}

impl<P: Serialize + DeserializeOwned> SignedMessage<P> {
    /// Returns the signed message.
    pub fn sign(payload: P, timestamp: Time, signer: &Signer) -> Result<Self, Error> {
        let message = Message { agent_id: signer.agent_id().clone(), timestamp, payload };
        let signature = signer.sign(&canonical::to_vec(&message)?)?;
        Ok(Self { message, signature })
    }

    /// Returns the bytes that the signature covers.
    pub fn signing_input(&self) -> Result<Vec<u8>, Error> {
        Ok(canonical::to_vec(&self.message)?)
    }

    /// Checks that this key signed the message.
    pub fn verify_with(&self, key: &AgentKey) -> Result<(), Error> {
        key.bare().verify_foreign(&self.signing_input()?, self.signature.bare()).map_err(|source| {
            let signer = self.message.agent_id.to_string();
            Error::Signature { field: "signature", signer, source: Some(source) }
        })
    }
}

/// Binds a key to a name; signed with that key, which proves that the sender has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Register {
    #[serde(rename = "type")]
    kind: RegisterType,
    identity_version: IdentityVersion,
    /// The key.
    pub public_key: AgentKey,
    /// Since when it is used.
    pub created_at: Time,
    /// When it ends by itself; null where it does not.
    #[serde(deserialize_with = "Option::deserialize")]
    pub expires_at: Option<Time>,
    /// A decentralized identifier of the agent.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub did: Option<Text<1, 200>>,
}

impl Register {
    /// Returns the registration of a signer's key.
    pub fn new(signer: &Signer, created_at: Time, expires_at: Option<Time>) -> Self {
        let (kind, identity_version) = (RegisterType::Register, IdentityVersion::Draft);
        Self { kind, identity_version, public_key: signer.public_key(), created_at, expires_at, did: None }
    }
}

/// Replaces a key; signed with the old one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotate {
    #[serde(rename = "type")]
    kind: RotateType,
    /// The new key.
    pub new_public_key: AgentKey,
    /// The new key's signature over a [`Possession`] of it: the sender has it.
    pub new_key_signature: Seal,
}

impl Rotate {
    /// Returns the rotation to a new key of the same agent.
    pub fn new(new: &Signer, timestamp: Time) -> Result<Self, Error> {
        let new_public_key = new.public_key();
        let possession = Possession::new(new.agent_id().clone(), new_public_key, timestamp);
        let new_key_signature = new.sign(&canonical::to_vec(&possession)?)?;
        Ok(Self { kind: RotateType::Rotate, new_public_key, new_key_signature })
    }

    /// Checks that whoever sent it has the new key.
    pub(super) fn verify_possession(&self, agent_id: &AgentId, timestamp: Time) -> Result<(), Error> {
        let possession = Possession::new(agent_id.clone(), self.new_public_key, timestamp);
        let input = canonical::to_vec(&possession)?;
        let key = self.new_public_key.bare();
        key.verify_foreign(&input, self.new_key_signature.bare()).map_err(|source| Error::Signature {
            field: POSSESSION,
            signer: agent_id.to_string(),
            source: Some(source),
        })
    }
}

/// What a new key signs to show that it is in its owner's hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Possession {
    #[serde(rename = "type")]
    kind: PossessionType,
    /// Whose key.
    pub agent_id: AgentId,
    /// The key.
    pub public_key: AgentKey,
    /// The time of the rotation it belongs to.
    pub timestamp: Time,
}

impl Possession {
    const fn new(agent_id: AgentId, public_key: AgentKey, timestamp: Time) -> Self {
        Self { kind: PossessionType::Possession, agent_id, public_key, timestamp }
    }
}

/// The reply to a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateReply {
    /// `rotating`.
    pub status: Status,
    /// When the old key ends.
    pub old_key_expires: Time,
}

impl RotateReply {
    pub(super) const fn new(old_key_expires: Time) -> Self {
        Self { status: Status::Rotating, old_key_expires }
    }
}

/// Ends an identity; signed with one of its valid keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    #[serde(rename = "type")]
    kind: RevokeType,
    /// Why.
    pub reason: RevocationReason,
}

impl Revoke {
    /// Returns the revocation for this reason.
    pub const fn new(reason: RevocationReason) -> Self {
        Self { kind: RevokeType::Revoke, reason }
    }
}

/// Why an identity ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RevocationReason {
    /// Somebody else may have the key.
    Compromised,
    /// The agent is no longer used.
    Retired,
}

/// Asks whether a message is by an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The agent.
    pub agent_id: AgentId,
    /// The message.
    pub message: Message<FreePayload>,
    /// The signature over it.
    pub signature: Seal,
}

impl Check {
    /// Returns the question about this message.
    pub fn new(signed: SignedMessage<FreePayload>) -> Self {
        let SignedMessage { message, signature } = signed;
        Self { agent_id: message.agent_id.clone(), message, signature }
    }
}

/// Whether a message is by an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckReply {
    /// Whether it is.
    pub valid: bool,
    /// The agent.
    pub agent_id: AgentId,
    /// The state of its identity, where it is.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Why it is not.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

impl CheckReply {
    pub(super) fn new(agent_id: AgentId, outcome: Result<Status, Reason>) -> Self {
        Self { valid: outcome.is_ok(), agent_id, status: outcome.ok(), reason: outcome.err() }
    }
}

/// Why a message is not by an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No valid key of the agent made the signature.
    SignatureMismatch,
    /// The message names another agent.
    AgentMismatch,
    /// The message is more than 60 s old, or that far ahead.
    Stale,
    /// The identity was revoked.
    Revoked,
    /// The key ended by itself.
    Expired,
}

/// A payload of any other protocol.
pub type FreePayload = Map<String, Value>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum IdentityVersion {
    #[serde(rename = "1.0.0-draft")]
    Draft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum RegisterType {
    #[serde(rename = "wwa.identity.register")]
    Register,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum RotateType {
    #[serde(rename = "wwa.identity.rotate")]
    Rotate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum PossessionType {
    #[serde(rename = "wwa.identity.possession")]
    Possession,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum RevokeType {
    #[serde(rename = "wwa.identity.revoke")]
    Revoke,
}

/// The member that holds the new key's signature.
pub(super) const POSSESSION: &str = "new_key_signature";
