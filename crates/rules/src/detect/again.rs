//! A second look at a plan in which one field changed (ONE-12): where nothing but rows of `[[required]]` reads the field, those rows
//! alone are looked at again. What is found is the same as by looking at all of it; that it is, a test shows.

use std::collections::{BTreeMap, BTreeSet};

use demur_clarify::name::FieldPath;

use super::{MOST_GAPS, Search, order};
use crate::{
    error::TooManyGaps,
    facts::Facts,
    finding::{Condition, Finding, Settled},
    judge::touches,
    name::RuleId,
    plan::Plan,
    rules::Rules,
    table::Assurance,
};

/// What the rules find in a plan, kept for the next look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFindings(BTreeMap<(RuleId, FieldPath), Finding>);

/// What changes in it when a field gets another value.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where the rules were asked again, by rule and field, in the order of findings.
    pub places: Vec<(RuleId, FieldPath)>,
    /// What they find there now, in that order.
    pub found: Vec<Finding>,
}

/// What an answer does, as far as it shows without looking at all of the plan.
#[derive(Clone, Debug)]
pub enum Glance {
    /// It does not show: all of it has to be looked at.
    Unknown,
    /// It settles nothing; plan and findings stay.
    Escalates,
    /// It settles its gap.
    Settles {
        /// The plan with the answer.
        plan: Plan,
        /// What changes in what is found.
        change: Change,
    },
}

impl KnownFindings {
    /// Returns everything that the rules find in a plan.
    pub fn new(rules: &Rules, plan: &Plan, settled: &Settled) -> Result<Self, TooManyGaps> {
        let found = rules.detect(plan, settled)?.into_iter();
        Ok(Self(found.map(|finding| (key(&finding), finding)).collect()))
    }

    /// Returns what a rule finds at a field.
    pub fn at(&self, rule: &RuleId, field: &FieldPath) -> Option<&Finding> {
        self.0.get(&(rule.clone(), field.clone()))
    }

    /// Takes a change in.
    pub fn apply(&mut self, change: &Change) {
        for place in &change.places {
            self.0.remove(place);
        }
        self.0.extend(change.found.iter().map(|finding| (key(finding), finding.clone())));
    }

    /// A field whose name is almost another's may be found otherwise after any change.
    fn has_unread(&self) -> bool {
        // Ids of this table begin alike, so that they stand together.
        let first = (RuleId::of("unread", ""), self.0.keys().next().map(|(_, field)| field.clone()));
        let (rule, Some(field)) = first else { return false };
        let unread = |finding: &Finding| finding.condition == Condition::UnreadField;
        self.0.range((rule, field)..).next().is_some_and(|(_, finding)| unread(finding))
    }
}

impl Rules {
    /// Returns whether a value at this field can be looked at alone: a row of `[[required]]` asks for it, and nothing else in the rules
    /// reads it, or what such rows say that read it.
    pub fn is_apart(&self, field: &FieldPath) -> bool {
        let tables = &self.tables;
        let mut rows = self.index.readers.rows(field).filter_map(|id| tables.required.get(id)).peekable();
        let is_free = |field: &FieldPath| !self.index.readers.is_read_otherwise(field);
        rows.peek().is_some()
            && is_free(field)
            && self.index.readers.asks_for(field)
            && rows.all(|entry| is_free(&entry.row.field))
    }

    /// Returns what an answer to a finding does that came in with this assurance: the same as [`Rules::judge_as`], or that it does not
    /// show. `found` is what the rules find in this plan.
    pub fn glance(
        &self,
        found: &KnownFindings,
        (plan, settled): (&Plan, &Settled),
        finding: &Finding,
        (answer, assurance): (&str, Assurance),
    ) -> Result<Glance, TooManyGaps> {
        let field = &finding.field;
        if !self.is_apart(field) || found.has_unread() || plan.in_the_way(field).is_some() {
            return Ok(Glance::Unknown);
        }
        let Ok(value) = finding.read_answer(answer) else { return Ok(Glance::Escalates) };
        let Ok(answered) = plan.with_value(field, value) else { return Ok(Glance::Escalates) };
        let mut settled = settled.clone();
        settled.answer(field, assurance);
        let change = self.change(found, &answered, &settled, field)?;
        let is_new = |one: &&Finding| found.at(&one.rule, &one.field).is_none();
        let still = change.found.iter().any(|one| one.is_same(finding));
        let touched =
            change.found.iter().filter(is_new).any(|one| touches(one.field.as_str(), field.as_str()));
        if still || touched {
            return Ok(Glance::Escalates);
        }
        Ok(Glance::Settles { plan: answered, change })
    }

    /// Returns what the rows that read a field find in a plan that has another value there.
    fn change(
        &self,
        found: &KnownFindings,
        plan: &Plan,
        settled: &Settled,
        field: &FieldPath,
    ) -> Result<Change, TooManyGaps> {
        let findings = Vec::new();
        // Rows of this table go by nothing that follows from a plan.
        let facts = Facts::default();
        let mut search = Search { rules: self, plan, settled, facts, findings, places: BTreeSet::new() };
        let mut places = Vec::new();
        let rows: BTreeSet<_> = self.index.readers.rows(field).collect();
        for entry in rows.into_iter().filter_map(|id| self.tables.required.get(id)) {
            places.push((RuleId::of("required", entry.row.id.as_str()), entry.row.field.clone()));
            search.required_row(entry)?;
        }
        let mut findings = search.findings;
        findings.sort_by(order);
        let gone = places.iter().filter(|place| found.0.contains_key(place)).count();
        match findings.last() {
            Some(last) if found.0.len() - gone + findings.len() > MOST_GAPS => {
                Err(TooManyGaps { limit: MOST_GAPS, field: last.field.to_string() })
            }
            _ => Ok(Change { places, found: findings }),
        }
    }
}

fn key(finding: &Finding) -> (RuleId, FieldPath) {
    (finding.rule.clone(), finding.field.clone())
}
