//! The chain of rounds of one session: each follows from the one before, for the agent that writes it and for the
//! auditor who reads it. What breaks it has a name.

use std::collections::BTreeMap;

use thiserror::Error as ThisError;

use crate::{
    Error,
    answer::{self, Answer, AnsweredFor},
    ask::{Ask, RoundNumber},
    error::FieldError,
    gap::{AnswerText, Gap},
    name::GapId,
    round::{Answerer, Round},
    seal::{Seal, Sha256, Signer},
    time::Time,
    uuid::Uuid,
};

/// The rounds of one session so far.
#[derive(Clone, Debug)]
pub struct Chain {
    session_id: Uuid,
    rounds: Vec<Round>,
    head: Option<Sha256>,
    /// The last round of each gap, by its index.
    last: BTreeMap<GapId, usize>,
}

impl Chain {
    /// Returns the chain of a session without rounds.
    pub const fn new(session_id: Uuid) -> Self {
        Self { session_id, rounds: Vec::new(), head: None, last: BTreeMap::new() }
    }

    /// Returns the session.
    pub const fn session_id(&self) -> Uuid {
        self.session_id
    }

    /// Returns the rounds, the first one first.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// Returns the hash of the last round; none without rounds.
    pub const fn head(&self) -> Option<Sha256> {
        self.head
    }

    /// Returns the gaps whose last answer did not settle them.
    pub fn unresolved(&self) -> impl Iterator<Item = &GapId> {
        self.last.iter().filter(|(_, index)| !self.rounds[**index].is_resolved()).map(|(id, _)| id)
    }

    /// Returns those of them that are no longer asked, given which are.
    pub fn withdrawn(&self, is_open: impl Fn(&GapId) -> bool) -> impl Iterator<Item = &GapId> {
        self.unresolved().filter(move |id| !is_open(id))
    }

    /// Returns the signed ask of the next round.
    pub fn ask(&self, gap: Gap, at: Time, agent: &Signer) -> Result<Ask, Error> {
        Ask::sign(self.session_id, self.next_number()?, gap, at, agent)
    }

    /// Adds the round of an answer that its answerer signed.
    pub fn accept(&mut self, ask: &Ask, answer: &Answer, resolved: bool) -> Result<&Round, Error> {
        answer.verify(ask)?;
        // Whoever can sign the ask is the asker, under whatever name.
        let key = answer.answered_by.public_key.bare();
        let is_asker = key.verify_foreign(&ask.signing_input()?, ask.ask_signature.bare()).is_ok();
        if is_asker || answer.answered_by.agent_id == ask.agent_id {
            return Err(Break::SelfAnswer { round: ask.round.as_u64() }.into());
        }
        let reply = (answer.answer.clone(), answer.answer_timestamp, answer.answer_signature);
        let party = Answerer::Party(Box::new(answer.answered_by.clone()));
        self.add(ask, reply, (party, None), resolved)
    }

    /// Adds the round of an answer that the agent was told and signs as recorder.
    pub fn record(
        &mut self,
        ask: &Ask,
        answer: AnswerText,
        at: Time,
        resolved: bool,
        agent: &Signer,
    ) -> Result<&Round, Error> {
        self.record_for(ask, (answer, at), resolved, None, agent)
    }

    /// Adds the round of an answer that the agent was told by somebody whom it names, and signs as recorder.
    pub fn record_for(
        &mut self,
        ask: &Ask,
        (answer, at): (AnswerText, Time),
        resolved: bool,
        answered_for: Option<AnsweredFor>,
        agent: &Signer,
    ) -> Result<&Round, Error> {
        let input = answer::signing_input(ask, agent.agent_id(), (&answer, at), answered_for.as_ref())?;
        self.add(ask, (answer, at, agent.sign(&input)?), (Answerer::Recorder, answered_for), resolved)
    }

    /// Adds a round that was written before, if it follows.
    ///
    /// Its signatures are not checked here: [`AuditRecord::verify`](crate::audit::AuditRecord::verify) does that.
    pub fn push(&mut self, round: Round) -> Result<(), Error> {
        self.follows(&round)?;
        self.head = Some(round.hash()?);
        self.last.insert(round.gap().id().clone(), self.rounds.len());
        self.rounds.push(round);
        Ok(())
    }

    fn add(
        &mut self,
        ask: &Ask,
        reply: (AnswerText, Time, Seal),
        by: (Answerer, Option<AnsweredFor>),
        resolved: bool,
    ) -> Result<&Round, Error> {
        if ask.session_id != self.session_id {
            return Err(FieldError::new("session_id", self.session_id, ask.session_id).into());
        }
        let place = (self.next_number()?, self.head);
        self.push(Round::new(ask, reply, by, resolved, place))?;
        Ok(&self.rounds[self.rounds.len() - 1])
    }

    fn next_number(&self) -> Result<RoundNumber, FieldError> {
        let number = self.rounds.len() as u64 + 1;
        RoundNumber::try_from(number).map_err(|error| FieldError::new("round", error, number))
    }

    /// Checks everything about a round that follows from the rounds before it.
    fn follows(&self, round: &Round) -> Result<(), Break> {
        let (number, expected) = (round.number().as_u64(), self.rounds.len() as u64 + 1);
        if number != expected {
            return Err(Break::RoundNumber { expected, found: number });
        }
        if round.previous_hash() != self.head {
            return Err(Break::PreviousHash { round: number });
        }
        if round.answer_timestamp() < round.ask_timestamp() {
            return Err(Break::AnswerBeforeAsk { round: number });
        }
        let Some(before) = self.last.get(round.gap().id()).map(|index| &self.rounds[*index]) else {
            return Ok(());
        };
        let gap = round.gap().id().clone();
        // A settled gap may get another round: its answer was replaced or taken back. The wording may change when a gap is put again; what it is about may not.
        if before.gap().field() != round.gap().field() || before.gap().severity() != round.gap().severity() {
            return Err(Break::GapChanged { round: number, gap });
        }
        Ok(())
    }
}

/// What breaks a chain of rounds.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Break {
    /// A round was dropped, added or moved.
    #[error("chain: expected round {expected}, found {found}")]
    RoundNumber {
        /// The number that follows.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The round before was changed, or another stood there.
    #[error("chain: expected prev_hash of round {round} to be the hash of the round before, found another")]
    PreviousHash {
        /// The round whose `prev_hash` is wrong.
        round: u64,
    },
    /// An answer is older than its question.
    #[error("chain: expected the answer of round {round} after its ask, found it before")]
    AnswerBeforeAsk {
        /// The round.
        round: u64,
    },
    /// A gap is about another field, or weighs less, than when it was first put.
    #[error(
        "chain: expected {gap} with the field and severity it had before, found another in round {round}"
    )]
    GapChanged {
        /// The round.
        round: u64,
        /// The gap.
        gap: GapId,
    },
    /// The agent did not sign this ask.
    #[error("chain: expected the agent's signature under the ask of round {round}, found another")]
    AskSignature {
        /// The round.
        round: u64,
        /// Why.
        #[source]
        source: Box<Error>,
    },
    /// Whoever answered did not sign this answer.
    #[error("chain: expected the signature of {signer} under the answer of round {round}, found another")]
    AnswerSignature {
        /// The round.
        round: u64,
        /// Who should have signed.
        signer: String,
        /// Why.
        #[source]
        source: Box<Error>,
    },
    /// The agent, under its name or with its key, poses as another party.
    #[error("chain: expected an answer by another party in round {round}, found one by the agent itself")]
    SelfAnswer {
        /// The round.
        round: u64,
    },
    /// `total_rounds` is not the number of rounds.
    #[error("total_rounds: expected {expected}, found {found}")]
    TotalRounds {
        /// How many there are.
        expected: u64,
        /// What the record says.
        found: u64,
    },
    /// `all_resolved` says more than the rounds do.
    #[error("all_resolved: expected false while {gap} is open, found true")]
    AllResolved {
        /// A gap that is open.
        gap: GapId,
    },
    /// The agent did not sign this record.
    #[error("chain_signature: expected the agent's signature under the record, found another")]
    ChainSignature {
        /// Why.
        #[source]
        source: Box<Error>,
    },
    /// The record ends before a round that the reader knows of.
    #[error("chain: expected round {round}, which is known, found {found} rounds; the end was cut off")]
    Truncated {
        /// The round that is known.
        round: u64,
        /// How many there are.
        found: u64,
    },
    /// The record has another round where the reader knows one.
    #[error("chain: expected round {round} with the known hash, found another; the history was rewritten")]
    Rewritten {
        /// The round.
        round: u64,
    },
}
