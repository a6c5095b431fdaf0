//! From a policy in a file to a row: its annotations are the columns.

use std::str::FromStr;

use demur_clarify::{gap::Severity, name::Operation};
use demur_core::limit::List;

use super::place::Source;
use crate::{
    condition::{self, Annotation},
    error::PackError,
    table::{Assurance, Kind, Policy, Row as _, Shorts},
};

/// Returns the row of a policy.
pub(super) fn row(source: &Source, policy: &condition::Policy) -> Result<Policy, PackError> {
    let columns = Columns { source, policy };
    columns.only_known()?;
    let row = Policy {
        id: columns.required("id")?,
        field: columns.required("field")?,
        severity: columns.one_of("severity", &SEVERITIES)?.unwrap_or(Severity::Block),
        question: columns.required("question")?,
        context: columns.parsed("context")?.map_or_else(|| columns.parse_text("context", ""), Ok)?,
        suggestions: columns.list("suggestions")?,
        choices: columns.list("choices")?,
        kinds: columns.kinds()?,
        blocks: columns.blocks()?,
        assurance: columns.assurance()?,
        condition: policy.condition.to_string(),
    };
    row.check().map_err(|mistake| {
        let mut error = columns.error(mistake.key, mistake.expected, mistake.found);
        error.cure = mistake.cure;
        error
    })?;
    Ok(row)
}

struct Columns<'a> {
    source: &'a Source,
    policy: &'a condition::Policy,
}

impl Columns<'_> {
    fn error(&self, name: &str, expected: impl Into<String>, found: impl ToString) -> PackError {
        let place = self.policy.annotations.get(name);
        let mut error =
            self.source.line_error(place.map_or(self.policy.line, |place| place.line), expected, found);
        error.column = place.map(|place| place.column);
        error
    }

    fn only_known(&self) -> Result<(), PackError> {
        let unknown = self.policy.annotations.keys().find(|name| !ANNOTATIONS.contains(&name.as_str()));
        let Some(unknown) = unknown else { return Ok(()) };
        let expected = format!("one of the annotations @{}", ANNOTATIONS.join(", @"));
        Err(self.error(unknown, expected, format!("@{unknown}")))
    }

    fn value(&self, name: &str) -> Option<&Annotation> {
        self.policy.annotations.get(name)
    }

    fn parsed<T: FromStr<Err: ToString>>(&self, name: &str) -> Result<Option<T>, PackError> {
        self.value(name).map(|annotation| self.parse_text(name, &annotation.value)).transpose()
    }

    fn parse_text<T: FromStr<Err: ToString>>(&self, name: &str, text: &str) -> Result<T, PackError> {
        let shown: String = text.chars().take(64).collect();
        text.parse().map_err(|error: T::Err| {
            self.error(name, format!("@{name} as docs/rules.md describes it"), format!("{shown:?}"))
                .cured(error.to_string())
        })
    }

    fn required<T: FromStr<Err: ToString>>(&self, name: &str) -> Result<T, PackError> {
        let missing = || {
            self.error(name, format!("an annotation @{name}"), "none")
                .cured(format!("write @{name}(\"...\") above the forbid"))
        };
        self.parsed(name)?.ok_or_else(missing)
    }

    fn one_of<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Result<Option<T>, PackError> {
        let Some(Annotation { value: wanted, .. }) = self.value(name) else { return Ok(None) };
        let value = values.iter().find(|(word, _)| word == wanted).map(|(_, value)| *value);
        let words: Vec<&str> = values.iter().map(|(word, _)| *word).collect();
        let error = || self.error(name, format!("one of {}", words.join(", ")), format!("{wanted:?}"));
        value.ok_or_else(error).map(Some)
    }

    /// Splits at bars, or at commas where there is no bar.
    fn parts(&self, name: &str) -> Vec<String> {
        let Some(Annotation { value, .. }) = self.value(name) else { return Vec::new() };
        let separator = if value.contains('|') { '|' } else { ',' };
        value.split(separator).map(|part| part.trim().to_owned()).collect()
    }

    fn list(&self, name: &str) -> Result<Shorts, PackError> {
        let parts = self.parts(name);
        let parts = parts.iter().map(|part| self.parse_text(name, part));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        List::try_from(parts).map_err(|error| self.error(name, error.to_string(), "more"))
    }

    fn kinds(&self) -> Result<List<Kind, 0, 5>, PackError> {
        let kind = |part: &String| Kind::ALL.into_iter().find(|kind| kind.name() == part.replace('_', "-"));
        let names = Kind::ALL.map(Kind::name).join(", ");
        let parts = self.parts("kinds");
        let kinds = parts.iter().map(|part| {
            kind(part).ok_or_else(|| self.error("kinds", format!("some of {names}"), format!("{part:?}")))
        });
        let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
        List::try_from(kinds).map_err(|error| self.error("kinds", error.to_string(), "more"))
    }

    /// As kinds, levels are read with a line below as well: that is how HTTP spells them.
    fn assurance(&self) -> Result<Assurance, PackError> {
        let Some(Annotation { value: wanted, .. }) = self.value("assurance") else {
            return Ok(Assurance::default());
        };
        let spelled = wanted.replace('_', "-");
        let names = Assurance::ALL.map(Assurance::name).join(", ");
        let error = || self.error("assurance", format!("one of {names}"), format!("{wanted:?}"));
        Assurance::ALL.into_iter().find(|level| level.name() == spelled).ok_or_else(error)
    }

    fn blocks(&self) -> Result<Option<List<Operation, 0, 32>>, PackError> {
        if self.value("blocks").is_none() {
            return Ok(None);
        }
        let parts = self.parts("blocks");
        let blocks = parts.iter().map(|part| self.parse_text("blocks", part));
        let blocks = blocks.collect::<Result<Vec<Operation>, _>>()?;
        List::try_from(blocks).map(Some).map_err(|error| self.error("blocks", error.to_string(), "more"))
    }
}

const ANNOTATIONS: [&str; 10] = [
    "id",
    "severity",
    "field",
    "question",
    "context",
    "suggestions",
    "choices",
    "kinds",
    "blocks",
    "assurance",
];

const SEVERITIES: [(&str, Severity); 2] = [("BLOCK", Severity::Block), ("WARN", Severity::Warn)];
