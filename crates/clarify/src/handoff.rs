//! The handoff package: a task given to another agent with everything known about it, the clarification chain
//! included (handoff protocol 1.0.0, 4; seed 000, 9).
//!
//! `sender.identity_sig` covers the package without `sender.identity_sig`. The protocol has no place for chain
//! and attestation; they stand in `context`.

use demur_core::limit::{List, Text, Whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    attestation::Attestation,
    audit::{AuditRecord, Known, Verified},
    error::FieldError,
    keys::KeyHistory,
    name::AgentId,
    read::present,
    seal::{Seal, Signer, without},
    time::Time,
    uuid::Uuid,
};

/// A short note or the name of a thing.
pub type Note = Text<1, 2000>;

/// A task on its way to another agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    /// Its name; a repeated one is a duplicate.
    pub handoff_id: Uuid,
    /// The task.
    pub task_id: Text<1, 200>,
    /// Who gives it away.
    pub sender: Sender,
    /// What is known about it.
    pub context: Context,
    /// What the receiver should check before the task is done.
    pub quality_checklist: List<Note, 0, 256>,
}

/// Who gives a task away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sender {
    /// The agent.
    pub agent_id: AgentId,
    /// The session whose chain is in the context.
    pub session_id: Uuid,
    /// Its signature over the package.
    pub identity_sig: Seal,
}

/// What is known about a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// What is to be done.
    pub task_description: Text<1, 16_000>,
    /// Where the work lies.
    pub workspace_path: Text<0, 1024>,
    /// What state it is in.
    pub state_snapshot: StateSnapshot,
    /// What the sender learned.
    pub agent_memory: AgentMemory,
    /// Which tools the receiver needs.
    pub tools_required: List<Text<1, 200>, 0, 256>,
    /// What limits the work.
    pub constraints: Constraints,
    /// What was asked and answered.
    pub clarification_chain: AuditRecord,
    /// What is finished already.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
}

/// What state the work is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateSnapshot {
    /// The files that were changed.
    pub files_modified: List<Text<1, 1024>, 0, 10_000>,
    /// The branch they are on.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub branch: Option<Text<1, 200>>,
    /// The last commit.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<Text<1, 128>>,
}

/// What the sender learned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentMemory {
    /// What was decided.
    pub key_decisions: List<Note, 0, 256>,
    /// What went wrong before.
    pub discovered_pitfalls: List<Note, 0, 256>,
    /// What is left to do.
    pub pending_items: List<Note, 0, 256>,
}

/// What limits the work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraints {
    /// How many turns the receiver has.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<Whole<0, 1_000_000>>,
    /// When it must be done.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// The standard that it must meet.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub compliance_level: Option<Text<1, 64>>,
}

impl Context {
    /// Returns a context with the description and the chain; the rest is empty.
    pub fn new(
        task_description: Text<1, 16_000>,
        clarification_chain: AuditRecord,
    ) -> Result<Self, FieldError> {
        let workspace_path =
            Text::try_from("").map_err(|error| FieldError::new("context.workspace_path", error, "none"))?;
        Ok(Self {
            task_description,
            workspace_path,
            state_snapshot: StateSnapshot::default(),
            agent_memory: AgentMemory::default(),
            tools_required: List::default(),
            constraints: Constraints::default(),
            clarification_chain,
            attestation: None,
        })
    }
}

impl Handoff {
    /// Returns the signed package.
    pub fn sign(
        handoff_id: Uuid,
        task_id: Text<1, 200>,
        context: Context,
        quality_checklist: List<Note, 0, 256>,
        signer: &Signer,
    ) -> Result<Self, Error> {
        let session_id = context.clarification_chain.session_id;
        let sender = Sender { agent_id: signer.agent_id().clone(), session_id, identity_sig: Seal::NONE };
        let mut handoff = Self { handoff_id, task_id, sender, context, quality_checklist };
        handoff.sender.identity_sig = signer.sign(&handoff.signing_input()?)?;
        Ok(handoff)
    }

    /// Returns the bytes that the signature covers.
    pub fn signing_input(&self) -> Result<Vec<u8>, Error> {
        without(self, &["sender", "identity_sig"])
    }

    /// Checks the sender's signature at the time of receipt, the chain, and the attestation where there is one.
    ///
    /// `asker` are the keys of the agent whose chain this is; often it is the sender. What is still open after
    /// that the receiver has to ask again.
    pub fn verify(
        &self,
        sender: &KeyHistory,
        asker: &KeyHistory,
        received: Time,
        known: &[Known],
    ) -> Result<Verified, Error> {
        sender.expect_name("sender.agent_id", &self.sender.agent_id)?;
        sender.verify("sender.identity_sig", received, &self.signing_input()?, &self.sender.identity_sig)?;
        let chain = &self.context.clarification_chain;
        if chain.session_id != self.sender.session_id {
            return Err(FieldError::new("sender.session_id", chain.session_id, self.sender.session_id).into());
        }
        let verified = chain.verify(asker, known)?;
        if let Some(attestation) = &self.context.attestation {
            attestation.verify(asker, chain)?;
        }
        Ok(verified)
    }
}
