//! Detection: which gaps a plan has by a set of rules. The same plan, rules and acceptances always give the same
//! findings in the same order: by condition (in the seed's order), then rule, then field.

mod again;
mod mismatches;
mod names;
mod policies;
mod rows;
mod unread;

pub use again::{Change, Glance, KnownFindings};

use std::{borrow::Cow, cmp::Ordering, collections::BTreeSet, fmt::Write as _};

use demur_clarify::{
    gap::Severity,
    name::{FieldPath, Operation},
};
use serde_json::Value;

use crate::{
    error::TooManyGaps,
    facts::Facts,
    finding::{Condition, Finding, Settled},
    name::{self, RuleId},
    plan::{self, Plan},
    rules::Rules,
    table::{Assurance, Kind, Operations},
    wording::{self, Word},
};

impl Rules {
    /// Returns the gaps of a plan, without the warnings that were accepted.
    pub fn detect(&self, plan: &Plan, settled: &Settled) -> Result<Vec<Finding>, TooManyGaps> {
        let mut search = Search {
            rules: self,
            plan,
            settled,
            facts: Facts::new(self, plan),
            findings: Vec::new(),
            places: BTreeSet::new(),
        };
        search.required()?;
        search.ambiguous()?;
        search.unclear_names()?;
        search.overlaps()?;
        search.mismatches()?;
        search.languages()?;
        search.policies()?;
        search.unread()?;
        let mut findings = search.findings;
        findings.sort_by(order);
        Ok(findings)
    }

    /// Returns for each gap which pack, row or policy made it and what in the plan made that apply, one line each.
    pub fn explain(&self, plan: &Plan, settled: &Settled) -> Result<Vec<String>, TooManyGaps> {
        let findings = self.detect(plan, settled)?;
        Ok(findings.iter().map(|finding| format!("{}: {}", finding.field, finding.because)).collect())
    }
}

/// A plan being looked at.
struct Search<'a> {
    rules: &'a Rules,
    plan: &'a Plan,
    settled: &'a Settled,
    facts: Facts<'a>,
    findings: Vec<Finding>,
    /// The rules and fields of the findings.
    places: BTreeSet<(RuleId, FieldPath)>,
}

/// What a row says about the gap it makes.
struct Draft<'a> {
    rule: RuleId,
    condition: Condition,
    field: String,
    severity: Severity,
    question: String,
    context: String,
    suggestions: Vec<String>,
    choices: Vec<String>,
    kinds: &'a [Kind],
    blocks: Option<&'a Operations>,
    assurance: Assurance,
    because: String,
}

impl<'a> Search<'a> {
    /// Returns the value at the field of a rule; none where the rule states an assurance and what is there has a lesser source.
    fn given(&self, field: &str, least: Assurance) -> Option<&'a Value> {
        let plan: &'a Plan = self.plan;
        plan::at(plan.as_value(), field).filter(|_| self.settled.is_sure(field, least))
    }
}

impl Search<'_> {
    /// Takes up a finding, unless it was accepted or is there already.
    fn add(&mut self, mut draft: Draft<'_>) -> Result<(), TooManyGaps> {
        // Paths of a plan and of rows were checked when they were read; nothing else becomes a field.
        let Some(field) = name::field(&draft.field) else { return Ok(()) };
        if let Some((place, value)) = self.plan.in_the_way(&field)
            && self.rules.room_below(place, value).is_none()
        {
            draft.question = format!("{} {}", self.obstacle(&field, place, value), draft.question);
            let _ = write!(draft.because, "; {place} leaves no room for it");
        }
        let finding = Finding {
            blocked_operations: self.blocked(draft.severity, draft.blocks),
            kinds: self.kinds(&field, draft.kinds, &draft.choices),
            rule: draft.rule,
            condition: draft.condition,
            field,
            severity: draft.severity,
            question: draft.question,
            context: draft.context,
            suggestions: draft.suggestions,
            choices: draft.choices,
            assurance: draft.assurance,
            own_answers: self.rules.tables.settings.own_answers.is_some(),
            because: draft.because,
        };
        let place = (finding.rule.clone(), finding.field.clone());
        if self.settled.contains(&finding) || self.places.contains(&place) {
            return Ok(());
        }
        if self.findings.len() >= MOST_GAPS {
            return Err(TooManyGaps { limit: MOST_GAPS, field: finding.field.to_string() });
        }
        self.places.insert(place);
        self.findings.push(finding);
        Ok(())
    }

    /// Returns that a field has a value which does not count because of its source; nothing where that is not so.
    fn unsure(&self, field: &str, least: Assurance) -> String {
        let is_unsure =
            plan::at(self.plan.as_value(), field).is_some() && !self.settled.is_sure(field, least);
        let least = least.name();
        if is_unsure {
            format!(
                "What {field} has now does not count: it did not come in as an answer with at least the assurance {least}."
            )
        } else {
            String::new()
        }
    }

    /// Returns that something on the way to a field leaves no room for it, and what an answer does to that.
    fn obstacle(&self, field: &FieldPath, place: &str, value: &Value) -> String {
        wording::fill(Word::InTheWay.of(&self.rules.tables.wording), |name| match name {
            "field" => Some(Cow::Borrowed(field.as_str())),
            "place" => Some(Cow::Borrowed(place)),
            "value" => Some(words(value)),
            _ => None,
        })
    }

    /// Makes a finding demand at least this too.
    fn strengthen(finding: &mut Finding, severity: Severity, assurance: Assurance, blocked: Vec<Operation>) {
        finding.assurance = finding.assurance.max(assurance);
        if severity == Severity::Block {
            finding.severity = Severity::Block;
        }
        for operation in blocked {
            if !finding.blocked_operations.contains(&operation)
                && finding.blocked_operations.len() < MOST_OPERATIONS
            {
                finding.blocked_operations.push(operation);
            }
        }
    }

    fn blocked(&self, severity: Severity, blocks: Option<&Operations>) -> Vec<Operation> {
        if severity == Severity::Warn {
            return Vec::new();
        }
        let usual = self.rules.tables.settings.blocks.as_ref();
        blocks.or(usual).map(|blocks| blocks.to_vec()).unwrap_or_default()
    }

    fn kinds(&self, field: &FieldPath, kinds: &[Kind], choices: &[String]) -> Vec<Kind> {
        let lists = self.rules.tables.settings.lists.as_ref();
        match kinds {
            _ if !choices.is_empty() => vec![Kind::Choice],
            [] if lists.is_some_and(|lists| lists.contains(field)) => vec![Kind::List],
            [] => vec![Kind::Text],
            kinds => kinds.to_vec(),
        }
    }

    /// Returns whether a field has a finding already that its value names nothing.
    fn is_ambiguous(&self, field: &str) -> bool {
        let at = |finding: &&Finding| finding.field.as_str() == field;
        self.findings.iter().filter(at).any(|finding| finding.condition == Condition::AmbiguousIdentifier)
    }

    fn texts(values: &[crate::table::Short]) -> Vec<String> {
        values.iter().map(|value| value.as_str().to_owned()).collect()
    }
}

/// Returns a value as it may stand in a sentence.
fn words(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

fn order(left: &Finding, right: &Finding) -> Ordering {
    (left.condition, &left.rule)
        .cmp(&(right.condition, &right.rule))
        .then_with(|| path_order(left.field.as_str(), right.field.as_str()))
}

/// Compares paths part by part, numbers by their value: `languages.2` is before `languages.10`.
fn path_order(left: &str, right: &str) -> Ordering {
    let key = |part: &str| (part.parse::<u64>().map_or(u64::MAX, |number| number), part.to_owned());
    left.split('.').map(key).cmp(right.split('.').map(key))
}

/// How many gaps one document of the protocol holds.
const MOST_GAPS: usize = 256;

/// How many operations a gap blocks at most.
const MOST_OPERATIONS: usize = 32;
