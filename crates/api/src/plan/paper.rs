//! The attestation of what was made of a plan, and the package for whoever goes on with it.

use demur_clarify::{attestation::Attestation, name::FilePath, seal::Sha256};
use demur_core::limit::{List, Text};
use demur_ledger::name::Sequence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was made of a plan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttestPlan {
    /// The folder.
    pub output_path: Text<1, 1024>,
    /// Every file in it, each path once.
    pub files: MadeFiles,
    /// The version of the program that made them.
    pub program_version: Text<1, 64>,
    /// The agent in whose name the user of this machine attests; otherwise whoever submitted the plan.
    #[serde(default)]
    pub agent: Option<Text<1, 64>>,
}

/// The files that were made of a plan.
pub type MadeFiles = List<MadeFile, 1, MAX_MADE_FILES>;

/// How many files one attestation names.
pub const MAX_MADE_FILES: usize = 4_000;

/// One file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MadeFile {
    /// Where it is, below the folder.
    pub path: FilePath,
    /// SHA-256 over its bytes.
    pub sha256: Sha256,
}

/// An attestation on record.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttestedPlan {
    /// The attestation.
    pub attestation: Attestation,
    /// The event that records it, if it was recorded now.
    pub event: Option<Sequence>,
}

/// A plan to be handed on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOffPlan {
    /// What is left to be done.
    pub task: Text<1, 16_000>,
}

/// An attestation to be checked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyAttestation {
    /// The attestation.
    pub attestation: Attestation,
}

/// What a check of an attestation found.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedAttestation {
    /// Whether all of it holds.
    pub valid: bool,
    /// Each by itself.
    pub checks: AttestationChecks,
    /// What does not hold.
    pub reason: Option<String>,
}

/// What is checked about an attestation.
#[expect(clippy::struct_excessive_bools, reason = "each check is told by itself")]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AttestationChecks {
    /// Whether a key of this desk signed it.
    pub signature: bool,
    /// Whether hashes, counts and claims agree with the record of the session.
    pub hash_chain: bool,
    /// Whether every round of the record is signed and follows from the one before.
    pub clarification_chain: bool,
    /// Whether this very attestation is on record.
    pub recorded: bool,
}
