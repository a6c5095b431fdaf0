//! What a gap is asked about: the field, the rule, and every value that the rule names (CLR-54). An acceptance, or a yes to a rule,
//! is given for these values and no others.

use std::collections::BTreeSet;

use demur_clarify::name::FieldPath;
use demur_core::{
    canonical,
    hash::{Digest, sha256},
};
use serde_json::{Map, Value, json};

use crate::{
    error::PlanError,
    facts::{self, Facts},
    name::RowId,
    plan::{self, Plan},
    rules::Rules,
};

impl Rules {
    /// Returns SHA-256 of the canonical JSON of what a gap is asked about in this plan: `{field,rule,values}`.
    pub fn request(&self, rule: &str, field: &FieldPath, plan: &Plan) -> Result<Digest, PlanError> {
        let values = self.values(rule, field, plan);
        Ok(sha256(&canonical::to_vec(&json!({"field": field, "rule": rule, "values": values}))?))
    }

    /// Returns every path that a rule names at a field, whether it would be looked at or not, with its value in this plan or null.
    pub fn values(&self, rule: &str, field: &FieldPath, plan: &Plan) -> Map<String, Value> {
        let paths = self.paths(rule, field);
        let is_derived = |path: &String| path.split('.').next() == Some(facts::DERIVED);
        let derived = if paths.iter().any(is_derived) {
            json!({facts::DERIVED: Facts::new(self, plan).to_value(self)})
        } else {
            Value::Null
        };
        let value = |path: &String| {
            let from = if is_derived(path) { &derived } else { plan.as_value() };
            plan::at(from, path).cloned().unwrap_or_default()
        };
        paths.iter().map(|path| (path.clone(), value(path))).collect()
    }

    /// Returns whether a yes or a choice in answer to this rule is a consent: it lets values pass that stand elsewhere in the plan.
    pub fn asks_for_consent(rule: &str) -> bool {
        let table = rule.split_once('/').map_or(rule, |(table, _)| table);
        matches!(table, "overlap" | "conflict" | "jurisdiction" | "policy")
    }

    fn paths(&self, rule: &str, field: &FieldPath) -> BTreeSet<String> {
        let mut paths = BTreeSet::from([field.to_string()]);
        let Some((table, row)) = rule.split_once('/') else { return paths };
        let Ok(row) = RowId::try_from(row.to_owned()) else { return paths };
        let derived = |names: &[&str]| {
            names.iter().map(|name| format!("{}.{name}", facts::DERIVED)).collect::<Vec<_>>()
        };
        match table {
            "required" => {
                let when = self.tables.required.get(&row).map(|entry| &entry.row.when);
                paths.extend(when.into_iter().flat_map(|when| when.keys()).map(ToString::to_string));
            }
            "overlap" => paths.extend(derived(&["standards"])),
            "conflict" | "jurisdiction" => paths.extend(derived(&[
                "bundles",
                "jurisdictions",
                "standards",
                "target_jurisdictions",
                "targets",
            ])),
            "layout" => paths.extend(derived(&["right_to_left"])),
            "policy" => {
                if let Some(entry) = self.tables.policies.get(&row) {
                    paths.insert(entry.row.field.to_string());
                    paths.extend(placeholders(&entry.row.question));
                    paths.extend(placeholders(&entry.row.context));
                }
                let condition = self.index.conditions.iter().find(|(id, _)| *id == row);
                paths.extend(condition.into_iter().flat_map(|(_, condition)| condition.names()));
            }
            _ => {}
        }
        paths
    }
}

/// Returns the paths that a wording shows.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    parts.filter_map(|(name, _)| name.strip_prefix("context.")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pack;

    const POLICY: &str = "@id(\"pay\")\n@field(\"approved\")\n@question(\"{context.amount}?\")\nforbid (principal, action, resource)\n\
        when { context.amount > 0 && (context.to == \"eve\" || context.derived.standards.contains(\"x\")) } unless { context has approved };";

    /// CLR-54
    #[test]
    fn every_path_that_a_rule_names_is_in_the_request_also_where_it_is_not_looked_at() {
        let pack = [("pack.toml", "[pack]\nname = \"own\"\nversion = \"1\"\n"), ("pay.cedar", POLICY)];
        let rules = Rules::layer(&[Pack::read(pack).unwrap()]).unwrap();
        let plan = |value: Value| Plan::try_from(value).unwrap();
        let (field, ten) = ("approved".parse().unwrap(), plan(json!({"amount": 10, "note": "n"})));
        let expected = json!({"amount": 10, "approved": null, "derived.standards": [], "to": null});
        assert_eq!(Value::Object(rules.values("policy/pay", &field, &ten)), expected);
        let request = |value: Value| rules.request("policy/pay", &field, &plan(value)).unwrap();
        let first = request(json!({"amount": 10, "note": "n"}));
        assert_eq!(first, request(json!({"amount": 10, "note": "another"})));
        for other in [
            json!({"amount": 11}),
            json!({"amount": 10, "to": "eve"}),
            json!({"amount": 10, "approved": false}),
        ] {
            assert_ne!(first, request(other.clone()), "{other}");
        }
        assert_ne!(first, rules.request("policy/other", &field, &ten).unwrap(), "the rule is in it");
    }
}
