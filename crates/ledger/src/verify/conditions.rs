//! The conditions of approvals: how the critic judged each for an intent, on what, and which start rests on it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    event_type::Facts,
    facts::{CheckStated, ConditionJudged},
    meaning::Meaning,
    name::Sequence,
    question::{Asked, Questions},
};

/// A condition of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConditionReport {
    /// The intent.
    pub intent: Sequence,
    /// Which of its conditions, from 0.
    pub condition: u64,
    /// The newest judgement of the critic, or the newest check of it that the critic stated.
    pub event: Sequence,
    /// Whether that is a check.
    pub is_check: bool,
    /// Whether it holds; none for a check that could not be evaluated.
    pub holds: Option<bool>,
    /// The artifacts that it rests on.
    pub artifacts: Vec<Sequence>,
    /// The answers that it rests on.
    pub answers: Vec<ConditionAnswer>,
    /// The start of the tool, if it started.
    pub started: Option<Sequence>,
}

/// A question that shows a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConditionAnswer {
    /// The question.
    pub question: Sequence,
    /// The answer that counted when it was judged, if one did.
    pub answer: Option<Sequence>,
    /// Whether that answer counts at the end of the file.
    pub stands: bool,
}

/// The conditions so far, by intent.
#[derive(Debug, Default)]
pub(super) struct ConditionBook(BTreeMap<(Sequence, u64), ConditionReport>);

impl ConditionBook {
    /// Takes an event that the state let through.
    pub(super) fn take(
        &mut self,
        at: Sequence,
        facts: &Facts,
        (meaning, questions, by_critic): (Option<&Meaning>, Option<&Questions>, bool),
    ) {
        match facts {
            Facts::ConditionJudged(facts) => self.judge(at, facts, questions),
            Facts::CheckStated(facts) if by_critic => {
                let holds = meaning.and_then(Meaning::check).and_then(|check| check.holds);
                self.check(at, facts, holds);
            }
            Facts::ToolExecutionStarted(facts) => {
                let of_intent = self.0.range_mut((facts.intent, 0)..=(facts.intent, u64::MAX));
                of_intent.for_each(|(_, condition)| condition.started = Some(at));
            }
            _ => {}
        }
    }

    /// Returns the conditions in the order of their intents, the first of them only where there are many, and how many there are.
    pub(super) fn into_reports(self, questions: Option<&Questions>) -> (Vec<ConditionReport>, u64) {
        let total = self.0.len() as u64;
        let mut reports: Vec<_> = self.0.into_values().take(MAX_CONDITIONS).collect();
        for answer in reports.iter_mut().flat_map(|report| &mut report.answers) {
            answer.stands =
                answer.answer.is_some() && settled_by(questions, answer.question) == answer.answer;
        }
        (reports, total)
    }

    fn judge(&mut self, event: Sequence, facts: &ConditionJudged, questions: Option<&Questions>) {
        let is_question = |at: &Sequence| questions.is_some_and(|all| all.find(*at).is_some());
        let (asked, artifacts): (Vec<_>, Vec<_>) = facts.evidence.iter().copied().partition(is_question);
        let answer =
            |question| ConditionAnswer { question, answer: settled_by(questions, question), stands: false };
        let answers = asked.into_iter().map(answer).collect();
        let (intent, condition) = (facts.intent, facts.condition.as_u64());
        let (is_check, holds, started) = (false, Some(facts.holds), None);
        let report =
            ConditionReport { intent, condition, event, is_check, holds, artifacts, answers, started };
        self.0.insert((intent, condition), report);
    }

    fn check(&mut self, event: Sequence, facts: &CheckStated, holds: Option<bool>) {
        let Some(condition) = facts.condition else { return };
        let (intent, condition) = (facts.about, condition.as_u64());
        let (is_check, artifacts, answers, started) = (true, vec![facts.artifact], Vec::new(), None);
        let report =
            ConditionReport { intent, condition, event, is_check, holds, artifacts, answers, started };
        // A check that is false takes nothing back that was judged.
        let is_shown = self.0.get(&(intent, condition)).is_some_and(|before| before.holds == Some(true));
        if holds != Some(false) || !is_shown {
            self.0.insert((intent, condition), report);
        }
    }
}

fn settled_by(questions: Option<&Questions>, question: Sequence) -> Option<Sequence> {
    questions?.find(question).and_then(Asked::settled_by)
}

/// How many conditions are listed.
const MAX_CONDITIONS: usize = 256;
