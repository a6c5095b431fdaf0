//! Gaps from single rows: missing fields (CLR-10), ambiguous phrases (CLR-11) and overlaps (CLR-12).

use std::borrow::Cow;

use serde_json::Value;

use super::{Draft, Search, words};
use crate::{
    error::TooManyGaps,
    finding::Condition,
    name::{RowId, RuleId, plain, plain_start},
    plan,
    table::{Entry, Kind, Overlap, Required},
    wording::{self, Word},
};

impl Search<'_> {
    pub(super) fn required(&mut self) -> Result<(), TooManyGaps> {
        let rules = self.rules;
        rules.tables.required.values().try_for_each(|entry| self.required_row(entry))
    }

    /// Looks at one row by itself.
    pub(super) fn required_row(&mut self, entry: &Entry<Required>) -> Result<(), TooManyGaps> {
        if !self.applies(&entry.row) {
            return Ok(());
        }
        let choices = Self::texts(&entry.row.choices);
        let value = self.given(entry.row.field.as_str(), entry.row.assurance);
        if value.is_some_and(|value| is_good(&entry.row, &choices, value)) {
            return Ok(());
        }
        self.missing(entry, choices, value.filter(|value| !plan::is_empty(value)))
    }

    /// Takes up a field that is not given, or given with a value that is not of its kind.
    fn missing(
        &mut self,
        entry: &Entry<Required>,
        choices: Vec<String>,
        value: Option<&Value>,
    ) -> Result<(), TooManyGaps> {
        let Required { id, field, kinds, .. } = &entry.row;
        let found = value.map_or_else(
            || self.unsure(field.as_str(), entry.row.assurance),
            |value| self.not_an_answer(field.as_str(), value),
        );
        let fill = |name: &str| (name == "field").then(|| Cow::Borrowed(field.as_str()));
        let because = format!(
            "row {id} of [[required]] in pack {} asks for it{}",
            entry.pack.as_str(),
            if value.is_some() { "; what is there is not of its kind" } else { "; it is not given" },
        );
        self.add(Draft {
            rule: RuleId::of("required", id.as_str()),
            condition: Condition::MissingRequiredField,
            field: field.to_string(),
            severity: entry.row.severity,
            question: wording::fill(&entry.row.question, fill),
            context: joined(wording::fill(&entry.row.context, fill), &found),
            suggestions: suggested(&Self::texts(&entry.row.suggestions), &choices),
            choices,
            kinds,
            blocks: entry.row.blocks.as_ref(),
            assurance: entry.row.assurance,
            because,
        })
    }

    /// Returns whether a plan has the values that a row depends on.
    fn applies(&self, row: &Required) -> bool {
        row.when.iter().all(|(field, wanted)| {
            let is_wanted = |value: &Value| {
                let found = plain(&words(value));
                wanted.iter().any(|wanted| plain(wanted) == found)
            };
            match self.plan.value(field) {
                None => false,
                Some(Value::Array(entries)) => entries.iter().any(is_wanted),
                Some(value) => is_wanted(value),
            }
        })
    }

    pub(super) fn ambiguous(&mut self) -> Result<(), TooManyGaps> {
        let mut found: Vec<(usize, String, &str)> = Vec::new();
        let (rules, plan) = (self.rules, self.plan);
        if rules.index.phrases.is_empty() {
            return Ok(());
        }
        plan.texts(&mut |path, text| {
            // Prose is long; no phrase is. This keeps long texts from being walked to their end.
            let normal = plain_start(text, LONGEST_PHRASE);
            let asked = || self.findings.iter().any(|finding| finding.field.as_str() == path);
            if text.trim().is_empty() || (normal.is_empty() && asked()) {
                return;
            }
            let fits = rules.index.phrases.iter().position(|phrases| {
                let row = rules.tables.ambiguous.get(&phrases.id).map(|entry| &entry.row);
                let is_phrase = || normal.len() <= LONGEST_PHRASE && phrases.contain(&normal);
                row.is_some_and(|row| {
                    // A clear value counts as given only where it came in as the row demands.
                    (!self.settled.is_sure(path, row.assurance) || is_phrase())
                        && row.fields.iter().any(|field| field.covers(path))
                        && !row.except.iter().any(|field| field.covers(path))
                })
            });
            found.extend(fits.map(|index| (index, path.to_owned(), text)));
        });
        for (index, field, value) in found {
            self.ambiguous_value(&rules.index.phrases[index].id, field, value)?;
        }
        Ok(())
    }

    fn ambiguous_value(&mut self, id: &RowId, field: String, value: &str) -> Result<(), TooManyGaps> {
        let Some(entry) = self.rules.tables.ambiguous.get(id) else { return Ok(()) };
        let fill = |name: &str| match name {
            "field" => Some(Cow::Borrowed(field.as_str())),
            "value" => Some(Cow::Borrowed(value)),
            _ => None,
        };
        let unsure = self.unsure(&field, entry.row.assurance);
        let question = wording::fill(&entry.row.question, fill);
        let context = joined(wording::fill(&entry.row.context, fill), &unsure);
        let pack = entry.pack.as_str();
        let because = if unsure.is_empty() {
            let shown = wording::shown(value);
            format!(
                "row {id} of [[ambiguous]] in pack {pack} lists \"{shown}\" as a value that names nothing"
            )
        } else {
            let least = entry.row.assurance.name();
            format!(
                "row {id} of [[ambiguous]] in pack {pack} wants it answered with at least the assurance {least}"
            )
        };
        self.add(Draft {
            rule: RuleId::of("ambiguous", id.as_str()),
            condition: Condition::AmbiguousIdentifier,
            field,
            severity: entry.row.severity,
            question,
            context,
            suggestions: Self::texts(&entry.row.suggestions),
            choices: Vec::new(),
            kinds: &[],
            blocks: entry.row.blocks.as_ref(),
            assurance: entry.row.assurance,
            because,
        })
    }

    pub(super) fn overlaps(&mut self) -> Result<(), TooManyGaps> {
        let rules = self.rules;
        for entry in rules.tables.overlaps.values() {
            let Overlap { from, to, confirm, .. } = &entry.row;
            if !confirm || !self.facts.standards.contains(from) || self.facts.standards.contains(to) {
                continue;
            }
            let field = entry.row.field_path();
            let found = match self.given(&field, entry.row.assurance) {
                Some(Value::Bool(true)) => continue,
                Some(value) => self.not_an_answer(&field, value),
                None => self.unsure(&field, entry.row.assurance),
            };
            self.overlap(entry, field, &found)?;
        }
        Ok(())
    }

    fn overlap(&mut self, entry: &Entry<Overlap>, field: String, found: &str) -> Result<(), TooManyGaps> {
        let Overlap { id, from, to, .. } = &entry.row;
        let fill = |name: &str| match name {
            "field" => Some(Cow::Borrowed(field.as_str())),
            "from_id" => Some(Cow::Borrowed(from.as_str())),
            "to_id" => Some(Cow::Borrowed(to.as_str())),
            "from" => {
                self.rules.tables.standards.get(from).map(|entry| Cow::Borrowed(entry.row.name.as_str()))
            }
            "to" => self.rules.tables.standards.get(to).map(|entry| Cow::Borrowed(entry.row.name.as_str())),
            _ => None,
        };
        let question = wording::fill(&entry.row.question, fill);
        let context = joined(wording::fill(&entry.row.context, fill), found);
        let because = format!(
            "row {id} of [[overlap]] in pack {}: {from} is selected, {to} is not, and nobody confirmed it",
            entry.pack.as_str()
        );
        self.add(Draft {
            rule: RuleId::of("overlap", id.as_str()),
            condition: Condition::UnresolvedComplianceOverlap,
            field,
            severity: entry.row.severity,
            question,
            context,
            suggestions: vec!["yes".to_owned(), "no".to_owned()],
            choices: Vec::new(),
            kinds: &[Kind::YesNo],
            blocks: entry.row.blocks.as_ref(),
            assurance: entry.row.assurance,
            because,
        })
    }

    /// Returns that a field has a value which does not settle the gap.
    pub(super) fn not_an_answer(&self, field: &str, value: &Value) -> String {
        wording::fill(Word::NotAnAnswer.of(&self.rules.tables.wording), |name| match name {
            "field" => Some(Cow::Owned(field.to_owned())),
            "value" => Some(words(value)),
            _ => None,
        })
    }
}

/// Returns whether a value is what a required field asks for. One of the choices always is, whatever it is made of.
fn is_good(row: &Required, choices: &[String], value: &Value) -> bool {
    if !choices.is_empty() {
        return Kind::Choice.fits(value, choices);
    }
    !plan::is_empty(value) && (row.kinds.is_empty() || row.kinds.iter().any(|kind| kind.fits(value, choices)))
}

/// Returns two sentences as one text.
pub(super) fn joined(context: String, more: &str) -> String {
    match (context.is_empty(), more.is_empty()) {
        (_, true) => context,
        (true, false) => more.to_owned(),
        (false, false) => format!("{context} {more}"),
    }
}

/// Returns what to suggest: the suggestions, or else the choices.
pub(super) fn suggested(suggestions: &[String], choices: &[String]) -> Vec<String> {
    if suggestions.is_empty() { choices.to_vec() } else { suggestions.to_vec() }
}

/// Bytes of the plain form of a text that could be a phrase with words before and after it.
const LONGEST_PHRASE: usize = 512;
