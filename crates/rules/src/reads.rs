//! Which fields of a plan the rules read (CLR-17). A field that no rule reads says nothing to anybody; where its name is
//! almost that of a field that is read and not given, somebody probably mistyped it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    condition::Condition,
    facts,
    name::{FieldPattern, RowId, plain},
    plan::{self, Plan},
    rules::Rules,
    table::Tables,
};

/// The fields that a set of rules reads.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// Read with everything inside of them.
    whole: BTreeSet<String>,
    /// Read as one name or a list of names, and not as a record.
    names: BTreeSet<String>,
    /// Patterns with a star inside.
    patterns: Vec<FieldPattern>,
    /// What a mistyped name may have been meant as.
    spellings: Vec<Spelling>,
}

/// A field that is read, by its last name.
#[derive(Debug)]
struct Spelling {
    path: String,
    last: Letters,
    /// How far another name may be from it.
    edits: usize,
}

/// A name in its plain form, with what tells quickly that another one is far from it.
#[derive(Debug, PartialEq, Eq)]
struct Letters {
    plain: Vec<u8>,
    /// One bit for each character that occurs.
    set: u64,
}

impl Reads {
    pub(crate) fn new(tables: &Tables, conditions: &[(RowId, Condition)]) -> Self {
        let mut reads = Self::default();
        let settings = &tables.settings;
        let named = settings.standards.iter().flatten().chain(settings.targets.iter().flatten());
        let named = named.chain(&settings.languages).chain(&settings.direction);
        reads.names.extend(named.map(ToString::to_string));
        reads.whole.extend(settings.jurisdiction.iter().map(ToString::to_string));
        for entry in tables.required.values() {
            let fields = std::iter::once(&entry.row.field).chain(entry.row.when.keys());
            reads.whole.extend(fields.map(ToString::to_string));
        }
        let confirmed = tables.overlaps.values().filter(|entry| entry.row.confirm);
        reads.whole.extend(confirmed.map(|entry| entry.row.field_path()));
        reads.whole.extend(tables.conflicts.values().map(|entry| entry.row.field.to_string()));
        reads.whole.extend(tables.policies.values().map(|entry| entry.row.field.to_string()));
        let asked = conditions.iter().flat_map(|(_, condition)| condition.names());
        reads.whole.extend(asked.filter(|path| path.split('.').next() != Some(facts::DERIVED)));
        for pattern in tables.ambiguous.values().flat_map(|entry| &entry.row.fields) {
            match pattern.base() {
                // A row about every field is no reason why one of them is there.
                None => {}
                Some(base) if base.contains('*') => reads.patterns.push(pattern.clone()),
                Some(base) if pattern.is_deep() => drop(reads.whole.insert(base.to_owned())),
                Some(base) => drop(reads.names.insert(base.to_owned())),
            }
        }
        let all: BTreeSet<&String> = reads.whole.iter().chain(&reads.names).collect();
        reads.spellings = all.into_iter().map(|path| Spelling::new(path)).collect();
        reads
    }

    /// Returns whether a rule reads something inside of this field.
    pub(crate) fn reach_into(&self, field: &str) -> bool {
        let below = format!("{field}.");
        [&self.whole, &self.names]
            .into_iter()
            .any(|paths| paths.range(below.clone()..).next().is_some_and(|path| path.starts_with(&below)))
    }

    fn contains(&self, leaf: &str) -> bool {
        let mut prefix = leaf;
        loop {
            if self.whole.contains(prefix) {
                return true;
            }
            let Some((shorter, _)) = prefix.rsplit_once('.') else { break };
            prefix = shorter;
        }
        self.names.contains(without_index(leaf)) || self.patterns.iter().any(|one| one.covers(leaf))
    }

    /// Returns the field that a name was probably meant as: one that the plan lacks, the nearest first.
    fn meant(&self, field: &str, plan: &Plan) -> Option<&str> {
        let found = Letters::new(last_name(field));
        let near = self.spellings.iter().filter_map(|spelling| {
            Some((spelling.last.distance(&found, spelling.edits)?, spelling.path.as_str()))
        });
        near.filter(|(_, path)| plan::at(plan.as_value(), path).is_none()).min().map(|(_, path)| path)
    }
}

impl Rules {
    /// Returns the fields of a plan that no rule reads, in their order. A list counts as one field.
    pub fn unread(&self, plan: &Plan) -> Vec<String> {
        let mut unread = Vec::new();
        plan.leaves(&mut |path, value| {
            let field = without_index(path);
            if !value.is_null() && !self.index.reads.contains(path) && !unread.iter().any(|one| one == field)
            {
                unread.push(field.to_owned());
            }
        });
        unread
    }

    /// Returns those of them that were probably meant as another field, which the plan lacks: both.
    pub(crate) fn mistyped(&self, plan: &Plan) -> Vec<(String, &str)> {
        let except = &self.tables.unread.except;
        let mut unread = self.unread(plan);
        unread.retain(|field| !except.iter().any(|pattern| pattern.covers(field)));
        let meant = |field: String| self.index.reads.meant(&field, plan).map(|meant| (field, meant));
        unread.into_iter().filter_map(meant).collect()
    }
}

impl Spelling {
    fn new(path: &str) -> Self {
        let last = Letters::new(last_name(path));
        let letters = last.plain.iter().filter(|byte| **byte != b'-').count();
        Self { path: path.to_owned(), edits: if letters >= LONG_NAME { 2 } else { 1 }, last }
    }
}

impl Letters {
    fn new(name: &str) -> Self {
        let plain = plain(name).into_bytes();
        let set = plain.iter().fold(0, |set, byte| set | 1 << (byte & 63));
        Self { plain, set }
    }

    /// Returns how many letters have to be added, left out, replaced or swapped with the next to make one name of the other;
    /// none if more than `most`.
    fn distance(&self, other: &Self, most: usize) -> Option<usize> {
        let (one, other_name) = (&self.plain, &other.plain);
        // Each edit changes at most two characters of the set.
        let differing = (self.set ^ other.set).count_ones() as usize;
        if one.len().abs_diff(other_name.len()) > most || differing > 2 * most {
            return None;
        }
        let width = other_name.len() + 1;
        let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![0; width], (0..width).collect());
        for (row, byte) in one.iter().enumerate() {
            let mut next = vec![row + 1; width];
            for (column, other_byte) in other_name.iter().enumerate() {
                let replaced = last[column] + usize::from(byte != other_byte);
                let swapped =
                    row > 0 && column > 0 && *byte == other_name[column - 1] && one[row - 1] == *other_byte;
                let swap = if swapped { before[column - 1] + 1 } else { usize::MAX };
                next[column + 1] = replaced.min(last[column + 1] + 1).min(next[column] + 1).min(swap);
            }
            (before, last) = (last, next);
        }
        last.last().copied().filter(|distance| *distance <= most)
    }
}

/// Returns a path without the numbers of list entries at its end.
fn without_index(path: &str) -> &str {
    let mut path = path;
    while let Some((shorter, last)) = path.rsplit_once('.') {
        if !last.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = shorter;
    }
    path
}

fn last_name(path: &str) -> &str {
    without_index(path).rsplit('.').next().unwrap_or(path)
}

impl Plan {
    /// Calls `visit` with every value that holds no other, and the path of its field.
    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(&str, &'a Value)) {
        self.walk(&mut |path, value| {
            let holds = match value {
                Value::Object(members) => !members.is_empty(),
                Value::Array(entries) => !entries.is_empty(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            };
            if !holds && !path.is_empty() {
                visit(path, value);
            }
        });
    }
}

/// From this many letters on, two edits make a mistyped name.
const LONG_NAME: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_as_a_typist_makes_them() {
        let distance = |one: &str, other: &str, most| Letters::new(one).distance(&Letters::new(other), most);
        for (one, other, expected) in [
            ("output_path", "outputPath", 1),
            ("output_path", "OUTPUT-PATH", 0),
            ("languages", "langauges", 1),
            ("direction", "directoin", 1),
            ("guests", "guest", 1),
            ("component_type", "componenttypes", 2),
        ] {
            assert_eq!(distance(one, other, 2), Some(expected), "{one} {other}");
            assert_eq!(distance(other, one, 2), Some(expected), "{other} {one}");
        }
        assert_eq!(distance("guests", "gust", 1), None);
        assert_eq!(distance("guests", "quests", 0), None);
        assert_eq!(distance("", "ab", 2), Some(2));
    }

    #[test]
    fn a_field_goes_by_its_last_name() {
        for (path, last) in [("a.b", "b"), ("a", "a"), ("a.b.0.1", "b"), ("a.0.b", "b"), ("7", "7")] {
            assert_eq!(last_name(path), last, "{path}");
        }
    }
}
