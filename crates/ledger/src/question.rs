//! The questions of a trace: which are open, who may answer, what waits for them (design: one question, many
//! doors; ONE-02, ONE-07, CLR-31, CLR-32, CLR-62, LED-31, AEP-06..08). The same rules run at the desk and in the
//! verifier.

mod effect;
mod error;
mod guard;
mod rested;
mod way;

use std::{collections::BTreeMap, fmt};

use demur_core::{hash::Digest, time::Timestamp};
use serde::{Deserialize, Serialize};

pub(crate) use effect::subject;
pub use effect::{QuestionEffect, question_effect, touched};
pub use error::QuestionError;
pub(crate) use guard::{check_answerers, check_entitled, check_somebody};
pub use rested::{AnswerEnd, RestedBook, RestedEvent};
use way::AnswerWay;

use crate::{
    event_type::Facts,
    facts::{Assurance, Question, QuestionAnswered, QuestionEscalated},
    name::{PrincipalId, Sequence},
    proof::ProofKind,
    role::Role,
    state::Step,
};

/// Every question of a trace by the event that asked it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questions(BTreeMap<Sequence, Asked>);

/// A question as far as later events are decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    hash: Digest,
    /// Whoever asked: the desk, for a gap.
    asker: PrincipalId,
    /// Whether the rules asked, through the desk.
    gap: bool,
    /// For a gap, whoever submitted the plan: it is as much its own question as the desk's.
    submitter: Option<PrincipalId>,
    facts: Question,
    outcome: Outcome,
    /// The way that the answer of a person came.
    way: Option<AnswerWay>,
    /// The newest event that changed it.
    changed: Sequence,
}

/// What became of a question so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Waits for an answer.
    Open,
    /// Somebody answered.
    Answered(Given),
    /// Somebody accepted what it points at.
    Accepted(Given),
    /// Whoever could answer will not. What waits goes on waiting.
    Declined,
    /// The deadline passed. What waits goes on waiting.
    Expired,
    /// The deadline passed, and the declared default holds.
    Defaulted,
    /// The asker no longer needs it.
    Cancelled,
    /// The rules no longer find it.
    Withdrawn,
}

/// An answer by place, author and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The event.
    pub at: Sequence,
    /// Whose key; none for a person.
    pub by: Option<PrincipalId>,
    /// With what assurance.
    pub assurance: Assurance,
    /// When.
    pub time: Timestamp,
}

/// What became of a question, without who did it: what lists are made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// See [`Outcome::Open`].
    Open,
    /// See [`Outcome::Answered`].
    Answered,
    /// See [`Outcome::Accepted`].
    Accepted,
    /// See [`Outcome::Declined`].
    Declined,
    /// See [`Outcome::Expired`].
    Expired,
    /// See [`Outcome::Defaulted`].
    Defaulted,
    /// See [`Outcome::Cancelled`].
    Cancelled,
    /// See [`Outcome::Withdrawn`].
    Withdrawn,
}

impl OutcomeKind {
    /// Every outcome, in the order of the format.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Answered,
        Self::Accepted,
        Self::Declined,
        Self::Expired,
        Self::Defaulted,
        Self::Cancelled,
        Self::Withdrawn,
    ];

    /// Returns the word people read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Defaulted => "defaulted",
            Self::Cancelled => "cancelled",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Returns whether a blocking question with this outcome goes on stopping the agent that asked it: nobody releases itself by
    /// closing a form or by being in a hurry.
    pub const fn stops_asker(self) -> bool {
        match self {
            Self::Open | Self::Declined | Self::Expired => true,
            Self::Answered | Self::Accepted | Self::Defaulted | Self::Cancelled | Self::Withdrawn => false,
        }
    }

    /// Returns the outcome of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Returns whether nobody can answer any more and what waits goes on waiting.
    pub const fn is_left(self) -> bool {
        matches!(self, Self::Declined | Self::Expired)
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Outcome {
    /// Returns the outcome without who did it.
    pub const fn kind(&self) -> OutcomeKind {
        match self {
            Self::Open => OutcomeKind::Open,
            Self::Answered(_) => OutcomeKind::Answered,
            Self::Accepted(_) => OutcomeKind::Accepted,
            Self::Declined => OutcomeKind::Declined,
            Self::Expired => OutcomeKind::Expired,
            Self::Defaulted => OutcomeKind::Defaulted,
            Self::Cancelled => OutcomeKind::Cancelled,
            Self::Withdrawn => OutcomeKind::Withdrawn,
        }
    }

    /// Returns whether what waits for the question may go on.
    pub const fn settles(&self) -> bool {
        match self {
            Self::Answered(_) | Self::Accepted(_) | Self::Defaulted | Self::Cancelled | Self::Withdrawn => {
                true
            }
            Self::Open | Self::Declined | Self::Expired => false,
        }
    }

    /// Returns the answer or acceptance that counts, if there is one.
    pub const fn given(&self) -> Option<Given> {
        match self {
            Self::Answered(given) | Self::Accepted(given) => Some(*given),
            _ => None,
        }
    }

    /// Returns the word people read.
    pub const fn as_str(&self) -> &'static str {
        self.kind().as_str()
    }
}

impl Asked {
    /// Returns what became of it so far.
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns the event whose answer, acceptance or default counts now; none where it is open, was declined, ran out of time or
    /// is no longer needed.
    pub const fn settled_by(&self) -> Option<Sequence> {
        match self.outcome {
            Outcome::Answered(given) | Outcome::Accepted(given) => Some(given.at),
            Outcome::Defaulted => Some(self.changed),
            Outcome::Open
            | Outcome::Declined
            | Outcome::Expired
            | Outcome::Cancelled
            | Outcome::Withdrawn => None,
        }
    }

    /// Returns what was decided when it was asked, or later by an escalation or extension.
    pub const fn facts(&self) -> &Question {
        &self.facts
    }

    /// Returns whoever asked: the desk, for a gap.
    pub const fn asker(&self) -> PrincipalId {
        self.asker
    }

    /// Returns whoever submitted the plan that a gap is in.
    pub const fn submitter(&self) -> Option<PrincipalId> {
        self.submitter
    }

    /// Returns whether the rules found it in a plan.
    pub const fn is_gap(&self) -> bool {
        self.gap
    }

    /// Returns the hash of the event that asked.
    pub const fn hash(&self) -> &Digest {
        &self.hash
    }

    /// Returns the newest event that changed it: the asking, an outcome, other answerers, another deadline. A delivery or
    /// a claim changes nothing.
    pub const fn changed(&self) -> Sequence {
        self.changed
    }

    /// Returns whether an answer comes in time now.
    pub fn in_time(&self, now: Timestamp) -> bool {
        self.facts.deadline.is_none_or(|deadline| now < deadline)
    }
}

impl Questions {
    /// Returns no questions.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Returns every question with what became of it, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Sequence, &Asked)> {
        self.0.iter().map(|(at, asked)| (*at, asked))
    }

    /// Returns the question that this event asked.
    pub fn find(&self, at: Sequence) -> Option<&Asked> {
        self.0.get(&at)
    }

    /// Returns the questions that something still waits for.
    pub fn unsettled(&self) -> impl Iterator<Item = (Sequence, &Asked)> {
        self.iter().filter(|(_, asked)| !asked.outcome.settles())
    }

    /// Returns whether this principal asked, or may answer by name.
    pub fn involves(&self, principal: PrincipalId) -> bool {
        self.0.values().any(|asked| {
            let named = asked.facts.answerers.principals.as_ref();
            asked.asker == principal || named.is_some_and(|named| named.contains(&principal))
        })
    }

    /// Folds an event in that [`Self::guard`] let through.
    pub(crate) fn fold(&mut self, step: &Step<'_>, hash: Digest, submitter: Option<PrincipalId>) {
        if let Some(asked) = subject(step.said.facts).and_then(|question| self.0.get_mut(&question)) {
            // What the asker would answer ends nothing: an ending stays that of whoever brought it about.
            let is_claim = matches!(step.said.facts, Facts::AnswerClaimed(_));
            if !is_claim || asked.outcome == Outcome::Open {
                asked.changed = step.sequence;
            }
        }
        match step.said.facts {
            Facts::QuestionAsked(facts) => self.fold_ask(step, hash, &facts.0, None),
            Facts::GapFound(facts) => self.fold_ask(step, hash, &facts.0, submitter),
            Facts::QuestionAnswered(facts) => self.fold_answer(step, facts),
            Facts::AnswerSuperseded(facts) => self.fold_answer(step, &facts.answer),
            Facts::AnswerRevoked(facts) => self.close(facts.question, Outcome::Open),
            Facts::GapAccepted(facts) => {
                let accepted = Outcome::Accepted(given(step, facts.assurance));
                self.close(facts.question.sequence, accepted);
            }
            Facts::GapWithdrawn(facts) => self.close(facts.question, Outcome::Withdrawn),
            Facts::QuestionDeclined(facts) => self.close(facts.question, Outcome::Declined),
            Facts::QuestionPassedOn(facts) => {
                if let Some(asked) = self.0.get_mut(&facts.question) {
                    asked.facts.answerers = facts.answerers.clone();
                }
            }
            Facts::QuestionEscalated(facts) => self.fold_escalation(facts),
            Facts::QuestionExtended(facts) => {
                if let Some(asked) = self.0.get_mut(&facts.question) {
                    asked.facts.deadline = Some(facts.deadline);
                }
            }
            Facts::QuestionCancelled(facts) => self.close(facts.question, Outcome::Cancelled),
            Facts::QuestionExpired(facts) => self.close(facts.question, Outcome::Expired),
            Facts::QuestionDefaulted(facts) => self.close(facts.question, Outcome::Defaulted),
            _ => {}
        }
    }

    fn fold_ask(&mut self, step: &Step<'_>, hash: Digest, facts: &Question, submitter: Option<PrincipalId>) {
        if let Some(repeated) = facts.repeats {
            // The new question stands in its place.
            self.0.remove(&repeated);
        }
        let (gap, facts, changed) = (step.said.role == Role::Desk, facts.clone(), step.sequence);
        let outcome = Outcome::Open;
        self.0.insert(
            step.sequence,
            Asked { hash, asker: step.actor, gap, submitter, facts, outcome, way: None, changed },
        );
    }

    fn fold_answer(&mut self, step: &Step<'_>, facts: &QuestionAnswered) {
        self.close(facts.question.sequence, Outcome::Answered(given(step, facts.assurance)));
        if let Some(asked) = self.0.get_mut(&facts.question.sequence) {
            asked.way = AnswerWay::of(step, facts.attribution.as_deref());
        }
    }

    fn close(&mut self, question: Sequence, outcome: Outcome) {
        if let Some(asked) = self.0.get_mut(&question) {
            asked.outcome = outcome;
        }
    }

    fn fold_escalation(&mut self, facts: &QuestionEscalated) {
        if let Some(asked) = self.0.get_mut(&facts.question) {
            asked.facts.answerers = facts.answerers.clone();
            asked.facts.assurance = facts.assurance;
            asked.facts.deadline = facts.deadline;
            // A default was declared for a deadline that is over.
            asked.facts.default =
                asked.facts.default && asked.outcome == Outcome::Open && facts.deadline.is_some();
            asked.outcome = Outcome::Open;
        }
    }
}

/// Returns whose key it was; none for a person, who speaks with a passkey or through the desk.
pub(crate) fn author(step: &Step<'_>) -> Option<PrincipalId> {
    (step.proof == ProofKind::Ed25519).then_some(step.actor)
}

fn given(step: &Step<'_>, assurance: Assurance) -> Given {
    Given { at: step.sequence, by: author(step), assurance, time: step.time }
}

/// Operations of a run that its own events stand for: `proposal_created`, `tool_execution_started`, `claim_issued`.
pub(crate) const PROPOSE: &str = "propose";
/// See [`PROPOSE`].
pub(crate) const EXECUTE: &str = "execute";
/// See [`PROPOSE`].
pub(crate) const CLAIM: &str = "claim";
/// What an operation is called in work that was given no name of its own.
pub const UNNAMED: &str = "operation";

/// Keeps the names of operations that events stand for usable as such.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Operation;

    #[test]
    fn every_outcome_is_found_by_its_word() {
        for kind in OutcomeKind::ALL {
            assert_eq!(OutcomeKind::from_word(kind.as_str()), Some(kind));
        }
        assert_eq!(OutcomeKind::from_word("Open"), None);
        assert_eq!(OutcomeKind::from_word(""), None);
    }

    #[test]
    fn operations_of_a_run_are_operations() {
        for name in [PROPOSE, EXECUTE, CLAIM] {
            assert_eq!(Operation::try_from(name.to_owned()).unwrap().as_str(), name);
        }
    }
}
