//! Gaps between standards and targets (CLR-13, CLR-17): pairs that a row of `[[conflict]]` names, and pairs whose
//! jurisdictions do not agree. One gap for each field that settles them, worded by the first row that fits; its context names
//! the other pairs.

use std::{borrow::Cow, fmt::Write as _};

use demur_clarify::{gap::Severity, name::FieldPath};
use serde_json::Value;

use super::{Draft, Search, rows::joined};
use crate::{
    error::TooManyGaps,
    facts::Group,
    finding::Condition,
    name::{self, RowId, RuleId},
    rules::Rules,
    table::{Assurance, Conflict, Entry, Standard, Target},
    wording::{self, Word},
};

/// A standard or bundle and a target that do not go together.
enum Pair<'a> {
    /// By a row.
    Listed { entry: &'a Entry<Conflict>, standard: &'a Standard, target: &'a Target },
    /// By their jurisdictions.
    Apart { group: Group<'a>, target: &'a Target },
}

impl<'a> Search<'a> {
    pub(super) fn mismatches(&mut self) -> Result<(), TooManyGaps> {
        let listed = self.listed();
        let apart = self.apart(&listed);
        let mut by_field: Vec<(FieldPath, Vec<Pair<'a>>)> = Vec::new();
        for pair in listed.into_iter().chain(apart) {
            let Some(field) = pair.field(self.rules) else { continue };
            match by_field.iter_mut().find(|(known, _)| *known == field) {
                Some((_, pairs)) => pairs.push(pair),
                None => by_field.push((field, vec![pair])),
            }
        }
        by_field.iter().try_for_each(|(field, pairs)| self.mismatch(field, pairs))
    }

    /// Returns every pair of a row that the plan has.
    fn listed(&self) -> Vec<Pair<'a>> {
        let tables = &self.rules.tables;
        let mut pairs = Vec::new();
        for entry in tables.conflicts.values() {
            let has = |id: &&RowId| self.facts.standards.contains(id);
            for standard in entry.row.standards.iter().filter(has).filter_map(|id| tables.standards.get(id)) {
                let has = |id: &&RowId| self.facts.targets.contains(id);
                let targets = entry.row.targets.iter().filter(has).filter_map(|id| tables.targets.get(id));
                pairs.extend(targets.map(|target| Pair::Listed {
                    entry,
                    standard: &standard.row,
                    target: &target.row,
                }));
            }
        }
        pairs
    }

    /// Returns every group and target, both of known jurisdictions, of which none agree, and about which no row says more.
    fn apart(&self, listed: &[Pair<'a>]) -> Vec<Pair<'a>> {
        let tables = &self.rules.tables;
        let targets: Vec<&Target> = self
            .facts
            .targets
            .iter()
            .filter_map(|id| tables.targets.get(*id))
            .map(|entry| &entry.row)
            .collect();
        let mut pairs = Vec::new();
        for group in self.facts.groups.iter().filter(|group| !group.jurisdictions.is_empty()) {
            for target in targets.iter().filter(|target| !target.jurisdictions.is_empty()) {
                let said = listed.iter().any(|pair| match pair {
                    Pair::Listed { standard, target: other, .. } => {
                        other.id == target.id && group.standards.contains(&standard.id)
                    }
                    Pair::Apart { .. } => false,
                });
                let agrees = |one: &&RowId| {
                    target.jurisdictions.iter().any(|other| self.rules.index.agree(one, other))
                };
                if !said && !group.jurisdictions.iter().any(agrees) {
                    pairs.push(Pair::Apart { group: group.clone(), target });
                }
            }
        }
        pairs
    }

    fn mismatch(&mut self, field: &FieldPath, pairs: &[Pair<'a>]) -> Result<(), TooManyGaps> {
        let Some((first, others)) = pairs.split_first() else { return Ok(()) };
        let choices = resolutions(pairs);
        let stated = pairs.iter().map(Pair::assurance).max().unwrap_or_default();
        let value = self.given(field.as_str(), stated);
        if value.and_then(Value::as_str).is_some_and(|value| choices.iter().any(|choice| choice == value)) {
            return Ok(());
        }
        let found = value.map_or_else(
            || self.unsure(field.as_str(), stated),
            |value| self.not_an_answer(field.as_str(), value),
        );
        let mut draft = match first {
            Pair::Listed { entry, standard, target } => listed_draft(entry, standard, target),
            Pair::Apart { group, target } => apart_draft(self.rules, field, group, target),
        };
        draft.context = joined(joined(draft.context, &self.other_pairs(others)), &found);
        draft.suggestions.clone_from(&choices);
        draft.choices = choices;
        let severity = pairs.iter().map(Pair::severity).find(|severity| *severity == Severity::Block);
        // Before it is taken up: what blocks is not silenced by an acceptance of what does not.
        draft.severity = severity.unwrap_or(draft.severity);
        let rule = draft.rule.clone();
        self.add(draft)?;
        let demands = others.iter().map(|pair| match pair {
            Pair::Listed { entry, .. } => {
                (entry.row.severity, entry.row.assurance, entry.row.blocks.as_ref())
            }
            Pair::Apart { .. } => (Severity::Block, Assurance::Agent, None),
        });
        let demands: Vec<_> = demands
            .map(|(severity, assurance, blocks)| (severity, assurance, self.blocked(severity, blocks)))
            .collect();
        let taken = self.findings.iter_mut().find(|one| one.rule == rule && one.field == *field);
        let Some(taken) = taken else { return Ok(()) };
        for (severity, assurance, blocked) in demands {
            Self::strengthen(taken, severity, assurance, blocked);
        }
        Ok(())
    }

    /// Returns the pairs beside the first, a sentence each.
    fn other_pairs(&self, others: &[Pair<'a>]) -> String {
        let sentence = |pair: &Pair<'a>| {
            let (standard, target) = pair.names();
            wording::fill(Word::OtherPair.of(&self.rules.tables.wording), |name| match name {
                "standard" => Some(Cow::Borrowed(standard)),
                "target" => Some(Cow::Borrowed(target)),
                _ => None,
            })
        };
        let shown: Vec<String> = others.iter().take(MOST_PAIRS).map(sentence).collect();
        let mut sentences = shown.join(" ");
        if others.len() > MOST_PAIRS {
            let _ = write!(sentences, " Nor do {} further pairs.", others.len() - MOST_PAIRS);
        }
        sentences
    }
}

impl Pair<'_> {
    /// Returns the field that settles it.
    fn field(&self, rules: &Rules) -> Option<FieldPath> {
        match self {
            Self::Listed { entry, .. } => Some(entry.row.field.clone()),
            Self::Apart { .. } => {
                rules.tables.settings.jurisdiction.clone().or_else(|| name::field(USUAL_FIELD))
            }
        }
    }

    const fn severity(&self) -> Severity {
        match self {
            Self::Listed { entry, .. } => entry.row.severity,
            Self::Apart { .. } => Severity::Block,
        }
    }

    const fn assurance(&self) -> Assurance {
        match self {
            Self::Listed { entry, .. } => entry.row.assurance,
            Self::Apart { .. } => Assurance::Agent,
        }
    }

    /// Returns both names as they stand in questions.
    fn names(&self) -> (&str, &str) {
        match self {
            Self::Listed { standard, target, .. } => {
                (standard.title.as_ref().unwrap_or(&standard.name).as_str(), title_of(target))
            }
            Self::Apart { group, target } => (group.name, title_of(target)),
        }
    }
}

/// Returns the values of the field that settle all pairs: what the rows say, or else one side or both.
fn resolutions(pairs: &[Pair<'_>]) -> Vec<String> {
    let mut all = Vec::new();
    for pair in pairs {
        if let Pair::Listed { entry, standard, target } = pair {
            all.extend(entry.row.resolutions(&standard.id, &target.id));
        }
    }
    if all.is_empty() {
        let sides = pairs.iter().filter_map(|pair| match pair {
            Pair::Apart { group, target } => Some((group.id, &target.id)),
            Pair::Listed { .. } => None,
        });
        let (standards, targets): (Vec<_>, Vec<_>) =
            sides.map(|(standard, target)| (only(standard), only(target))).unzip();
        all = standards.into_iter().chain(targets).collect();
    }
    let mut once: Vec<String> = Vec::new();
    for resolution in all {
        if once.len() < MOST_CHOICES && !once.contains(&resolution) {
            once.push(resolution);
        }
    }
    if pairs.iter().all(|pair| matches!(pair, Pair::Apart { .. })) {
        once.truncate(MOST_CHOICES - 1);
        once.push(BOTH.to_owned());
    }
    once
}

fn only(id: &RowId) -> String {
    format!("{id}-only")
}

fn listed_draft<'e>(entry: &'e Entry<Conflict>, standard: &Standard, target: &Target) -> Draft<'e> {
    let row = &entry.row;
    let fill = |name: &str| side(row, standard, target, name).map(Cow::Borrowed);
    Draft {
        rule: RuleId::of("conflict", row.id.as_str()),
        condition: Condition::JurisdictionMismatch,
        field: row.field.to_string(),
        severity: row.severity,
        question: wording::fill(&row.question, fill),
        context: wording::fill(&row.context, fill),
        suggestions: Vec::new(),
        choices: Vec::new(),
        kinds: &[],
        blocks: row.blocks.as_ref(),
        assurance: row.assurance,
        because: format!(
            "row {} of [[conflict]] in pack {}: {} is selected and the target is {}",
            row.id,
            entry.pack.as_str(),
            standard.id,
            target.id
        ),
    }
}

fn apart_draft<'e>(rules: &Rules, field: &FieldPath, group: &Group<'_>, target: &Target) -> Draft<'e> {
    let places = |ids: &mut dyn Iterator<Item = &RowId>| {
        let known = |id: &RowId| rules.tables.jurisdictions.get(id).map(|entry| entry.row.name.to_string());
        ids.map(|id| known(id).unwrap_or_else(|| id.to_string())).collect::<Vec<_>>().join(", ")
    };
    let of_group = places(&mut group.jurisdictions.iter().copied());
    let of_target = places(&mut target.jurisdictions.iter());
    let question = wording::fill(Word::Jurisdiction.of(&rules.tables.wording), |name| match name {
        "field" => Some(Cow::Borrowed(field.as_str())),
        "standard" => Some(Cow::Borrowed(group.name)),
        "jurisdictions" => Some(Cow::Borrowed(of_group.as_str())),
        "target" => Some(Cow::Borrowed(target.name.as_str())),
        "target_jurisdictions" => Some(Cow::Borrowed(of_target.as_str())),
        _ => None,
    });
    Draft {
        rule: RuleId::of("jurisdiction", "mismatch"),
        condition: Condition::JurisdictionMismatch,
        field: field.to_string(),
        severity: Severity::Block,
        question,
        context: String::new(),
        suggestions: Vec::new(),
        choices: Vec::new(),
        kinds: &[],
        blocks: None,
        assurance: Assurance::Agent,
        because: format!(
            "{} is of {of_group}, the target {} of {of_target}: none lies within the other",
            group.id, target.id
        ),
    }
}

/// Returns what a placeholder of a conflict stands for.
fn side<'a>(row: &'a Conflict, standard: &'a Standard, target: &'a Target, name: &str) -> Option<&'a str> {
    Some(match name {
        "field" => row.field.as_str(),
        "standard" => standard.title.as_ref().unwrap_or(&standard.name).as_str(),
        "standard_name" => standard.name.as_str(),
        "standard_id" => standard.id.as_str(),
        "target" => title_of(target),
        "target_name" => target.name.as_str(),
        "target_id" => target.id.as_str(),
        _ => return None,
    })
}

fn title_of(target: &Target) -> &str {
    target.title.as_ref().unwrap_or(&target.name).as_str()
}

/// The field that settles it where the settings name none.
const USUAL_FIELD: &str = "jurisdiction";

/// The answer that both sides apply.
const BOTH: &str = "both";

/// How many answers a closed choice has.
const MOST_CHOICES: usize = 32;

/// How many further pairs a context names.
const MOST_PAIRS: usize = 8;
