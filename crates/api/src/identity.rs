//! Signed messages about identities, to be judged.

use demur_clarify::{
    identity::{FreePayload, IdentityVerification, SignedMessage},
    seal::AgentKey,
    time::Time,
};
use demur_core::limit::List;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Messages to be judged.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyIdentity {
    /// The messages. Without `identity`, they are the agent's history if they begin with its registration.
    #[schemars(with = "List<SignedMessage<FreePayload>, 1, { IdentityVerification::MOST }>")]
    pub messages: List<Box<RawValue>, 1, { IdentityVerification::MOST }>,
    /// What is known of the agent: its registration and what followed, each judged at its own time.
    #[serde(default)]
    #[schemars(with = "List<SignedMessage<FreePayload>, 0, { IdentityVerification::MOST }>")]
    pub identity: List<Box<RawValue>, 0, { IdentityVerification::MOST }>,
    /// The key that the registration has to name, or to check signatures with where there is no registration.
    #[serde(default)]
    pub key: Option<AgentKey>,
    /// The time to judge at, which is also when the messages came where there is an `identity`: now unless it is given.
    #[serde(default)]
    pub at: Option<Time>,
}
