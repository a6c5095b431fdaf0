//! What the user of the machine alone may do: keys, plans by the word of a key of the folder, the store itself.

use demur_desk::rules;
use serde_json::{Value, json};

use super::{super::seed::plan, NO_SESSION, Row, Show, plans::files, row};

pub(in super::super) fn rows() -> Vec<Row> {
    let mut rows = store();
    rows.extend(spoken());
    rows.extend(keys());
    rows
}

fn store() -> Vec<Row> {
    vec![
        row("findIds", "a trace", &[]).query("?kind=trace&typed=<trace answered>"),
        row("findIds", "a plan", &[]).query("?kind=plan&typed=<plan open>"),
        row("findIds", "a question", &[]).query("?kind=question&typed=<question open>"),
        row("findIds", "nothing", &[]).query("?kind=run&typed=zzzzzz"),
        row("findIds", "no kind", &[]).query("?typed=last"),
        row("requestStateKey", "one's own", &[]).show(Show::Members),
        row("storeCheck", "none goes on", &[]),
        row("checkStore", "now", &[]),
        row("checkpoint", "now", &[]).show(Show::Members),
    ]
}

fn spoken() -> Vec<Row> {
    let rules = String::from_utf8(rules::load(&[], false).unwrap().document().to_vec()).unwrap();
    let named = |mut document: Value| {
        document["author"] = json!("ada");
        document
    };
    let whole = || plan(&json!({}));
    let answer = |author: Value| json!({"answer": "uswds-only", "author": author, "by": "kim"});
    vec![
        row("listPlans", "the first", &[]).query("?limit=1"),
        row("listPlans", "none", &[]).query("?limit=0"),
        row("planHere", "open", &["<plan open>"]),
        row("planHere", "unknown", &[NO_SESSION]),
        row("checkPlanUnder", "whole", &[]).json(json!({"plan": whole(), "rules": rules})),
        row("checkPlanUnder", "no rules", &[]).json(json!({"plan": whole(), "rules": "{}"})),
        row("submitPlanAs", "with a key", &[]).json(named(json!({"plan": whole(), "rules": rules}))),
        row("submitPlanAs", "without a key", &[])
            .json(json!({"plan": whole(), "rules": rules, "author": "nobody"})),
        row("resolveGapAs", "without a key", &["<plan open>", "gap-001"]).json(answer(json!("nobody"))),
        row("resolveGapAs", "a person", &["<plan open>", "gap-001"]).json(answer(Value::Null)),
        row("beginOperationAs", "free", &["<plan whole>"]).json(named(json!({"operation": "build"}))),
        row("confirmPlanAs", "whole", &["<plan whole>"]).json(named(json!({}))),
        row("confirmPlanAs", "unknown", &[NO_SESSION]).json(named(json!({}))),
        row("attestPlanAs", "confirmed", &["<plan whole>"]).json(named(files())),
        row("attestPlanAs", "unknown", &[NO_SESSION]).json(named(files())),
    ]
}

fn keys() -> Vec<Row> {
    let made = |name: &str| json!({"made": {"name": name, "role": "critic", "principal": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}});
    vec![
        row("listKeys", "all", &[]).show(Show::Members),
        row("registerKey", "made here", &[]).json(made("nora")).show(Show::Members),
        row("registerKey", "a name that is taken", &[]).json(made("nora")),
        row("registerKey", "no key", &[]).json(json!({"made": {"name": "no one"}})),
        row("rotateKey", "there", &["<key ada>"]).json(json!({})).show(Show::Members),
        row("rotateKey", "again", &["<key ada>"]).json(json!({})),
        row("rotateKey", "unknown", &[NO_KEY]).json(json!({})),
        row("revokeKey", "there", &["<key ada>"]).json(json!({"reason": "lost"})).show(Show::Members),
        row("revokeKey", "of the desk", &["<key desk>"]).json(json!({"reason": "lost"})),
        row("revokeKey", "unknown", &[NO_KEY]).json(json!({"reason": "lost"})),
    ]
}

/// A key that nobody has.
const NO_KEY: &str = "0000000000000000000000000000000000000000000000000000000000000000";
