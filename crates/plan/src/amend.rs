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
    session::{Given, OwnWord},
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
        self.answers
            .iter()
            .find(|given| self.place_of(given).is_some_and(|place| plan.value(&place) != Some(&given.value)))
    }

    /// Takes in that the plan is this now.
    pub(crate) fn fold_amendment(&mut self, event: Sequence, plan: Value) -> Result<(), Error> {
        let plan = Plan::try_from(plan)?;
        let mut own = plan.clone();
        for given in &self.answers {
            let Some(place) = self.place_of(given).filter(|place| own.value(place).is_some()) else {
                continue;
            };
            own = match self.own.plan.value(&place) {
                Some(before) => own.with_value(&place, before.clone())?,
                None => own.without(&place),
            };
        }
        (self.own, self.plan) = (OwnWord { plan: own, event }, plan);
        self.lapse()
    }

    /// Returns a plan with every answer that it leaves out, or has as it was before.
    fn with_answers(&self, plan: &Plan) -> Result<Plan, Error> {
        let (rules, mut plan) = (self.rules()?, plan.clone());
        for given in &self.answers {
            let Some(place) = self.place_of(given) else { continue };
            let found = plan.value(&place);
            if found.is_none() || found == self.own.plan.value(&place) {
                plan = rules.with_value(&plan, &place, given.value.clone()).map_err(|_| {
                    Error::FieldAnswered {
                        field: place.to_string(),
                        gap: self.gaps[given.gap].id.to_string(),
                    }
                })?;
            }
        }
        Ok(plan)
    }

    /// Returns where an answer stands in the plan: at the field of its gap, or below it where another answer needed the room; none
    /// where another answer took its place.
    fn place_of(&self, given: &Given) -> Option<FieldPath> {
        let field = &self.gaps[given.gap].field;
        let found = self.plan.value(field)?;
        if *found == given.value {
            return Some(field.clone());
        }
        let members = found.as_object()?;
        let (name, _) = members.iter().find(|(_, value)| **value == given.value)?;
        format!("{field}.{name}").parse().ok()
    }
}
