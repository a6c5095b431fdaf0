//! Answers at fields that nothing else in the rules reads: what such an answer changes shows without another look at all of the plan
//! (ONE-12). Whoever asks gets the same as by looking at all of it, or is told to.

use std::collections::BTreeMap;

use demur_clarify::name::FieldPath;
use demur_engine::command::Saying;
use demur_ledger::{name::Sequence, question::Outcome, trace_state::PlanStage};
use demur_rules::{
    Plan, RuleId, Settled,
    detect::{Glance, KnownFindings},
};
use serde_json::Value;

use super::{COST_OF_GAP, Given, Session};
use crate::{Error, gap, session::Gap, view};

/// Where a rule finds a gap.
pub(super) type Place = (RuleId, FieldPath);

/// What an answer came to, and where the rules were asked again for it.
#[derive(Debug)]
pub(super) struct Glanced {
    /// The plan with the answer and what it wrote; none where it settles nothing.
    pub(super) settled: Option<(Plan, Value)>,
    pub(super) places: Vec<Place>,
}

impl Session {
    /// Returns what an answer to a gap comes to in a plan; none where all of the plan has to be looked at. `found` is what the rules find
    /// in it, if that is known, and afterwards what they find with the answer.
    pub(super) fn settling_at_a_glance(
        &self,
        found: &mut Option<KnownFindings>,
        (plan, settled): (&Plan, &Settled),
        given: &Given,
    ) -> Result<Option<Glanced>, Error> {
        let (rules, gap) = (self.rules()?, &self.gaps[given.gap]);
        let Some(place) = rule_and_field(gap).filter(|(_, field)| rules.is_apart(field)) else {
            return Ok(None);
        };
        self.effort.spend(COST_OF_GAP, self.newest_event())?;
        let mut known = if let Some(known) = found.take() {
            known
        } else {
            self.spend(rules, 1)?;
            KnownFindings::new(rules, plan, settled)?
        };
        let said = (given.text.as_str(), gap::surety(given.assurance));
        let Some(finding) = known.at(&place.0, &place.1).cloned() else {
            *found = Some(known);
            return Ok(Some(Glanced { settled: None, places: vec![place] }));
        };
        let glanced = match rules.glance(&known, (plan, settled), &finding, said)? {
            Glance::Unknown => return Ok(None),
            Glance::Escalates => Glanced { settled: None, places: vec![place] },
            Glance::Settles { plan, change } => {
                known.apply(&change);
                let value = finding.read_answer(&given.text).ok();
                // New gaps are put in the order of findings.
                let found = change.found.iter().map(|finding| (finding.rule.clone(), finding.field.clone()));
                let places = found.chain(change.places.iter().cloned()).collect();
                Glanced { settled: value.map(|value| (plan, value)), places }
            }
        };
        *found = Some(known);
        Ok(Some(glanced))
    }

    /// Returns the same as [`Self::due`] where nothing was due before the newest event, an answer.
    pub(crate) fn due_after_answer(&self) -> Result<Vec<Saying>, Error> {
        let (Some(places), Some(found)) = (&self.recent, &self.found) else { return self.due() };
        if self.work.plan() == PlanStage::Withdrawn {
            return self.due();
        }
        self.effort.spend(COST_OF_GAP, self.newest_event())?;
        let (rules, mut known, mut new) = (self.rules()?, BTreeMap::new(), Vec::new());
        for place in places {
            match (self.places.get(place), found.at(&place.0, &place.1)) {
                (Some(gap), finding) => drop(known.insert(*gap, finding)),
                (None, Some(finding)) if !new.contains(&finding) => new.push(finding),
                (None, _) => {}
            }
        }
        let mut sayings = Vec::new();
        for (place, finding) in known {
            let (gap, standing) =
                (&self.gaps[place], self.standing_of(place, |event| self.counts_still(event)));
            sayings.extend(view::due_about((gap, standing), finding, (rules, &self.plan))?);
        }
        for (finding, number) in new.into_iter().zip(self.gaps.len() + 1..) {
            sayings.push(gap::found(finding, &gap::name(number)?, None, rules, &self.plan)?);
        }
        Ok(sayings)
    }

    /// Returns what became of a gap, where these answers count.
    pub(super) fn standing_of(&self, place: usize, counts: impl Fn(Sequence) -> bool) -> view::Standing {
        match self.outcome(&self.gaps[place]) {
            Some(outcome) if !outcome.settles() => view::Standing::Open,
            Some(_) if self.lapsed.contains(&place) => view::Standing::Unresolved,
            Some(Outcome::Answered(given)) if !counts(given.at) => view::Standing::Unresolved,
            _ => view::Standing::Settled,
        }
    }

    /// Forgets what the rules find: plan or acceptances are others now.
    pub(crate) fn forget_found(&mut self) {
        (self.found, self.recent) = (None, None);
    }

    fn counts_still(&self, event: Sequence) -> bool {
        self.answers.binary_search_by_key(&event, |given| given.event).is_ok()
    }
}

/// Returns the rule and the field of a gap; none where it names no rule.
pub(super) fn rule_and_field(gap: &Gap) -> Option<Place> {
    Some((gap.content.rule.as_ref()?.name.as_str().parse().ok()?, gap.field.clone()))
}
