//! The ask: one gap put to somebody in one round, signed by the agent (seed 000, 5 and 7).
//!
//! `ask_signature` covers the ask without `ask_signature`, and holds the whole gap: what was asked can be checked
//! later without the document it stood in.

use demur_core::limit::Whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    gap::Gap,
    keys::KeyHistory,
    name::AgentId,
    seal::{Seal, Signer, without},
    time::Time,
    uuid::Uuid,
};

/// The number of a round; the first is 1.
pub type RoundNumber = Whole<1, 1000>;

/// One gap put to somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Keeps an ask from being taken for anything else.
    #[serde(rename = "type")]
    kind: AskType,
    /// The session.
    pub session_id: Uuid,
    /// The round.
    pub round: RoundNumber,
    /// Who asks.
    pub agent_id: AgentId,
    /// When, by the agent's word.
    pub ask_timestamp: Time,
    /// What about.
    pub gap: Gap,
    /// The agent's signature over all of the above.
    pub ask_signature: Seal,
}

impl Ask {
    /// Returns the signed ask.
    pub fn sign(
        session_id: Uuid,
        round: RoundNumber,
        gap: Gap,
        at: Time,
        signer: &Signer,
    ) -> Result<Self, Error> {
        let agent_id = signer.agent_id().clone();
        let mut ask = Self::unverified(session_id, round, agent_id, at, gap, Seal::NONE);
        ask.ask_signature = signer.sign(&ask.signing_input()?)?;
        Ok(ask)
    }

    /// Returns an ask put together from its parts; [`verify`](Self::verify) says whether it holds.
    pub const fn unverified(
        session_id: Uuid,
        round: RoundNumber,
        agent_id: AgentId,
        ask_timestamp: Time,
        gap: Gap,
        ask_signature: Seal,
    ) -> Self {
        Self { kind: AskType::Ask, session_id, round, agent_id, ask_timestamp, gap, ask_signature }
    }

    /// Returns the bytes that the signature covers.
    pub fn signing_input(&self) -> Result<Vec<u8>, Error> {
        without(self, &["ask_signature"])
    }

    /// Checks that this agent asked.
    pub fn verify(&self, agent: &KeyHistory) -> Result<(), Error> {
        agent.expect_name("agent_id", &self.agent_id)?;
        agent.verify("ask_signature", self.ask_timestamp, &self.signing_input()?, &self.ask_signature)?;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum AskType {
    #[serde(rename = "wwa.clarification.ask")]
    Ask,
}
