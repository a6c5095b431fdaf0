//! What a program needs that seals what its client carries from one round of a request to the next.

use std::fmt;

use demur_core::hash::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The secret with which one client's request states are sealed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestStateKey {
    /// Its 32 bytes. The same each time, also after the server was started again.
    pub key: Digest,
}

/// A secret does not show in logs.
impl fmt::Debug for RequestStateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RequestStateKey(..)")
    }
}
