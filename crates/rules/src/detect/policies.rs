//! Gaps from conditions: a plan that is forbidden as it is, and inputs without which that cannot be decided (CLR-15).

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{
    Draft, Search,
    rows::{joined, suggested},
    words,
};
use crate::{
    condition::{Lack, Shape, Verdict},
    error::TooManyGaps,
    finding::Condition,
    name::RuleId,
    plan,
    table::{Entry, Kind, Policy},
    wording::{self, Word},
};

impl Search<'_> {
    pub(super) fn policies(&mut self) -> Result<(), TooManyGaps> {
        let rules = self.rules;
        let derived = if rules.index.reads_derived { self.facts.to_value(rules) } else { Value::Null };
        for (id, condition) in &rules.index.conditions {
            let Some(entry) = rules.tables.policies.get(id) else { continue };
            // For this policy a value at its field that is not sure enough is not there.
            let (field, least) = (&entry.row.field, entry.row.assurance);
            let without = (!self.settled.is_sure(field.as_str(), least)).then(|| self.plan.without(field));
            let plan = without.as_ref().unwrap_or(self.plan);
            match condition.decide(plan.as_value(), &derived) {
                Verdict::Fails => {}
                Verdict::Holds => self.forbidden(entry, &derived)?,
                Verdict::Lacks(lacks) => self.undecided(entry, &derived, lacks)?,
            }
        }
        Ok(())
    }

    fn forbidden(&mut self, entry: &Entry<Policy>, derived: &Value) -> Result<(), TooManyGaps> {
        let value = self.given(entry.row.field.as_str(), entry.row.assurance);
        let value = value.filter(|value| !plan::is_empty(value));
        let condition = if value.is_some() { Condition::Policy } else { Condition::MissingValidationInput };
        let because = format!("policy {} of pack {} forbids this plan", entry.row.id, entry.pack.as_str());
        self.add(self.draft(entry, derived, condition, because))
    }

    fn undecided(
        &mut self,
        entry: &Entry<Policy>,
        derived: &Value,
        lacks: BTreeMap<String, Lack>,
    ) -> Result<(), TooManyGaps> {
        for (field, lack) in lacks {
            let because = format!(
                "policy {} of pack {} cannot be decided without {field}",
                entry.row.id,
                entry.pack.as_str()
            );
            if self.is_asked(&field, entry) {
                continue;
            }
            let condition = Condition::MissingValidationInput;
            let inferred = kind_of(lack.needed).map(|kind| [kind]);
            let inferred = inferred.as_ref().map_or(&[][..], |kinds| &kinds[..]);
            let mut draft = self.draft(entry, derived, condition, because);
            if field == entry.row.field.as_str() {
                let value = plan::at(self.plan.as_value(), &field).filter(|_| lack.found.is_some());
                let found = value.map(|value| self.not_an_answer(&field, value)).unwrap_or_default();
                draft.context = joined(draft.context, &found);
                draft.kinds = if draft.kinds.is_empty() { inferred } else { draft.kinds };
            } else {
                draft.question = self.wanting(&field, lack, entry);
                draft.context = String::new();
                (draft.suggestions, draft.choices) = (Vec::new(), Vec::new());
                draft.kinds = inferred;
                draft.field = field;
            }
            self.add(draft)?;
        }
        Ok(())
    }

    /// Returns whether a field that is missing or of another kind is asked for already. That question then carries what this policy
    /// demands too: its answer decides both.
    fn is_asked(&mut self, field: &str, entry: &Entry<Policy>) -> bool {
        let blocked = self.blocked(entry.row.severity, entry.row.blocks.as_ref());
        let missing = |condition| {
            matches!(condition, Condition::MissingRequiredField | Condition::MissingValidationInput)
        };
        let asked = self
            .findings
            .iter_mut()
            .find(|finding| finding.field.as_str() == field && missing(finding.condition));
        let Some(asked) = asked else { return false };
        Self::strengthen(asked, entry.row.severity, entry.row.assurance, blocked);
        true
    }

    fn draft<'e>(
        &self,
        entry: &'e Entry<Policy>,
        derived: &Value,
        condition: Condition,
        because: String,
    ) -> Draft<'e> {
        let row = &entry.row;
        let at = |path: &str| {
            let value = match path.strip_prefix("derived.") {
                Some(name) => plan::at(derived, name),
                None => plan::at(self.plan.as_value(), path),
            };
            Cow::Owned(value.map_or_else(|| "not given".to_owned(), |value| words(value).into_owned()))
        };
        let fill = |name: &str| match name {
            "field" => Some(Cow::Borrowed(row.field.as_str())),
            "value" => Some(at(row.field.as_str())),
            other => other.strip_prefix("context.").map(at),
        };
        let choices = Self::texts(&row.choices);
        Draft {
            rule: RuleId::of("policy", row.id.as_str()),
            condition,
            field: row.field.to_string(),
            severity: row.severity,
            question: wording::fill(&row.question, fill),
            context: joined(
                wording::fill(&row.context, fill),
                &self.unsure(row.field.as_str(), row.assurance),
            ),
            suggestions: suggested(&Self::texts(&row.suggestions), &choices),
            choices,
            kinds: &row.kinds,
            blocks: row.blocks.as_ref(),
            assurance: row.assurance,
            because,
        }
    }

    /// Returns the question about a field that a policy lacks, where the policy words none for it.
    fn wanting(&self, field: &str, lack: Lack, entry: &Entry<Policy>) -> String {
        let word = if lack.found.is_some() { Word::WrongShape } else { Word::Undecided };
        wording::fill(word.of(&self.rules.tables.wording), |name| match name {
            "field" => Some(Cow::Owned(field.to_owned())),
            "rule" => Some(Cow::Borrowed(entry.row.id.as_str())),
            "needed" => Some(Cow::Borrowed(lack.needed.words())),
            "found" => lack.found.map(|found| Cow::Borrowed(found.words())),
            _ => None,
        })
    }
}

/// Returns what an answer must be so that the condition can be decided with it.
const fn kind_of(shape: Shape) -> Option<Kind> {
    match shape {
        Shape::Bool => Some(Kind::YesNo),
        Shape::Long | Shape::Decimal => Some(Kind::Number),
        Shape::List => Some(Kind::List),
        Shape::Text => Some(Kind::Text),
        Shape::Any | Shape::Record => None,
    }
}
