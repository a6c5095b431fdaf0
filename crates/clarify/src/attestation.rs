//! The attestation: what was made, from which inputs, after how many rounds of clarification (attestation
//! protocol 1.0.0, 3; seed 000, 9).
//!
//! `signature` covers the attestation without `signature`. The protocol's own example signs only id, time and
//! output hash; that would leave inputs, rounds and claims unsigned.

mod files;
mod inputs;

use demur_core::limit::{List, Text, Whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    audit::AuditRecord,
    document::ProtocolVersion,
    error::FieldError,
    keys::KeyHistory,
    name::AgentId,
    read::present,
    seal::{AgentKey, Seal, Sha256, Signer, without},
    time::Time,
    uuid::Uuid,
};

pub use files::{BuildResult, FileAction, FileHash, FileHashes, Inclusion, Outputs, Tree};
pub use inputs::{ChainReference, Inputs};

/// A signed statement about one piece of finished work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    #[serde(rename = "$schema")]
    schema: SchemaAddress,
    protocol_version: ProtocolVersion,
    /// Its name.
    pub attestation_id: Uuid,
    /// The session whose clarifications came before.
    pub session_id: Uuid,
    /// Who attests.
    pub agent_id: AgentId,
    /// The version of the program.
    pub agent_version: Text<1, 64>,
    /// The key it is signed with.
    pub agent_public_key: AgentKey,
    /// When, by the agent's word.
    pub timestamp: Time,
    /// The plan and the clarifications before it.
    pub inputs: Inputs,
    /// The files that were made.
    pub outputs: Outputs,
    /// Which standards were applied to which files.
    pub compliance_claims: List<ComplianceClaim, 0, 256>,
    /// How to make the same files again; left out where nobody promises that.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub deterministic: Option<Deterministic>,
    /// The agent's signature over all of the above.
    pub signature: Seal,
}

/// What is claimed about one standard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComplianceClaim {
    /// The standard, such as `jsp-440`.
    pub standard: Text<1, 64>,
    /// What became of it, such as `selected`.
    pub status: Text<1, 64>,
    /// Why it applies.
    pub rationale: Text<1, 2000>,
    /// How many files it was applied to.
    pub files_checked: Whole<0, 10_000>,
    /// The root over the hashes of these files.
    pub hash_subtree: Sha256,
}

/// How to make the same files again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deterministic {
    /// The seed of what was random; null where nothing was.
    #[serde(deserialize_with = "Option::deserialize")]
    pub seed: Option<Text<1, 128>>,
    /// Whether nothing was random.
    pub random_free: bool,
    /// The program with its exact version.
    pub agent_version_pinned: Text<1, 200>,
    /// The command.
    pub reproducible_command: Text<1, 4000>,
    /// What the root over the files will be.
    pub expected_output_hash: Sha256,
}

impl Deterministic {
    /// Returns the promise that this command makes these files again, without anything random.
    pub const fn new(program: Text<1, 200>, command: Text<1, 4000>, output_hash: Sha256) -> Self {
        Self {
            seed: None,
            random_free: true,
            agent_version_pinned: program,
            reproducible_command: command,
            expected_output_hash: output_hash,
        }
    }
}

impl ComplianceClaim {
    /// Returns the claim that a standard was applied to those of these files that name it.
    pub fn new(
        standard: Text<1, 64>,
        status: Text<1, 64>,
        rationale: Text<1, 2000>,
        files: &FileHashes,
    ) -> Result<Self, Error> {
        let tree = Tree::of_standard(files, &standard)?;
        let files_checked = Whole::try_from(tree.len())
            .map_err(|error| FieldError::new("compliance_claims.files_checked", error, tree.len()))?;
        Ok(Self { standard, status, rationale, files_checked, hash_subtree: tree.root() })
    }
}

/// What an attestation says beside its inputs and outputs.
#[derive(Clone, Debug)]
pub struct Particulars {
    /// The name of the attestation.
    pub attestation_id: Uuid,
    /// The version of the program.
    pub agent_version: Text<1, 64>,
    /// The time.
    pub timestamp: Time,
    /// The claims.
    pub compliance_claims: List<ComplianceClaim, 0, 256>,
    /// How to make the same files again.
    pub deterministic: Option<Deterministic>,
}

impl Attestation {
    /// Returns the signed attestation; refused while a gap of the session is open.
    pub fn sign(
        particulars: Particulars,
        plan: &serde_json::Map<String, serde_json::Value>,
        outputs: Outputs,
        record: &AuditRecord,
        signer: &Signer,
    ) -> Result<Self, Error> {
        if !record.all_resolved {
            let expected = "a record with every gap resolved; answer the open gaps first";
            return Err(FieldError::new("all_resolved", expected, "false").into());
        }
        let mut attestation = Self {
            schema: SchemaAddress::Attestation,
            protocol_version: ProtocolVersion::V1_0_0,
            attestation_id: particulars.attestation_id,
            session_id: record.session_id,
            agent_id: signer.agent_id().clone(),
            agent_version: particulars.agent_version,
            agent_public_key: signer.public_key(),
            timestamp: particulars.timestamp,
            inputs: Inputs::new(plan, record)?,
            outputs,
            compliance_claims: particulars.compliance_claims,
            deterministic: particulars.deterministic,
            signature: Seal::NONE,
        };
        attestation.verify_files()?;
        attestation.signature = signer.sign(&attestation.signing_input()?)?;
        Ok(attestation)
    }

    /// Returns the bytes that the signature covers.
    pub fn signing_input(&self) -> Result<Vec<u8>, Error> {
        without(self, &["signature"])
    }

    /// Returns the hash of the whole attestation, signature included: its other name.
    pub fn hash(&self) -> Result<Sha256, Error> {
        Sha256::of(self)
    }

    /// Checks signature, hashes, counts and claims, and that it refers to this very record.
    ///
    /// The record itself is verified by [`AuditRecord::verify`]; whether the files are on the disk, by their
    /// hashes.
    pub fn verify(&self, agent: &KeyHistory, record: &AuditRecord) -> Result<(), Error> {
        agent.expect_name("agent_id", &self.agent_id)?;
        let key = agent.verify("signature", self.timestamp, &self.signing_input()?, &self.signature)?;
        expect("agent_public_key", &key, &self.agent_public_key)?;
        expect("session_id", &record.session_id, &self.session_id)?;
        if !record.all_resolved {
            return Err(FieldError::new("all_resolved", "a record with every gap resolved", "false").into());
        }
        self.inputs.verify(record)?;
        self.verify_files()
    }

    /// Checks what can be checked without the record: the signature by the key it names, its hashes, and that it is of this
    /// session and refers to a record of it.
    pub fn verify_alone(&self, session: Uuid) -> Result<(), Error> {
        expect("session_id", &session, &self.session_id)?;
        self.inputs.verify_alone(session)?;
        let input = self.signing_input()?;
        if self.agent_public_key.bare().verify_foreign(&input, self.signature.bare()).is_err() {
            return Err(FieldError::new("signature", "a signature by agent_public_key", "another").into());
        }
        self.verify_files()
    }

    fn verify_files(&self) -> Result<(), Error> {
        self.outputs.verify()?;
        for claim in &self.compliance_claims {
            let tree = Tree::of_standard(&self.outputs.file_hashes, &claim.standard)?;
            expect("compliance_claims.hash_subtree", &tree.root(), &claim.hash_subtree)?;
            expect("compliance_claims.files_checked", &tree.len(), &claim.files_checked.as_u64())?;
        }
        if let Some(deterministic) = &self.deterministic {
            let found = &deterministic.expected_output_hash;
            expect("deterministic.expected_output_hash", &self.outputs.output_hash, found)?;
        }
        Ok(())
    }
}

/// Checks that a member is what the others say it is.
fn expect<T: PartialEq + ToString>(field: &str, expected: &T, found: &T) -> Result<(), FieldError> {
    if expected == found {
        Ok(())
    } else {
        Err(FieldError::new(field, expected.to_string(), found.to_string()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AttestationSchemaAddress")]
enum SchemaAddress {
    #[serde(rename = "https://workswithagents.dev/specs/attestation-protocol.json")]
    Attestation,
}
