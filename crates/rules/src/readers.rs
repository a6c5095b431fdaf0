//! Who reads a field of a plan: rows of `[[required]]`, which go by nothing else than their fields, and everything else in the rules.

use std::collections::{BTreeMap, BTreeSet};

use demur_clarify::name::FieldPath;

use crate::{
    condition::Condition,
    name::{FieldPattern, RowId},
    request::placeholders,
    table::Tables,
};

/// The readers of each field.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    /// The rows of `[[required]]` by the fields that they read.
    rows: BTreeMap<String, Vec<RowId>>,
    /// The fields that such rows ask for.
    asked: BTreeSet<String>,
    /// What anything else reads.
    others: BTreeSet<String>,
    /// Whether something reads every field.
    reads_all: bool,
}

impl Readers {
    pub(crate) fn new(tables: &Tables, conditions: &[(RowId, Condition)]) -> Self {
        let mut readers = Self::default();
        for entry in tables.required.values() {
            readers.asked.insert(entry.row.field.to_string());
            let fields: BTreeSet<_> =
                std::iter::once(&entry.row.field).chain(entry.row.when.keys()).collect();
            for field in fields {
                readers.rows.entry(field.to_string()).or_default().push(entry.row.id.clone());
            }
        }
        let settings = &tables.settings;
        let named = settings.standards.iter().flatten().chain(settings.targets.iter().flatten());
        let named = named.chain(&settings.jurisdiction).chain(&settings.languages).chain(&settings.direction);
        readers.others.extend(named.map(ToString::to_string));
        readers.others.extend(tables.overlaps.values().map(|entry| entry.row.field_path()));
        readers.others.extend(tables.conflicts.values().map(|entry| entry.row.field.to_string()));
        for entry in tables.policies.values() {
            readers.others.insert(entry.row.field.to_string());
            readers.others.extend(placeholders(&entry.row.question).chain(placeholders(&entry.row.context)));
        }
        readers.others.extend(conditions.iter().flat_map(|(_, condition)| condition.names()));
        for pattern in tables.ambiguous.values().flat_map(|entry| &entry.row.fields) {
            match fixed(pattern) {
                Some(fixed) => drop(readers.others.insert(fixed)),
                None => readers.reads_all = true,
            }
        }
        readers
    }

    /// Returns the rows of `[[required]]` that read a field, something inside of it, or what it is part of.
    pub(crate) fn rows(&self, field: &FieldPath) -> impl Iterator<Item = &RowId> {
        let field = field.as_str();
        let below = format!("{field}.");
        let inside = self.rows.range(below.clone()..).take_while(move |(path, _)| path.starts_with(&below));
        let around = around(field).filter_map(|path| self.rows.get_key_value(path));
        around.chain(inside).flat_map(|(_, rows)| rows)
    }

    /// Returns whether a row of `[[required]]` asks for this very field.
    pub(crate) fn asks_for(&self, field: &FieldPath) -> bool {
        self.asked.contains(field.as_str())
    }

    /// Returns whether anything but such rows reads a field, something inside of it, or what it is part of.
    pub(crate) fn is_read_otherwise(&self, field: &FieldPath) -> bool {
        let field = field.as_str();
        let below = format!("{field}.");
        let inside = self.others.range(below.clone()..).next().is_some_and(|path| path.starts_with(&below));
        self.reads_all || inside || around(field).any(|path| self.others.contains(path))
    }
}

/// Returns a field and everything that it is part of.
fn around(field: &str) -> impl Iterator<Item = &str> {
    field.match_indices('.').map(|(end, _)| &field[..end]).chain([field])
}

/// Returns the part of a pattern before its first star; none where it begins with one.
fn fixed(pattern: &FieldPattern) -> Option<String> {
    let parts: Vec<&str> = pattern.base()?.split('.').take_while(|part| *part != "*").collect();
    (!parts.is_empty()).then(|| parts.join("."))
}
