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
    question::Asked,
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
    /// The critic's judgement, as far as it rests on questions: each with the event that settled it then.
    Judgement(Vec<(Sequence, Option<Sequence>)>),
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

    /// A critic that shows a condition by a question goes by what was settled: what nobody answered shows nothing.
    pub(super) fn judge_judgement(&self, facts: &ConditionJudged) -> Option<MeaningError> {
        let is_unsettled =
            |at: &&Sequence| self.questions.find(**at).is_some_and(|asked| asked.settled_by().is_none());
        let question = facts.evidence.iter().find(is_unsettled).filter(|_| facts.holds)?;
        Some(MeaningError::ConditionUnanswered { condition: facts.condition.as_u64(), question: *question })
    }

    pub(super) fn fold_judgement(&mut self, facts: &ConditionJudged) {
        let settled = |at: &Sequence| Some((*at, self.questions.find(*at)?.settled_by()));
        let questions = facts.evidence.iter().filter_map(settled).collect();
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
        // An answer that was replaced or taken back since then is another one.
        let stands = |(question, settled_by): &(Sequence, Option<Sequence>)| {
            let now = self.questions.find(*question).and_then(Asked::settled_by);
            now.is_some() && now == *settled_by
        };
        let is_shown = |condition: &u64| match conditions.shown.get(condition) {
            Some(Basis::Judgement(questions)) => questions.iter().all(stands),
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
