//! The normalized input of a call: what an intent commits to and what is recorded before it.

use demur_core::{
    canonical::{self, WriteError},
    hash::{Digest, sha256},
};
use serde::{Deserialize, Serialize};

use crate::task::Call;

/// What a tool is given. Its canonical JSON is the artifact `NAME.input.json`; an intent names the SHA-256 of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The call's name in the task.
    pub call: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it reads from standard input.
    pub stdin: String,
}

impl Input {
    /// Returns the input of a call.
    pub fn of(call: &Call) -> Self {
        Self {
            call: call.name.to_string(),
            command: call.command.iter().map(ToString::to_string).collect(),
            stdin: call.stdin.clone(),
        }
    }

    /// Returns the bytes that are recorded, and their hash.
    pub fn normalized(&self) -> Result<(Vec<u8>, Digest), WriteError> {
        let bytes = canonical::to_vec(self)?;
        let hash = sha256(&bytes);
        Ok((bytes, hash))
    }
}

/// Returns the name of the artifact with a call's input.
pub(super) fn name(call: &str) -> String {
    format!("{call}.input.json")
}
