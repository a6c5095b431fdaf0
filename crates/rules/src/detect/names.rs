//! Gaps from names: those that mean nothing or several things (CLR-11), and languages (CLR-14).

use std::borrow::Cow;

use demur_clarify::gap::Severity;

use super::{Draft, Search, rows::joined, words};
use crate::{
    error::TooManyGaps,
    facts::{Unclear, What},
    finding::Condition,
    name::{RuleId, plain},
    table::Assurance,
    wording::{self, Word},
};

impl Search<'_> {
    pub(super) fn unclear_names(&mut self) -> Result<(), TooManyGaps> {
        for unclear in std::mem::take(&mut self.facts.unclear) {
            if !self.is_ambiguous(&unclear.field) {
                self.unclear_name(unclear)?;
            }
        }
        Ok(())
    }

    fn unclear_name(&mut self, unclear: Unclear<'_>) -> Result<(), TooManyGaps> {
        let settings = &self.rules.tables.settings;
        let (word, severity, table) = match (unclear.candidates.is_empty(), unclear.what) {
            (false, What::Standard) => (Word::SharedName, Some(Severity::Block), "shared-standard"),
            (false, What::Target) => (Word::SharedName, Some(Severity::Block), "shared-target"),
            (true, What::Standard) => (Word::UnknownStandard, settings.unknown_standard, "unknown-standard"),
            (true, What::Target) => (Word::UnknownTarget, settings.unknown_target, "unknown-target"),
        };
        let Some(severity) = severity else { return Ok(()) };
        let candidates: Vec<String> =
            unclear.candidates.iter().map(|meaning| meaning.id().to_string()).collect();
        let question = wording::fill(word.of(&self.rules.tables.wording), |name| match name {
            "field" => Some(Cow::Borrowed(unclear.field.as_str())),
            "value" => Some(Cow::Borrowed(unclear.value.as_str())),
            "candidates" => Some(Cow::Owned(candidates.join(", "))),
            _ => None,
        });
        let because = if candidates.is_empty() {
            "no row of the tables has this name".to_owned()
        } else {
            format!("the name belongs to the rows {}", candidates.join(", "))
        };
        self.add(Draft {
            rule: by_name(table, &unclear.value),
            condition: Condition::AmbiguousIdentifier,
            field: unclear.field,
            severity,
            question,
            context: String::new(),
            suggestions: candidates.into_iter().take(MOST_SUGGESTIONS).collect(),
            choices: Vec::new(),
            kinds: &[],
            blocks: None,
            assurance: Assurance::Agent,
            because,
        })
    }

    pub(super) fn languages(&mut self) -> Result<(), TooManyGaps> {
        let languages = std::mem::take(&mut self.facts.languages);
        for spoken in languages.iter().filter(|spoken| !spoken.supported) {
            if !self.is_ambiguous(&spoken.field) {
                self.unsupported(&spoken.field, &spoken.value, &spoken.tag)?;
            }
        }
        self.facts.languages = languages;
        self.layout()
    }

    fn unsupported(&mut self, field: &str, value: &str, tag: &str) -> Result<(), TooManyGaps> {
        let supported: Vec<String> = self.rules.tables.languages.keys().map(ToString::to_string).collect();
        let question =
            wording::fill(Word::UnsupportedLanguage.of(&self.rules.tables.wording), |name| match name {
                "field" => Some(Cow::Borrowed(field)),
                "value" => Some(Cow::Borrowed(value)),
                "supported" => Some(Cow::Owned(supported.join(", "))),
                _ => None,
            });
        self.add(Draft {
            rule: by_name("language", tag),
            condition: Condition::UntranslatableLanguage,
            field: field.to_owned(),
            severity: Severity::Warn,
            question,
            context: String::new(),
            suggestions: supported.into_iter().take(MOST_SUGGESTIONS).collect(),
            choices: Vec::new(),
            kinds: &[],
            blocks: None,
            assurance: Assurance::Agent,
            because: "no row of [[language]] supports it".to_owned(),
        })
    }

    /// Looks for a language that is written from right to left, and a layout that says so.
    fn layout(&mut self) -> Result<(), TooManyGaps> {
        let settings = &self.rules.tables.settings;
        let (Some(field), Some(fitting)) = (&settings.direction, &settings.right_to_left) else {
            return Ok(());
        };
        let tags: Vec<&str> = self.facts.right_to_left().map(|spoken| spoken.tag.as_str()).collect();
        let value = self.plan.value(field);
        let fits = value
            .map(|value| plain(&words(value)))
            .is_some_and(|value| fitting.iter().any(|fitting| plain(fitting) == value));
        if tags.is_empty() || fits || self.is_ambiguous(field.as_str()) {
            return Ok(());
        }
        let languages = tags.join(", ");
        let found =
            value.map_or(Cow::Borrowed("not given"), |value| Cow::Owned(format!("\"{}\"", words(value))));
        let question = wording::fill(Word::Direction.of(&self.rules.tables.wording), |name| match name {
            "field" => Some(Cow::Borrowed(field.as_str())),
            "languages" => Some(Cow::Borrowed(languages.as_str())),
            "found" => Some(found.clone()),
            _ => None,
        });
        let because =
            format!("CLDR {} says that {languages} runs from right to left", self.rules.tables.cldr);
        let choices = Self::texts(fitting);
        self.add(Draft {
            rule: RuleId::of("layout", "right-to-left"),
            condition: Condition::UntranslatableLanguage,
            field: field.to_string(),
            severity: Severity::Warn,
            question,
            context: joined(String::new(), ""),
            suggestions: choices.clone(),
            choices,
            kinds: &[],
            blocks: None,
            assurance: Assurance::Agent,
            because,
        })
    }
}

/// Returns the rule about one name of a plan: accepting it accepts this name, not whatever stands there later.
fn by_name(table: &str, name: &str) -> RuleId {
    let name = plain(name);
    RuleId::of(table, if name.is_empty() { "-" } else { &name })
}

/// How many suggestions a gap holds.
const MOST_SUGGESTIONS: usize = 32;
