//! What follows from a plan by the tables: which standards, targets and languages it names, and which names mean
//! nothing or several things. Conditions read it as `context.derived`.

use std::collections::BTreeSet;

use demur_clarify::name::FieldPath;
use serde_json::{Value, json};

use crate::{
    direction::{self, Direction},
    index::Meaning,
    name::{RowId, plain},
    plan::{self, Plan},
    rules::Rules,
    table::Coverage,
};

/// The member of a condition's context that holds what follows from a plan.
pub(crate) const DERIVED: &str = "derived";

/// Its members.
pub(crate) const DERIVED_NAMES: [&str; 9] = [
    "bundles",
    "covered",
    "jurisdictions",
    "languages",
    "partly_covered",
    "right_to_left",
    "standards",
    "target_jurisdictions",
    "targets",
];

/// What follows from a plan.
#[derive(Default)]
pub(crate) struct Facts<'a> {
    pub(crate) standards: BTreeSet<&'a RowId>,
    pub(crate) bundles: BTreeSet<&'a RowId>,
    /// Each bundle, and each standard that is named by itself.
    pub(crate) groups: Vec<Group<'a>>,
    pub(crate) targets: BTreeSet<&'a RowId>,
    pub(crate) languages: Vec<Spoken>,
    /// Names that no row has, or several.
    pub(crate) unclear: Vec<Unclear<'a>>,
}

/// Standards that a plan names together, with every jurisdiction that one of them is of.
#[derive(Clone)]
pub(crate) struct Group<'a> {
    pub(crate) id: &'a RowId,
    pub(crate) name: &'a str,
    pub(crate) standards: BTreeSet<&'a RowId>,
    pub(crate) jurisdictions: BTreeSet<&'a RowId>,
}

/// A language of a plan.
pub(crate) struct Spoken {
    pub(crate) field: String,
    /// As it stands in the plan.
    pub(crate) value: String,
    pub(crate) tag: String,
    pub(crate) supported: bool,
}

/// A name that does not say one thing.
pub(crate) struct Unclear<'a> {
    pub(crate) field: String,
    pub(crate) value: String,
    pub(crate) what: What,
    /// What it may mean; none for a name that no row has.
    pub(crate) candidates: Vec<&'a Meaning>,
}

/// What a name should have been.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Standard,
    Target,
}

impl<'a> Facts<'a> {
    /// Returns what follows from a plan.
    pub(crate) fn new(rules: &'a Rules, plan: &Plan) -> Self {
        let mut facts = Self::default();
        let settings = &rules.tables.settings;
        let standards = settings.standards.iter().flatten();
        for meaning in facts.resolve(rules, What::Standard, standards, plan) {
            let Some(group) = Group::new(rules, meaning) else { continue };
            facts.standards.extend(&group.standards);
            if let Meaning::Bundle(id) = meaning {
                facts.bundles.insert(id);
            }
            if !facts.groups.iter().any(|known| known.id == group.id) {
                facts.groups.push(group);
            }
        }
        let targets = settings.targets.iter().flatten();
        let targets = facts.resolve(rules, What::Target, targets, plan);
        facts.targets.extend(targets.into_iter().map(Meaning::id));
        if let Some(field) = &settings.languages {
            facts.languages = named(rules, plan, field)
                .into_iter()
                .map(|(field, value)| spoken(rules, field, value))
                .collect();
        }
        facts
    }

    fn resolve<'f>(
        &mut self,
        rules: &'a Rules,
        what: What,
        fields: impl Iterator<Item = &'f FieldPath>,
        plan: &Plan,
    ) -> Vec<&'a Meaning> {
        let names = match what {
            What::Standard => &rules.index.standards,
            What::Target => &rules.index.targets,
        };
        let mut clear = Vec::new();
        for (field, value) in fields.flat_map(|field| named(rules, plan, field)) {
            let candidates = names.meanings(&value);
            match candidates.as_slice() {
                [one] => clear.push(*one),
                _ => self.unclear.push(Unclear { field, value, what, candidates }),
            }
        }
        clear
    }

    /// Returns the languages that are written from right to left.
    pub(crate) fn right_to_left(&self) -> impl Iterator<Item = &Spoken> {
        self.languages.iter().filter(|spoken| direction::direction(&spoken.tag) == Direction::RightToLeft)
    }

    /// Returns the standards that are not selected, but that a selected one covers so far.
    fn covered(&self, rules: &'a Rules, how_far: Coverage) -> BTreeSet<&'a RowId> {
        let rows = rules.tables.overlaps.values().map(|entry| &entry.row);
        let covering = rows.filter(|row| row.kind == how_far && self.standards.contains(&row.from));
        covering.map(|row| &row.to).filter(|to| !self.standards.contains(to)).collect()
    }

    /// Returns the record that conditions read.
    pub(crate) fn to_value(&self, rules: &'a Rules) -> Value {
        let tables = &rules.tables;
        let of_standards = self.standards.iter().filter_map(|id| tables.standards.get(*id));
        let of_targets = self.targets.iter().filter_map(|id| tables.targets.get(*id));
        let jurisdictions: BTreeSet<&RowId> =
            of_standards.flat_map(|entry| &entry.row.jurisdictions).collect();
        let target_jurisdictions: BTreeSet<&RowId> =
            of_targets.flat_map(|entry| &entry.row.jurisdictions).collect();
        let tags: Vec<&str> = self.languages.iter().map(|spoken| spoken.tag.as_str()).collect();
        let right_to_left: Vec<&str> = self.right_to_left().map(|spoken| spoken.tag.as_str()).collect();
        json!({
            "bundles": self.bundles,
            "covered": self.covered(rules, Coverage::Covers),
            "jurisdictions": jurisdictions,
            "languages": tags,
            "partly_covered": self.covered(rules, Coverage::PartiallyCovers),
            "right_to_left": right_to_left,
            "standards": self.standards,
            "target_jurisdictions": target_jurisdictions,
            "targets": self.targets,
        })
    }
}

impl<'a> Group<'a> {
    fn new(rules: &'a Rules, meaning: &'a Meaning) -> Option<Self> {
        let tables = &rules.tables;
        let (id, name, standards): (_, _, BTreeSet<&RowId>) = match meaning {
            Meaning::Row(id) => (id, &tables.standards.get(id)?.row.name, BTreeSet::from([id])),
            Meaning::Bundle(id) => {
                let row = &tables.bundles.get(id)?.row;
                (id, &row.name, row.standards.iter().collect())
            }
        };
        let rows = standards.iter().filter_map(|id| tables.standards.get(*id));
        let jurisdictions = rows.flat_map(|entry| &entry.row.jurisdictions).collect();
        Some(Self { id, name: name.as_str(), standards, jurisdictions })
    }
}

fn spoken(rules: &Rules, field: String, value: String) -> Spoken {
    let alias = rules.index.languages.get(&plain(&value));
    let tag = alias.map_or_else(|| direction::canonical(&value), ToString::to_string);
    let supported = rules.tables.languages.is_empty() || rules.tables.supports(&tag);
    Spoken { field, value, tag, supported }
}

/// Returns the names in a field: one text, or the entries of a list. Something else is shown as JSON, so that it is
/// asked about and not passed over; a record is passed over where rules read what is inside of it.
fn named(rules: &Rules, plan: &Plan, field: &FieldPath) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match plan.value(field) {
        None => Vec::new(),
        Some(Value::Array(entries)) => entries
            .iter()
            .enumerate()
            .filter(|(_, value)| !is_blank(value))
            .map(|(index, value)| (format!("{field}.{index}"), text(value)))
            .collect(),
        Some(value) if is_blank(value) => Vec::new(),
        Some(Value::Object(_)) if rules.index.reads.reach_into(field.as_str()) => Vec::new(),
        Some(value) => vec![(field.to_string(), text(value))],
    }
}

/// Returns whether there is no name at all. A text such as `???` is one: no row knows it, and so it is asked about.
fn is_blank(value: &Value) -> bool {
    value.as_str().map_or_else(|| plan::is_empty(value), |text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derive(plan: Value) -> Value {
        let rules = Rules::builtin().unwrap();
        Facts::new(&rules, &Plan::try_from(plan).unwrap()).to_value(&rules)
    }

    #[test]
    fn what_follows_from_a_plan_can_be_stated() {
        let of = |standards: Value| derive(json!({"standards_selected": standards}));
        assert_eq!(of(json!(["JSP 440"]))["partly_covered"], json!(["nato-stanag"]));
        assert_eq!(of(json!(["WCAG 2.2 AAA"]))["covered"], json!(["wcag-2-2-aa"]));
        assert_eq!(of(json!(["WCAG 2.2 AA"]))["partly_covered"], json!(["en-301-549", "section-508"]));
        assert_eq!(of(json!(["800-53"]))["partly_covered"], json!(["nist-800-171"]));
        assert_eq!(of(json!(["800-171"]))["partly_covered"], json!(["cmmc"]));
        let pharma = of(json!("Pharma GxP"));
        assert_eq!(pharma["bundles"], json!(["pharma-gxp"]));
        assert_eq!(pharma["jurisdictions"], json!(["eu", "uk", "us"]));
        let derived =
            derive(json!({"languages": ["Welsh", "ar_SA", "az-Arab"], "deployment_target": "USWDS"}));
        assert_eq!(derived["languages"], json!(["cy", "ar-sa", "az-arab"]));
        assert_eq!(derived["right_to_left"], json!(["ar-sa", "az-arab"]));
        assert_eq!(derived["target_jurisdictions"], json!(["us"]));
    }
}
