//! The `needs_clarification` document: a signed refusal that names every open gap (seed 000, 4).
//!
//! `signature` covers the whole document without `signature`, in canonical form.

use demur_core::limit::{List, Whole};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Error,
    error::FieldError,
    gap::{Gap, Severity, repeated},
    keys::KeyHistory,
    name::AgentId,
    read,
    seal::{AgentKey, Seal, Signer, without},
    time::Time,
    uuid::Uuid,
};

/// The open gaps of one session.
pub type Gaps = List<Gap, 1, 256>;

/// How many gaps; no session has more.
pub type Count = Whole<0, 100_000_000>;

/// A refusal that says what is missing. Its counts agree with its gaps, and no gap stands in it twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Document(Wire);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Wire {
    #[serde(rename = "$schema")]
    schema: SchemaAddress,
    protocol_version: ProtocolVersion,
    /// The session.
    session_id: Uuid,
    /// Who asks.
    agent_id: AgentId,
    /// The key it is signed with.
    agent_public_key: AgentKey,
    /// When, by the agent's word.
    timestamp: Time,
    status: Status,
    /// The open gaps, each once.
    gaps: Gaps,
    /// How many gaps were settled so far.
    accepted_gaps: Count,
    /// How many of the open gaps are of severity BLOCK.
    blocking_gaps: Count,
    /// How many of the open gaps are of severity WARN.
    warning_gaps: Count,
    /// The agent's signature over all of the above.
    signature: Seal,
}

impl Document {
    /// Returns the signed document for these open gaps; `accepted` counts those settled so far.
    pub fn sign(
        session_id: Uuid,
        timestamp: Time,
        gaps: Gaps,
        accepted: Count,
        signer: &Signer,
    ) -> Result<Self, Error> {
        let mut document = Self::try_from(Wire {
            schema: SchemaAddress::Clarification,
            protocol_version: ProtocolVersion::V1_0_0,
            session_id,
            agent_id: signer.agent_id().clone(),
            agent_public_key: signer.public_key(),
            timestamp,
            status: Status::NeedsClarification,
            accepted_gaps: accepted,
            blocking_gaps: count(&gaps, Severity::Block)?,
            warning_gaps: count(&gaps, Severity::Warn)?,
            gaps,
            signature: Seal::NONE,
        })?;
        document.0.signature = signer.sign(&document.signing_input()?)?;
        Ok(document)
    }

    /// Returns the bytes that the signature covers.
    pub fn signing_input(&self) -> Result<Vec<u8>, Error> {
        without(&self.0, &["signature"])
    }

    /// Checks that a key of this agent signed the document, and that it is the key the document names.
    pub fn verify(&self, agent: &KeyHistory) -> Result<(), Error> {
        agent.expect_name("agent_id", &self.0.agent_id)?;
        let key = agent.verify("signature", self.0.timestamp, &self.signing_input()?, &self.0.signature)?;
        if key != self.0.agent_public_key {
            return Err(FieldError::new("agent_public_key", key, self.0.agent_public_key).into());
        }
        Ok(())
    }

    /// Returns the session.
    pub const fn session_id(&self) -> Uuid {
        self.0.session_id
    }

    /// Returns who asks.
    pub const fn agent_id(&self) -> &AgentId {
        &self.0.agent_id
    }

    /// Returns the key that the document names; [`verify`](Self::verify) says whether it is the agent's.
    pub const fn agent_public_key(&self) -> &AgentKey {
        &self.0.agent_public_key
    }

    /// Returns when it was made, by the agent's word.
    pub const fn timestamp(&self) -> Time {
        self.0.timestamp
    }

    /// Returns the open gaps.
    pub fn gaps(&self) -> &[Gap] {
        &self.0.gaps
    }

    /// Returns how many gaps were settled so far.
    pub const fn accepted_gaps(&self) -> u64 {
        self.0.accepted_gaps.as_u64()
    }

    /// Returns how many open gaps must be answered.
    pub const fn blocking_gaps(&self) -> u64 {
        self.0.blocking_gaps.as_u64()
    }

    /// Returns how many open gaps must be answered or accepted.
    pub const fn warning_gaps(&self) -> u64 {
        self.0.warning_gaps.as_u64()
    }

    /// Returns the signature.
    pub const fn signature(&self) -> &Seal {
        &self.0.signature
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read::object::<D, Wire, Self>(deserializer)
    }
}

impl TryFrom<Wire> for Document {
    type Error = FieldError;

    fn try_from(wire: Wire) -> Result<Self, FieldError> {
        let ids: Vec<_> = wire.gaps.iter().map(Gap::id).collect();
        if let Some(twice) = repeated(&ids) {
            return Err(FieldError::new("gaps", "each gap once", format!("{twice} twice")));
        }
        for (field, severity, found) in [
            ("blocking_gaps", Severity::Block, wire.blocking_gaps),
            ("warning_gaps", Severity::Warn, wire.warning_gaps),
        ] {
            let expected = count(&wire.gaps, severity)?;
            if found != expected {
                let expected = format!("{expected}, as many as there are in gaps");
                return Err(FieldError::new(field, expected, found));
            }
        }
        Ok(Self(wire))
    }
}

fn count(gaps: &Gaps, severity: Severity) -> Result<Count, FieldError> {
    let count = gaps.iter().filter(|gap| gap.severity() == severity).count() as u64;
    Count::try_from(count).map_err(|error| FieldError::new("gaps", error, count))
}

/// The address of the schema; the same in every document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum SchemaAddress {
    #[serde(rename = "https://workswithagents.dev/specs/clarification-protocol.json")]
    Clarification,
}

/// The version of the protocol; the same in every document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum ProtocolVersion {
    #[serde(rename = "1.0.0")]
    V1_0_0,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    NeedsClarification,
}
