//! A secret answer on its way to its asker.

use demur_core::commitment::Salt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

/// A secret answer on its way to the asker.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delivered {
    /// The answer.
    pub value: String,
    /// What opens the commitment in the ledger.
    pub salt: Salt,
}

/// Every copy of a secret is wiped.
impl Drop for Delivered {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// A secret does not show in logs.
impl std::fmt::Debug for Delivered {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Delivered(..)")
    }
}
