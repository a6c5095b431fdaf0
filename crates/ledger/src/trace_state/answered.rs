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

/// What was answered to the gaps of a plan, as far as the words are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AnsweredFields {
    /// The field of every gap by the event that asked, with the newest answer.
    gaps: BTreeMap<Sequence, AnsweredField>,
    /// The last yes or no at a field whose gap it did not settle, with the question. It is still what somebody said about it, until
    /// somebody says something else.
    unsettled: BTreeMap<Box<str>, (Sequence, bool)>,
    /// The newest event that changed the plan or what was answered.
    changed: Option<Sequence>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AnsweredField {
    field: Box<str>,
    /// The event with the newest answer.
    at: Option<Sequence>,
    /// What that says, where it is known.
    answer: Option<AnswerMeaning>,
}

impl AnsweredFields {
    /// Adds a demand for every answer that counts and does not stand in this plan. Where answers meet, the later one stands.
    pub(super) fn judge(
        &self,
        plan: &Map<String, Value>,
        questions: &Questions,
        broken: &mut Vec<MeaningError>,
    ) {
        let counts = |question: Sequence| {
            questions.find(question).is_some_and(|asked| matches!(asked.outcome(), Outcome::Answered(_)))
        };
        let counting = || self.gaps.iter().filter(|(question, _)| counts(**question));
        let mut newest = NewestAnswers::default();
        for (_, answered) in counting() {
            newest.note(&answered.field, answered.at);
        }
        for (question, AnsweredField { field, at, answer }) in counting() {
            let Some(answer) = answer.as_ref().filter(|_| !newest.replaces(field, *at)) else { continue };
            let stands = |value| {
                stands_in(value, answer)
                    || answer.is_but(value, |place| newest.is_at(&format!("{field}.{place}"), *at))
            };
            if !find(plan, field).is_some_and(stands) {
                broken.push(MeaningError::FieldAnswered { question: *question, field: field.clone() });
            }
        }
        for (field, (question, said)) in &self.unsettled {
            if find(plan, field).and_then(Value::as_bool).is_some_and(|set| set != *said) {
                broken.push(MeaningError::FieldAnswered { question: *question, field: field.clone() });
            }
        }
    }

    /// Folds an event in that the guards let through.
    pub(super) fn fold(&mut self, step: &Step<'_>) {
        match (step.said.facts, step.known.meaning) {
            (Facts::GapFound(facts), meaning) => {
                let repeated = facts.0.repeats.and_then(|at| Some((at, self.gaps.remove(&at)?)));
                if let Some((question, answered)) = repeated {
                    self.keep_unsettled(question, answered);
                }
                if let Some(Meaning::Field(field)) = meaning {
                    let field = AnsweredField { field: field.clone(), at: None, answer: None };
                    self.gaps.insert(step.sequence, field);
                }
            }
            (Facts::QuestionAnswered(facts), meaning) => {
                self.answer(facts.question.sequence, step.sequence, meaning);
            }
            (Facts::AnswerSuperseded(facts), meaning) => {
                self.answer(facts.answer.question.sequence, step.sequence, meaning);
            }
            (Facts::AnswerRevoked(_) | Facts::GapAccepted(_) | Facts::PlanAmended(_), _) => {
                self.changed = Some(step.sequence);
            }
            _ => {}
        }
    }

    /// A gap that is put again right after its answer was not settled by it. One that is put again later was, until the plan changed.
    fn keep_unsettled(&mut self, question: Sequence, answered: AnsweredField) {
        let is_newest = answered.at.is_some() && answered.at == self.changed;
        let said = answered.answer.filter(|_| is_newest).and_then(|answer| answer.as_bool());
        if let Some(said) = said {
            self.unsettled.insert(answered.field, (question, said));
        }
    }

    fn answer(&mut self, question: Sequence, at: Sequence, meaning: Option<&Meaning>) {
        self.changed = Some(at);
        if let Some(answered) = self.gaps.get_mut(&question) {
            self.unsettled.remove(&answered.field);
            answered.at = Some(at);
            answered.answer = match meaning {
                Some(Meaning::Answer(found)) => Some(found.clone()),
                _ => None,
            };
        }
    }
}

/// The event with the newest answer to each field.
#[derive(Default)]
struct NewestAnswers<'a>(BTreeMap<&'a str, Sequence>);

impl<'a> NewestAnswers<'a> {
    fn note(&mut self, field: &'a str, at: Option<Sequence>) {
        if let Some(at) = at {
            let newest = self.0.entry(field).or_insert(at);
            *newest = at.max(*newest);
        }
    }

    /// Returns whether a later answer is to this very field, or to something that it is part of.
    fn replaces(&self, field: &str, at: Option<Sequence>) -> bool {
        let parents = field.match_indices('.').map(|(end, _)| &field[..end]);
        parents.chain([field]).any(|place| is_later(self.0.get(place), at))
    }

    /// Returns whether a later answer is to this place or to something below it.
    fn is_at(&self, place: &str, at: Option<Sequence>) -> bool {
        let below = format!("{place}.");
        let mut parts = self.0.range(below.as_str()..).take_while(|(field, _)| field.starts_with(&below));
        is_later(self.0.get(place), at) || parts.any(|(_, newest)| is_later(Some(newest), at))
    }
}

/// Returns whether an answer came after another.
fn is_later(newest: Option<&Sequence>, at: Option<Sequence>) -> bool {
    newest.copied() > at
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
