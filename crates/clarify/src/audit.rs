//! The audit record: all rounds of a session under one signature (seed 000, 7), and what an auditor can conclude
//! from it offline.
//!
//! `chain_signature` covers the record without `chain_signature`. The record does not name the agent; whoever
//! verifies brings the keys.

use demur_core::limit::{List, Whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error, answer,
    chain::{Break, Chain},
    error::FieldError,
    gap::Gap,
    keys::KeyHistory,
    name::GapId,
    read::present,
    round::{Answerer, Round},
    seal::{Seal, Sha256, Signer, without},
    uuid::Uuid,
};

/// All rounds of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditRecord {
    /// The session.
    pub session_id: Uuid,
    /// The rounds, the first one first.
    pub chain: List<Round, 0, 1000>,
    /// How many rounds there are.
    pub total_rounds: Whole<0, 1000>,
    /// Whether every gap of the session is settled, also those that no round is about yet.
    pub all_resolved: bool,
    /// The gaps whose last answer did not settle them and that are no longer asked: the rules do not find them any more.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub withdrawn_gaps: Option<List<GapId, 1, 1000>>,
    /// The agent's signature over all of the above.
    pub chain_signature: Seal,
}

/// What stands beside the rounds of a record: enough to write it down again where the rounds are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordSeal {
    /// Whether every gap of the session is settled, also those that no round is about yet.
    pub all_resolved: bool,
    /// The agent's signature over the record.
    pub chain_signature: Seal,
    /// The session.
    pub session_id: Uuid,
    /// How many rounds there are.
    pub total_rounds: Whole<0, 1000>,
    /// The gaps that are no longer asked.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub withdrawn_gaps: Option<List<GapId, 1, 1000>>,
}

/// A round that the reader knows of: from a receipt, an earlier record or another party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its number.
    pub round: u64,
    /// Its hash.
    pub hash: Sha256,
}

/// What a verified record shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    head: Option<Sha256>,
    answers: Vec<Answerer>,
}

impl Chain {
    /// Returns the signed record of the rounds so far; `open_gaps` says whether a gap without a round is open.
    pub fn seal(&self, open_gaps: bool, agent: &Signer) -> Result<AuditRecord, Error> {
        self.sealing(!open_gaps && self.unresolved().next().is_none(), None, agent)
    }

    /// Returns the signed record of the rounds so far, where these gaps are open and no other.
    pub fn seal_with(&self, open: &[Gap], agent: &Signer) -> Result<AuditRecord, Error> {
        let withdrawn: Vec<_> = self.withdrawn(|id| open.iter().any(|gap| gap.id() == id)).cloned().collect();
        let count = withdrawn.len();
        let withdrawn = (count > 0).then(|| List::try_from(withdrawn)).transpose();
        let withdrawn = withdrawn.map_err(|error| FieldError::new("withdrawn_gaps", error, count))?;
        self.sealing(open.is_empty(), withdrawn, agent)
    }

    fn sealing(
        &self,
        all_resolved: bool,
        withdrawn_gaps: Option<List<GapId, 1, 1000>>,
        agent: &Signer,
    ) -> Result<AuditRecord, Error> {
        let total = self.rounds().len() as u64;
        let mut record = AuditRecord {
            session_id: self.session_id(),
            chain: List::try_from(self.rounds().to_vec())
                .map_err(|error| FieldError::new("chain", error, total))?,
            total_rounds: Whole::try_from(total)
                .map_err(|error| FieldError::new("total_rounds", error, total))?,
            all_resolved,
            withdrawn_gaps,
            chain_signature: Seal::NONE,
        };
        record.chain_signature = agent.sign(&record.signing_input()?)?;
        Ok(record)
    }

    /// Returns the record that was sealed so over the first of these rounds.
    pub fn sealed(&self, seal: &RecordSeal) -> Result<AuditRecord, Error> {
        let total = seal.total_rounds.as_u64();
        let rounds = usize::try_from(total).ok().and_then(|total| self.rounds().get(..total));
        let short = || FieldError::new("total_rounds", self.rounds().len(), total);
        let rounds = rounds.ok_or_else(short)?.to_vec();
        Ok(AuditRecord {
            session_id: seal.session_id,
            chain: List::try_from(rounds).map_err(|error| FieldError::new("chain", error, total))?,
            total_rounds: seal.total_rounds,
            all_resolved: seal.all_resolved,
            withdrawn_gaps: seal.withdrawn_gaps.clone(),
            chain_signature: seal.chain_signature,
        })
    }
}

impl AuditRecord {
    /// Returns what stands beside its rounds.
    pub fn to_seal(&self) -> RecordSeal {
        RecordSeal {
            all_resolved: self.all_resolved,
            chain_signature: self.chain_signature,
            session_id: self.session_id,
            total_rounds: self.total_rounds,
            withdrawn_gaps: self.withdrawn_gaps.clone(),
        }
    }

    /// Returns the bytes that the signature covers.
    pub fn signing_input(&self) -> Result<Vec<u8>, Error> {
        without(self, &["chain_signature"])
    }

    /// Returns the hash of the whole record, signature included: what an attestation refers to.
    pub fn hash(&self) -> Result<Sha256, Error> {
        Sha256::of(self)
    }

    /// Checks every round, every signature, the totals, and the rounds the reader knows of.
    ///
    /// Without known rounds a record says nothing about rounds that were cut off its end and signed anew.
    pub fn verify(&self, agent: &KeyHistory, known: &[Known]) -> Result<Verified, Error> {
        let mut chain = Chain::new(self.session_id);
        let mut answers = Vec::with_capacity(self.chain.len());
        for round in &self.chain {
            chain.push(round.clone())?;
            answers.push(self.verify_round(round, agent)?);
        }
        self.verify_totals(&chain)?;
        let last = self.chain.last().map(Round::answer_timestamp);
        agent
            .verify_since("chain_signature", last, &self.signing_input()?, &self.chain_signature)
            .map_err(|source| Break::ChainSignature { source: Box::new(source) })?;
        self.verify_known(known)?;
        Ok(Verified { head: chain.head(), answers })
    }

    fn verify_round(&self, round: &Round, agent: &KeyHistory) -> Result<Answerer, Error> {
        let number = round.number().as_u64();
        let ask = round.ask(self.session_id, agent.agent_id().clone());
        ask.verify(agent)
            .map_err(|source| Break::AskSignature { round: number, source: Box::new(source) })?;
        let answerer = round.answerer();
        let keys = match &answerer {
            Answerer::Party(party) if agent.has(&party.public_key) || party.agent_id == *agent.agent_id() => {
                return Err(Break::SelfAnswer { round: number }.into());
            }
            Answerer::Party(party) => &KeyHistory::pinned(party.agent_id.clone(), party.public_key),
            Answerer::Recorder => agent,
        };
        let said = (round.answer(), round.answer_timestamp());
        let input = answer::signing_input(&ask, keys.agent_id(), said, round.answered_for())?;
        keys.verify("answer_signature", round.answer_timestamp(), &input, round.answer_signature()).map_err(
            |source| {
                let signer = keys.agent_id().to_string();
                Break::AnswerSignature { round: number, signer, source: Box::new(source) }
            },
        )?;
        Ok(answerer)
    }

    fn verify_totals(&self, chain: &Chain) -> Result<(), Break> {
        let (expected, found) = (chain.rounds().len() as u64, self.total_rounds.as_u64());
        if found != expected {
            return Err(Break::TotalRounds { expected, found });
        }
        let is_withdrawn = |gap: &&GapId| self.withdrawn_gaps.as_ref().is_some_and(|gone| gone.contains(gap));
        match chain.unresolved().find(|gap| !is_withdrawn(gap)) {
            Some(gap) if self.all_resolved => Err(Break::AllResolved { gap: gap.clone() }),
            _ => Ok(()),
        }
    }

    fn verify_known(&self, known: &[Known]) -> Result<(), Error> {
        for Known { round, hash } in known {
            let index = usize::try_from(*round).unwrap_or(usize::MAX).checked_sub(1);
            match index.and_then(|index| self.chain.get(index)) {
                None => {
                    return Err(Break::Truncated { round: *round, found: self.chain.len() as u64 }.into());
                }
                Some(found) if found.hash()? != *hash => {
                    return Err(Break::Rewritten { round: *round }.into());
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

impl Verified {
    /// Returns the hash of the last round, to be kept; none without rounds.
    pub const fn head(&self) -> Option<Sha256> {
        self.head
    }

    /// Returns how many rounds there are.
    pub fn rounds(&self) -> usize {
        self.answers.len()
    }

    /// Returns whose signature stands under each answer, in the order of rounds.
    pub fn answers(&self) -> &[Answerer] {
        &self.answers
    }

    /// Returns how many answers the agent only recorded.
    pub fn recorded(&self) -> usize {
        self.answers.iter().filter(|answerer| **answerer == Answerer::Recorder).count()
    }
}
