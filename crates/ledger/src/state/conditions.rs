//! Conditions of an approval: who showed that they hold for an intent, and on what (LED-10, LED-11).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    GuardError, State, Step,
    tool::{Status, check_ascending},
};
use crate::{
    facts::{CheckStated, ConditionJudged},
    meaning::{Meaning, MeaningError},
    name::Sequence,
    role::Role,
};

/// The conditions of an intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Conditions {
    /// How many there are.
    count: u64,
    shown: BTreeMap<u64, Basis>,
}

/// What shows that a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Basis {
    /// The critic's judgement, as far as it rests on these questions.
    Judgement(Vec<Sequence>),
    /// A check that is true, or of which nobody here can tell.
    Check,
}

impl Conditions {
    /// Returns so many conditions that nobody has shown.
    pub(super) const fn new(count: u64) -> Self {
        Self { count, shown: BTreeMap::new() }
    }
}

impl State {
    pub(super) fn guard_judgement(&self, facts: &ConditionJudged) -> Result<(), GuardError> {
        self.guard_condition("intent", facts.intent, facts.condition.as_u64())?;
        check_ascending("evidence", &facts.evidence)?;
        let known = |at: &Sequence| self.artifacts.contains(*at) || self.questions.find(*at).is_some();
        match facts.evidence.iter().find(|at| !known(at)) {
            Some(sequence) => Err(GuardError::Reference {
                field: "evidence",
                sequence: *sequence,
                expected: "a recorded artifact or a question",
            }),
            None => Ok(()),
        }
    }

    pub(super) fn guard_check(&self, facts: &CheckStated) -> Result<(), GuardError> {
        self.guard_artifact("artifact", facts.artifact)?;
        match facts.condition {
            Some(condition) => self.guard_condition("about", facts.about, condition.as_u64()),
            None if self.claims.contains_key(&facts.about) => Ok(()),
            None => Err(GuardError::Reference {
                field: "about",
                sequence: facts.about,
                expected: "a claim that was neither replaced nor retracted, or an intent with its condition",
            }),
        }
    }

    /// A condition is one of an intent that has not started.
    fn guard_condition(
        &self,
        field: &'static str,
        intent: Sequence,
        condition: u64,
    ) -> Result<(), GuardError> {
        let expected = match self.intents.get(&intent) {
            Some(found) if !matches!(found.status, Status::Signed | Status::Approved(_)) => {
                "an intent that has neither started nor been blocked"
            }
            Some(found) if condition >= found.conditions.count => "an intent that has this condition",
            Some(_) => return Ok(()),
            None => "an intent that was signed before",
        };
        Err(GuardError::Reference { field, sequence: intent, expected })
    }

    pub(super) fn fold_judgement(&mut self, facts: &ConditionJudged) {
        let is_question = |at: &Sequence| self.questions.find(*at).is_some();
        let questions: Vec<_> = facts.evidence.iter().copied().filter(is_question).collect();
        let Some(intent) = self.intents.get_mut(&facts.intent) else { return };
        let condition = facts.condition.as_u64();
        if facts.holds {
            intent.conditions.shown.insert(condition, Basis::Judgement(questions));
        } else {
            intent.conditions.shown.remove(&condition);
        }
    }

    /// Only the critic's check stands in for its judgement, and only one that is not false.
    pub(super) fn fold_check(&mut self, step: &Step<'_>, facts: &CheckStated) {
        self.checks += 1;
        let is_false = outcome(step.known.meaning) == Some(false);
        let Some(condition) = facts.condition.filter(|_| step.said.role == Role::Critic && !is_false) else {
            return;
        };
        if let Some(intent) = self.intents.get_mut(&facts.about) {
            intent.conditions.shown.insert(condition.as_u64(), Basis::Check);
        }
    }

    /// Returns the first condition of an intent in play that nobody has shown to hold.
    pub fn unshown(&self, intent: Sequence) -> Option<u64> {
        let conditions = &self.intents.get(&intent)?.conditions;
        let settled = |question: &Sequence| {
            self.questions.find(*question).is_none_or(|asked| asked.outcome().settles())
        };
        let is_shown = |condition: &u64| match conditions.shown.get(condition) {
            Some(Basis::Judgement(questions)) => questions.iter().all(settled),
            Some(Basis::Check) => true,
            None => false,
        };
        (0..conditions.count).find(|condition| !is_shown(condition))
    }

    /// Nobody claims what a check of their own refutes. What the critic's refutes is disputed.
    pub(super) fn judge_check(step: &Step<'_>, facts: &CheckStated) -> Option<MeaningError> {
        let by_its_side = step.said.role != Role::Critic && facts.condition.is_none();
        let refuted = by_its_side && outcome(step.known.meaning) == Some(false);
        refuted.then_some(MeaningError::CheckFailed { claim: facts.about, artifact: facts.artifact })
    }
}

/// Returns whether the check that an event states is true, where that is known.
fn outcome(meaning: Option<&Meaning>) -> Option<bool> {
    meaning?.check()?.holds
}

/// How many checks a run has at most: whoever verifies evaluates all of them.
pub const MOST_CHECKS: usize = 1024;
