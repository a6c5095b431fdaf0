//! The answer: what somebody said to one ask, signed by whoever said it (seed 000, 5 and 7).
//!
//! The signature covers the answer and the signature of the ask, so an answer belongs to one question in one
//! wording. Where the answerer has no key, the agent signs as recorder, and the record says so.

use demur_core::{canonical, limit::Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    ask::{Ask, RoundNumber},
    error::FieldError,
    gap::AnswerText,
    name::{AgentId, GapId},
    read::present,
    seal::{AgentKey, Seal, Signer},
    time::Time,
    uuid::Uuid,
};

/// Whoever answers with a key of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// The name.
    pub agent_id: AgentId,
    /// The key that the signature is checked with. Whether it is this party's, a registry says.
    pub public_key: AgentKey,
    /// Human or agent: a label that no signature of the answerer covers.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kind: Option<PartyKind>,
}

impl Party {
    /// Returns the party with this name and key.
    pub const fn new(agent_id: AgentId, public_key: AgentKey) -> Self {
        Self { agent_id, public_key, kind: None }
    }
}

/// What kind of party answered, by its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartyKind {
    /// A person.
    Human,
    /// A program.
    Agent,
}

/// For whom the agent wrote an answer down, and how it knows that: its own word, under its signature as recorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnsweredFor {
    /// How it knows, in a word of the event format, such as `signed_in`.
    pub assurance: Text<1, 32>,
    /// Who answered.
    pub name: Text<1, 256>,
}

/// A signed answer on its way to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    #[serde(rename = "type")]
    kind: AnswerType,
    /// The session.
    pub session_id: Uuid,
    /// The round.
    pub round: RoundNumber,
    /// The gap.
    pub gap_id: GapId,
    /// What was said.
    pub answer: AnswerText,
    /// When, by the answerer's word.
    pub answer_timestamp: Time,
    /// Which ask it answers.
    pub ask_signature: Seal,
    /// Who answers.
    pub answered_by: Party,
    /// The answerer's signature.
    pub answer_signature: Seal,
}

impl Answer {
    /// Returns the signed answer to this ask.
    pub fn sign(ask: &Ask, answer: AnswerText, at: Time, signer: &Signer) -> Result<Self, Error> {
        let answered_by = Party::new(signer.agent_id().clone(), signer.public_key());
        let input = signing_input(ask, &answered_by.agent_id, (&answer, at), None)?;
        Ok(Self {
            kind: AnswerType::Answer,
            session_id: ask.session_id,
            round: ask.round,
            gap_id: ask.gap.id().clone(),
            answer,
            answer_timestamp: at,
            ask_signature: ask.ask_signature,
            answered_by,
            answer_signature: signer.sign(&input)?,
        })
    }

    /// Returns the answer with this label of its answerer.
    #[must_use]
    pub fn of_kind(mut self, kind: PartyKind) -> Self {
        self.answered_by.kind = Some(kind);
        self
    }

    /// Checks that the answer is to this ask, and that the key it names signed it.
    pub fn verify(&self, ask: &Ask) -> Result<(), Error> {
        for (field, same, expected) in [
            ("session_id", self.session_id == ask.session_id, ask.session_id.to_string()),
            ("round", self.round == ask.round, ask.round.to_string()),
            ("gap_id", self.gap_id == *ask.gap.id(), ask.gap.id().to_string()),
            ("ask_signature", self.ask_signature == ask.ask_signature, ask.ask_signature.to_string()),
        ] {
            if !same {
                return Err(FieldError::new(field, expected, "the value of another ask").into());
            }
        }
        let said = (&self.answer, self.answer_timestamp);
        let input = signing_input(ask, &self.answered_by.agent_id, said, None)?;
        let key = self.answered_by.public_key.bare();
        key.verify_foreign(&input, self.answer_signature.bare()).map_err(|source| Error::Signature {
            field: "answer_signature",
            signer: self.answered_by.agent_id.to_string(),
            source: Some(source),
        })
    }
}

/// Returns the bytes that the signature of an answer covers; `agent_id` names whoever signs, `answered_for` whoever
/// answered where that is somebody else.
pub fn signing_input(
    ask: &Ask,
    agent_id: &AgentId,
    (answer, at): (&AnswerText, Time),
    answered_for: Option<&AnsweredFor>,
) -> Result<Vec<u8>, Error> {
    Ok(canonical::to_vec(&Input {
        kind: AnswerType::Answer,
        session_id: ask.session_id,
        round: ask.round,
        gap_id: ask.gap.id(),
        agent_id,
        answer,
        answer_timestamp: at,
        answered_for,
        ask_signature: ask.ask_signature,
    })?)
}

#[derive(Serialize)]
struct Input<'a> {
    #[serde(rename = "type")]
    kind: AnswerType,
    session_id: Uuid,
    round: RoundNumber,
    gap_id: &'a GapId,
    agent_id: &'a AgentId,
    answer: &'a AnswerText,
    answer_timestamp: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_for: Option<&'a AnsweredFor>,
    ask_signature: Seal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum AnswerType {
    #[serde(rename = "wwa.clarification.answer")]
    Answer,
}
