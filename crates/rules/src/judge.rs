//! What an answer does to a plan (CLR-44). It settles a gap exactly if detection on the plan with the answer no longer
//! finds the same rule at the same field, and finds nothing new at that field.

use std::collections::BTreeSet;

use demur_clarify::name::FieldPath;
use serde_json::Value;

use crate::{
    error::{JudgeError, PlanError},
    finding::{Finding, Settled},
    name,
    plan::Plan,
    rules::Rules,
    table::{Assurance, Kind},
};

/// What an answer does.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// It settles the gap.
    Settles {
        /// The plan with the answer.
        plan: Plan,
        /// What it uncovered at other fields.
        new: Vec<Finding>,
    },
    /// It does not: the gap stays open, the plan stays as it was.
    Escalates {
        /// Why not.
        why: Why,
        /// What detection would find in addition if it were taken as it is.
        new: Vec<Finding>,
    },
}

/// Why an answer does not settle a gap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is not of the kind that was asked for.
    #[error("{field}: expected {expected}, found {found:?}")]
    Kind {
        /// The field.
        field: String,
        /// What was asked for.
        expected: String,
        /// What was answered, shortened.
        found: String,
    },
    /// It cannot be written into the plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// With it, the same rule finds the same gap.
    #[error(
        "{field}: expected an answer that settles rule {rule}, found one with which the gap is still there"
    )]
    StillOpen {
        /// The field.
        field: String,
        /// The rule.
        rule: String,
    },
    /// With it, another rule finds a gap at the field.
    #[error("{field}: expected an answer without a gap of its own, found one of rule {rule}: {question}")]
    NewGap {
        /// The field.
        field: String,
        /// The rule.
        rule: String,
        /// What would have to be asked.
        question: String,
    },
}

impl Rules {
    /// Returns what an answer to a finding of this plan does that comes in as the finding demands. The plan that is handed in does
    /// not change.
    pub fn judge(
        &self,
        plan: &Plan,
        settled: &Settled,
        finding: &Finding,
        answer: &str,
    ) -> Result<Judgement, JudgeError> {
        self.judge_as(plan, settled, finding, (answer, finding.assurance))
    }

    /// Returns the same of an answer that came in with this assurance.
    pub fn judge_as(
        &self,
        plan: &Plan,
        settled: &Settled,
        finding: &Finding,
        (answer, assurance): (&str, Assurance),
    ) -> Result<Judgement, JudgeError> {
        let before = self.detect(plan, settled)?;
        if !before.iter().any(|open| open.is_same(finding)) {
            let (field, rule) = (finding.field.to_string(), finding.rule.to_string());
            return Err(JudgeError::NotOpen { field, rule });
        }
        let answered = match self.with_answer(plan, finding, answer) {
            Ok(answered) => answered,
            Err(why) => return Ok(Judgement::Escalates { why, new: Vec::new() }),
        };
        let mut settled = settled.clone();
        settled.answer(&finding.field, assurance);
        let after = self.detect(&answered, &settled)?;
        let field = finding.field.to_string();
        let still = after.iter().any(|open| open.is_same(finding));
        let known: BTreeSet<_> = before.iter().map(Finding::place).collect();
        let new: Vec<Finding> = after.into_iter().filter(|open| !known.contains(&open.place())).collect();
        if still {
            let why = Why::StillOpen { field, rule: finding.rule.to_string() };
            return Ok(Judgement::Escalates { why, new });
        }
        if let Some(there) = new.iter().find(|open| touches(open.field.as_str(), &field)) {
            let (rule, question) = (there.rule.to_string(), there.question.clone());
            return Ok(Judgement::Escalates { why: Why::NewGap { field, rule, question }, new });
        }
        Ok(Judgement::Settles { plan: answered, new })
    }

    /// Returns a plan with an answer at the field of a finding, as a value of the first kind that it is of. What leaves no
    /// room for the field gives way: names of standards move to the field below, where rules read them as well; of anything else
    /// the question of the finding says that the answer takes its place.
    pub fn with_answer(&self, plan: &Plan, finding: &Finding, answer: &str) -> Result<Plan, Why> {
        self.with_value(plan, &finding.field, finding.read_answer(answer)?)
    }

    /// Returns a plan with a value at a field; what leaves no room for it gives way in the same manner.
    pub fn with_value(&self, plan: &Plan, field: &FieldPath, value: Value) -> Result<Plan, Why> {
        let Some((place, kept)) = plan.in_the_way(field) else {
            return Ok(plan.with_value(field, value)?);
        };
        let room = self.room_below(place, kept);
        let mut cleared = plan.clone();
        if let Some(place) = name::field(place) {
            cleared = cleared.with_value(&place, Value::Null)?;
        }
        if let Some(room) = room {
            cleared = cleared.with_value(room, kept.clone())?;
        }
        Ok(cleared.with_value(field, value)?)
    }

    /// Returns where names of standards move that leave no room for other fields: `compliance: ["GDPR"]` becomes
    /// `compliance: {"standards": ["GDPR"]}` where rules read both. None if they read but one, or it is no name or list.
    pub(crate) fn room_below(&self, place: &str, value: &Value) -> Option<&FieldPath> {
        let standards = self.tables.settings.standards.as_ref()?;
        let below =
            |field: &&FieldPath| field.as_str().strip_prefix(place).is_some_and(|rest| rest.starts_with('.'));
        let named = matches!(value, Value::String(_) | Value::Array(_));
        let read = named && standards.iter().any(|field| field.as_str() == place);
        standards.iter().find(below).filter(|_| read)
    }

    /// Returns where a plan had the value at a field before it moved there to make room; none where nothing moved.
    pub fn moved_from(&self, submitted: &Plan, field: &str) -> Option<String> {
        let standards = self.tables.settings.standards.as_ref()?;
        standards.iter().find_map(|place| {
            let room = self.room_below(place.as_str(), submitted.value(place)?)?;
            let rest = field.strip_prefix(room.as_str())?;
            (rest.is_empty() || rest.starts_with('.')).then(|| format!("{place}{rest}"))
        })
    }
}

impl Finding {
    /// Returns an answer as the value it is by the finding's kinds.
    pub fn read_answer(&self, answer: &str) -> Result<Value, Why> {
        let value = self.kinds.iter().find_map(|kind| kind.read(answer, &self.choices));
        value.ok_or_else(|| {
            let expected = self.kinds.iter().map(|kind| match kind {
                Kind::Choice => format!("one of {}", self.choices.join(", ")),
                other => other.words().to_owned(),
            });
            let expected = expected.collect::<Vec<_>>().join(" or ");
            let found = answer.chars().take(SHOWN).collect();
            Why::Kind { field: self.field.to_string(), expected, found }
        })
    }
}

/// Returns whether one field is the other or lies inside of it.
pub fn touches(one: &str, other: &str) -> bool {
    let inside =
        |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    one == other || inside(one, other) || inside(other, one)
}

/// Characters of an answer that are shown.
const SHOWN: usize = 80;
