//! Gaps from fields that no rule reads (CLR-17): only those whose name is almost that of a field that a rule reads and the
//! plan lacks. All others are listed by [`Rules::unread`](crate::Rules::unread), and nobody is asked about them.

use std::borrow::Cow;

use demur_clarify::gap::Severity;

use super::{Draft, Search, words};
use crate::{
    error::TooManyGaps,
    finding::Condition,
    name::RuleId,
    plan,
    table::Assurance,
    wording::{self, Word},
};

impl Search<'_> {
    pub(super) fn unread(&mut self) -> Result<(), TooManyGaps> {
        let rules = self.rules;
        for (field, meant) in rules.mistyped(self.plan) {
            let question = wording::fill(Word::Unread.of(&rules.tables.wording), |name| match name {
                "field" => Some(Cow::Borrowed(field.as_str())),
                "value" => plan::at(self.plan.as_value(), &field).map(words),
                "expected" => Some(Cow::Borrowed(meant)),
                _ => None,
            });
            self.add(Draft {
                rule: RuleId::of("unread", &field),
                condition: Condition::UnreadField,
                because: format!("no rule reads it, and {meant}, whose name is almost the same, is not given"),
                field,
                severity: Severity::Warn,
                question,
                context: format!(
                    "Accept it as it is, or give {meant}: the question is withdrawn as soon as {meant} is given."
                ),
                suggestions: Vec::new(),
                choices: Vec::new(),
                kinds: &[],
                blocks: None,
                assurance: Assurance::Agent,
            })?;
        }
        Ok(())
    }
}
