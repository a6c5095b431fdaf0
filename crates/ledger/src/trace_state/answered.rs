//! What was answered to the gaps of a plan: an amended plan has it, unchanged (`docs/format.md` 11).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    event_type::Facts,
    meaning::{AnswerMeaning, Meaning, MeaningError},
    name::Sequence,
    question::{Outcome, Questions},
    state::Step,
};

/// The field of every gap by the event that asked, with the newest answer; as far as the words are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AnsweredFields(BTreeMap<Sequence, (Box<str>, Option<AnswerMeaning>)>);

impl AnsweredFields {
    /// Adds a demand for every answer that counts and does not stand in this plan.
    pub(super) fn judge(
        &self,
        plan: &Map<String, Value>,
        questions: &Questions,
        broken: &mut Vec<MeaningError>,
    ) {
        for (question, (field, answer)) in &self.0 {
            let counts = questions
                .find(*question)
                .is_some_and(|asked| matches!(asked.outcome(), Outcome::Answered(_)));
            let Some(answer) = answer.filter(|_| counts) else { continue };
            if !find(plan, field).is_some_and(|value| stands_in(value, &answer)) {
                broken.push(MeaningError::FieldAnswered { question: *question, field: field.clone() });
            }
        }
    }

    /// Folds an event in that the guards let through.
    pub(super) fn fold(&mut self, step: &Step<'_>) {
        match (step.said.facts, step.known.meaning) {
            (Facts::GapFound(facts), meaning) => {
                if let Some(repeated) = facts.0.repeats {
                    self.0.remove(&repeated);
                }
                if let Some(Meaning::Field(field)) = meaning {
                    self.0.insert(step.sequence, (field.clone(), None));
                }
            }
            (Facts::QuestionAnswered(facts), meaning) => self.answer(facts.question.sequence, meaning),
            (Facts::AnswerSuperseded(facts), meaning) => {
                self.answer(facts.answer.question.sequence, meaning);
            }
            _ => {}
        }
    }

    fn answer(&mut self, question: Sequence, meaning: Option<&Meaning>) {
        if let Some((_, answer)) = self.0.get_mut(&question) {
            *answer = match meaning {
                Some(Meaning::Answer(found)) => Some(*found),
                _ => None,
            };
        }
    }
}

/// Returns whether a value is this answer. Where another answer needed room below the field, a member of what is there now may be.
fn stands_in(value: &Value, answer: &AnswerMeaning) -> bool {
    let below = |members: &Map<String, Value>| members.values().any(|value| answer.is(value));
    answer.is(value) || value.as_object().is_some_and(below)
}

/// Returns the value at a dotted path.
fn find<'a>(plan: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = plan.get(names.next()?)?;
    names.try_fold(first, |place, name| match place {
        Value::Object(members) => members.get(name),
        Value::Array(entries) => entries.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}
