//! The round: one ask and one answer as they stand in the audit record (seed 000, 7), with the hash of the round
//! before.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Error,
    answer::{AnsweredFor, Party},
    ask::{Ask, RoundNumber},
    error::FieldError,
    gap::{AnswerText, Gap},
    name::AgentId,
    read::{self, present},
    seal::{Seal, Sha256},
    time::Time,
    uuid::Uuid,
};

/// Whose signature stands under an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// The answering party's own.
    Party(Box<Party>),
    /// The agent's, which wrote down what it was told: recorded, not proven.
    Recorder,
}

/// One ask and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Round(Wire);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, extend("oneOf" = [{"required": ["answered_by"]}, {"required": ["answer_signer"]}]))]
struct Wire {
    /// Its number; the first is 1.
    round: RoundNumber,
    /// The number under which the gap was put: asks are counted by themselves.
    ask_round: RoundNumber,
    /// When the agent asked, by its word.
    ask_timestamp: Time,
    /// The agent's signature over the ask.
    ask_signature: Seal,
    /// The whole gap as it was asked.
    gap: Gap,
    /// When the answer was given, by the word of whoever signed it.
    answer_timestamp: Time,
    /// What was said.
    answer: AnswerText,
    /// The signature over the answer.
    answer_signature: Seal,
    /// Who signed the answer; left out where the agent did.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    answered_by: Option<Party>,
    /// Says that the agent signed; left out where `answered_by` stands.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    answer_signer: Option<AnswerSigner>,
    /// For whom the agent signed, by its word; left out where `answered_by` stands.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    answered_for: Option<AnsweredFor>,
    /// Whether the answer settled the gap.
    resolved: bool,
    /// The hash of the round before; null in the first.
    #[serde(deserialize_with = "Option::deserialize")]
    prev_hash: Option<Sha256>,
}

impl Round {
    pub(crate) fn new(
        ask: &Ask,
        reply: (AnswerText, Time, Seal),
        (answerer, answered_for): (Answerer, Option<AnsweredFor>),
        resolved: bool,
        (round, prev_hash): (RoundNumber, Option<Sha256>),
    ) -> Self {
        let (answer, answer_timestamp, answer_signature) = reply;
        let (answered_by, answer_signer) = match answerer {
            Answerer::Party(party) => (Some(*party), None),
            Answerer::Recorder => (None, Some(AnswerSigner::Recorder)),
        };
        Self(Wire {
            round,
            ask_round: ask.round,
            ask_timestamp: ask.ask_timestamp,
            ask_signature: ask.ask_signature,
            gap: ask.gap.clone(),
            answer_timestamp,
            answer,
            answer_signature,
            answered_by,
            answer_signer,
            answered_for,
            resolved,
            prev_hash,
        })
    }

    /// Returns its number; the first is 1.
    pub const fn number(&self) -> RoundNumber {
        self.0.round
    }

    /// Returns the gap it is about.
    pub const fn gap(&self) -> &Gap {
        &self.0.gap
    }

    /// Returns when the agent asked, by its word.
    pub const fn ask_timestamp(&self) -> Time {
        self.0.ask_timestamp
    }

    /// Returns the agent's signature under the ask.
    pub const fn ask_signature(&self) -> &Seal {
        &self.0.ask_signature
    }

    /// Returns when the answer was given, by the word of whoever signed it.
    pub const fn answer_timestamp(&self) -> Time {
        self.0.answer_timestamp
    }

    /// Returns what was answered.
    pub const fn answer(&self) -> &AnswerText {
        &self.0.answer
    }

    /// Returns the signature under the answer.
    pub const fn answer_signature(&self) -> &Seal {
        &self.0.answer_signature
    }

    /// Returns whose signature that is.
    pub fn answerer(&self) -> Answerer {
        self.0.answered_by.clone().map_or(Answerer::Recorder, |party| Answerer::Party(Box::new(party)))
    }

    /// Returns for whom the agent signed, by its word.
    pub const fn answered_for(&self) -> Option<&AnsweredFor> {
        self.0.answered_for.as_ref()
    }

    /// Returns whether the answer settled the gap.
    pub const fn is_resolved(&self) -> bool {
        self.0.resolved
    }

    /// Returns the hash of the round before; none in the first.
    pub const fn previous_hash(&self) -> Option<Sha256> {
        self.0.prev_hash
    }

    /// Returns the hash of this round: SHA-256 over its canonical form.
    pub fn hash(&self) -> Result<Sha256, Error> {
        Sha256::of(self)
    }

    /// Returns the ask as it was signed; the record keeps session and agent outside of its rounds.
    pub fn ask(&self, session_id: Uuid, agent_id: AgentId) -> Ask {
        let Wire { ask_round, ask_timestamp, ask_signature, ref gap, .. } = self.0;
        Ask::unverified(session_id, ask_round, agent_id, ask_timestamp, gap.clone(), ask_signature)
    }
}

impl<'de> Deserialize<'de> for Round {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read::object::<D, Wire, Self>(deserializer)
    }
}

impl TryFrom<Wire> for Round {
    type Error = FieldError;

    fn try_from(wire: Wire) -> Result<Self, FieldError> {
        if wire.answered_by.is_some() && wire.answered_for.is_some() {
            let expected = "no such member beside answered_by";
            return Err(FieldError::new("answered_for", expected, "one"));
        }
        match (&wire.answered_by, wire.answer_signer) {
            (Some(_), None) | (None, Some(AnswerSigner::Recorder)) => Ok(Self(wire)),
            (both, _) => {
                let found = if both.is_some() { "both" } else { "none" };
                Err(FieldError::new("answered_by", "one of answered_by and answer_signer", found))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AnswerSigner {
    Recorder,
}
