//! A plan is amended by its agent while its gaps are being settled (CLR-34): what was answered stays, gaps keep their names, and
//! the rules are asked again. What somebody answered is not the agent's to change.

use demur_clarify::name::FieldPath;
use demur_engine::command::Consequences;
use demur_ledger::{content::AmendedContent, event_type::Content, facts::PlanAmended, name::Sequence};
use demur_rules::Plan;
use serde_json::Value;

use crate::{
    Error, Session,
    act::{self, Act, members},
    session::{Given, LastWord, OwnWord},
};

impl Session {
    /// Returns the amendment of the plan and what the rules make of it; none where the plan is this already. A field that
    /// somebody answered may be left out, or as it was before the answer: it keeps the answer.
    pub fn amend(&self, plan: &Plan) -> Result<Option<Act>, Error> {
        let plan = self.with_answers(plan)?;
        if let Some(given) = self.changed_answer(&plan) {
            let (field, gap) = (self.field(given).to_owned(), self.gaps[given.gap].id.to_string());
            return Err(Error::FieldAnswered { field, gap });
        }
        if let Some((field, word)) = self.stepped_around(&plan) {
            let (field, gap) = (field.to_string(), self.gaps[word.gap].id.to_string());
            return Err(Error::FieldAnswered { field, gap });
        }
        act::check_room(&plan)?;
        if plan == self.plan {
            return Ok(None);
        }
        let content = AmendedContent { plan: members(&plan) };
        let mut view = self.view_with(plan, &self.answers)?;
        view.lapse()?;
        let due = view.due()?;
        let papers = self.papers(view.open_after(&due)?)?;
        Ok(Some(Act {
            facts: PlanAmended {}.into(),
            content: Content::PlanAmended(content),
            consequences: Consequences { after: self.head(), signing: None, sayings: due },
            papers: Some(Box::new(papers)),
        }))
    }

    /// Returns an answer that counts and that this plan does not have where it was given.
    pub(crate) fn changed_answer(&self, plan: &Plan) -> Option<&Given> {
        let is_changed = |given: &&Given| {
            self.place_of(given).is_some_and(|(place, value)| plan.value(&place) != Some(value))
        };
        self.answers.iter().find(is_changed)
    }

    /// Returns a field that this plan sets in the place of somebody's last word about it, which settled nothing.
    pub(crate) fn stepped_around(&self, plan: &Plan) -> Option<(&FieldPath, &LastWord)> {
        let is_set = |(field, word): &(&FieldPath, &LastWord)| {
            let found = plan.value(field);
            found.is_some() && found != self.plan.value(field) && found != word.value.as_ref()
        };
        self.last_words.iter().find(is_set)
    }

    /// Takes in that the plan is this now.
    pub(crate) fn fold_amendment(&mut self, event: Sequence, plan: Value) -> Result<(), Error> {
        let plan = Plan::try_from(plan)?;
        let mut own = plan.clone();
        for given in &self.answers {
            let place = self.place_of(given).map(|(place, _)| place);
            let Some(place) = place.filter(|place| own.value(place).is_some()) else {
                continue;
            };
            own = match self.own.plan.value(&place) {
                Some(before) => own.with_value(&place, before.clone())?,
                None => own.without(&place),
            };
        }
        (self.own, self.plan) = (OwnWord { plan: own, event }, plan);
        self.forget_found();
        self.lapse()
    }

    /// Returns a plan with every answer that it leaves out, or has as it was before.
    fn with_answers(&self, plan: &Plan) -> Result<Plan, Error> {
        let (rules, mut plan) = (self.rules()?, plan.clone());
        for given in &self.answers {
            let Some((place, value)) = self.place_of(given) else { continue };
            let found = plan.value(&place);
            if found.is_none() || found == self.own.plan.value(&place) {
                plan = rules.with_value(&plan, &place, value.clone()).map_err(|_| Error::FieldAnswered {
                    field: place.to_string(),
                    gap: self.gaps[given.gap].id.to_string(),
                })?;
            }
        }
        Ok(plan)
    }

    /// Returns whether this is the newest plan of the session, as its agent amended it last.
    pub(crate) fn is_newest(&self, plan: &Plan) -> bool {
        let is_amended = self.own.event != Sequence::FIRST;
        is_amended && self.with_answers(plan).is_ok_and(|plan| plan == self.plan)
    }

    /// Returns where an answer stands in the plan, and what stands there: at the field of its gap, or below it where another
    /// answer needed the room. Where a later answer replaced a part of it, that is what both made of it; none where a later
    /// answer took its place.
    fn place_of(&self, given: &Given) -> Option<(FieldPath, &Value)> {
        let field = &self.gaps[given.gap].field;
        let found = self.plan.value(field)?;
        if *found == given.value {
            return Some((field.clone(), found));
        }
        let moved = found.as_object().and_then(|members| {
            let (name, value) = members.iter().find(|(_, value)| **value == given.value)?;
            Some((format!("{field}.{name}").parse().ok()?, value))
        });
        moved.or_else(|| self.is_replaced_below(given).then(|| (field.clone(), found)))
    }

    fn is_replaced_below(&self, given: &Given) -> bool {
        let below = format!("{}.", self.gaps[given.gap].field);
        let is_below = |other: &Given| self.gaps[other.gap].field.as_str().starts_with(&below);
        self.answers.iter().any(|other| other.event > given.event && is_below(other))
    }
}
