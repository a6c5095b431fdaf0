//! A gap of a session: what was asked, in which words, and what the asker would answer.

use demur_clarify::{
    gap as clarify,
    name::{FieldPath, GapId},
};
use demur_core::{
    canonical,
    limit::{List, Whole},
};
use demur_engine::command::Saying;
use demur_ledger::{
    content::{QuestionContent, Shown, Wording},
    event_type::{Content, Facts},
    facts::{Assurance, Question, Severity},
    name::{Operation, Position, Sequence},
};
use demur_rules::Finding;
use serde_json::Value;

use crate::{Error, error::limit, gap, paper::UnsignedRound};

/// A gap of the session.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Its name in the session.
    pub id: GapId,
    /// The event that asked, the last time.
    pub question: Position,
    /// The field of the plan.
    pub field: FieldPath,
    /// The words.
    pub content: QuestionContent,
    pub(crate) facts: Question,
    /// What was at the field when it was put, the last time.
    pub(crate) asked: Option<Value>,
}

impl Gap {
    /// Returns whether an operation waits for it.
    pub fn blocks(&self, operation: &Operation) -> bool {
        self.facts.blocks.contains(operation)
    }
}

/// What whoever submitted the plan would answer to a gap. It settles nothing: somebody else answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The gap's name in the session.
    pub gap: GapId,
    /// The event that asked.
    pub question: Sequence,
    /// The answer as it would be typed.
    pub answer: String,
    /// The event that says so.
    pub event: Sequence,
}

impl Gap {
    /// Returns the gap as the clarification protocol writes it.
    pub fn to_clarify(&self) -> Result<clarify::Gap, Error> {
        gap::to_clarify(&self.id, &self.field, &self.facts, &self.content)
    }

    /// Returns whether an answer has to be one of those that are named.
    pub fn is_closed(&self) -> bool {
        gap::is_closed(&self.facts)
    }

    /// Returns what somebody sees who is shown the usual wording and all choices in the asker's order.
    pub fn shown(&self) -> Result<Shown, Error> {
        let choices = (0..self.content.choices.len() as u64).map(Whole::try_from);
        let choices = choices.collect::<Result<Vec<_>, _>>().map_err(limit("choices"))?;
        Ok(Shown {
            choices: List::try_from(choices).map_err(limit("choices"))?,
            language: self.content.language.clone(),
            recommendation: self.content.recommendation.is_some(),
            wording: Wording::Normal,
        })
    }

    /// Returns how much depends on it.
    pub const fn severity(&self) -> Severity {
        self.facts.severity
    }

    pub(crate) fn is_of(&self, finding: &Finding) -> bool {
        self.place() == Some(finding.place())
    }

    /// Returns rule and field, by which the rules tell gaps apart; none where no rule is named.
    pub(crate) fn place(&self) -> Option<(&str, &str)> {
        Some((self.content.rule.as_ref()?.name.as_str(), self.field.as_str()))
    }

    /// Returns whether the desk would ask this again in the same words, about the same values.
    pub(crate) fn asks_the_same(&self, again: &Saying) -> bool {
        let (Facts::GapFound(facts), Some(Content::GapFound(content))) = (&again.facts, &again.content)
        else {
            return false;
        };
        let facts = Question { repeats: self.facts.repeats, ..facts.0.clone() };
        let content = QuestionContent { ask: self.content.ask.clone(), ..content.clone() };
        facts == self.facts && content == self.content
    }

    /// Returns an answer to it as a round that is not signed yet.
    pub(crate) fn round_of(
        &self,
        answer: &str,
        (resolved, assurance): (bool, Assurance),
    ) -> Result<UnsignedRound, Error> {
        let expected = "the signed ask of a gap";
        let unreadable = || Error::Trace { at: self.question.sequence, expected };
        let ask = self.content.ask.as_ref().ok_or_else(unreadable)?;
        let ask = canonical::to_vec(ask).map_err(|_| unreadable())?;
        let ask = demur_clarify::read::from_slice(&ask)?;
        let answer = clarify::AnswerText::cut(answer).map_err(limit("answer"))?;
        Ok(UnsignedRound { ask, answer, resolved, assurance })
    }
}
