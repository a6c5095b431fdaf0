//! What is in layered rules: how many rows of which table, and from which pack. Read from the document that is hashed,
//! so that what is shown is what counts.

use std::collections::BTreeMap;

use demur_core::{canonical, limit::Limits};
use demur_rules::{RuleId, Rules};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The tables of a document of rules. What stands in a row does not matter here.
#[derive(Debug, Deserialize)]
pub(super) struct Tables {
    jurisdictions: Table,
    standards: Table,
    targets: Table,
    bundles: Table,
    languages: Table,
    required: Table,
    ambiguous: Table,
    overlaps: Table,
    conflicts: Table,
    policies: Table,
}

type Table = BTreeMap<String, Entry>;

#[derive(Debug, Deserialize)]
struct Entry {
    pack: String,
}

/// One table in figures.
#[derive(Debug, Serialize)]
pub(super) struct Count {
    /// How many rows come from which pack.
    pub(super) packs: BTreeMap<String, usize>,
    pub(super) rows: usize,
    /// As it is written in a file.
    pub(super) table: &'static str,
}

impl Tables {
    /// Returns the tables of these rules.
    pub(super) fn of(rules: &Rules) -> Result<Self, Failure> {
        canonical::from_json(rules.document(), &Limits::LINE).map_err(|error| Failure::bug(&error))
    }

    /// Returns every table in figures, policies last.
    pub(super) fn counts(&self) -> Vec<Count> {
        let count = |(table, rows): (&'static str, &Table)| {
            let mut packs = BTreeMap::new();
            for entry in rows.values() {
                *packs.entry(entry.pack.clone()).or_default() += 1;
            }
            Count { packs, rows: rows.len(), table }
        };
        self.all().map(count).into()
    }

    /// Returns the pack that a rule's row comes from; none for a rule that follows from no single row.
    pub(super) fn pack(&self, rule: &RuleId) -> Option<&str> {
        let (table, row) = rule.as_str().split_once('/')?;
        // A rule of another table is about a name that no row has.
        let rows = self.all().into_iter().skip(FACTS).find(|(name, _)| *name == table)?.1;
        rows.get(row).map(|entry| entry.pack.as_str())
    }

    const fn all(&self) -> [(&'static str, &Table); 10] {
        [
            ("jurisdiction", &self.jurisdictions),
            ("standard", &self.standards),
            ("target", &self.targets),
            ("bundle", &self.bundles),
            ("language", &self.languages),
            ("required", &self.required),
            ("ambiguous", &self.ambiguous),
            ("overlap", &self.overlaps),
            ("conflict", &self.conflicts),
            ("policy", &self.policies),
        ]
    }
}

/// How many of the tables hold facts only; the rows of the others make gaps.
const FACTS: usize = 5;
