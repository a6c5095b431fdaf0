//! Consent holds for the values it was given for, from the command line to the verdict over the export.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const PACK: &str = "[pack]\nname = \"bank\"\nversion = \"1\"\n";
const TRANSFERS: &str = "
@id(\"transfer\")
@field(\"checked\")
@severity(\"WARN\")
@question(\"{context.amount} to {context.to}. Is that right?\")
@kinds(\"yes_no\")
forbid (principal, action, resource)
when { context.amount > 0 && context.to != \"\" } unless { context has checked && context.checked };
";
const APPROVALS: &str = "
@id(\"approval\")
@field(\"approved\")
@question(\"{context.amount} go out. Go ahead?\")
@kinds(\"yes_no\")
@assurance(\"terminal\")
forbid (principal, action, resource)
when { context.amount > 0 } unless { context has approved && context.approved };
";

/// Returns a sandbox with a plan that was submitted under a policy.
fn submitted(policy: &str, plan: &Value) -> (Sandbox, Value) {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    fs::create_dir(sandbox.path("pack")).unwrap();
    fs::write(sandbox.path("pack/pack.toml"), PACK).unwrap();
    fs::write(sandbox.path("pack/bank.cedar"), policy).unwrap();
    write(&sandbox, plan);
    let ran = sandbox.run(&["plan", "submit", "plan.json", "--rules", "pack", "--only", "--json"]);
    let standing = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    (sandbox, standing)
}

fn write(sandbox: &Sandbox, plan: &Value) {
    fs::write(sandbox.path("plan.json"), plan.to_string()).unwrap();
}

fn open(sandbox: &Sandbox) -> Vec<String> {
    let shown = sandbox.json(&["plan", "show", "last"]);
    shown["gaps"].as_array().unwrap().iter().map(|gap| gap["question"].as_str().unwrap().to_owned()).collect()
}

fn finish(sandbox: &Sandbox) {
    sandbox.run(&["plan", "confirm", "last"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "plan.jsonl"]).expect_code(0);
    sandbox.run(&["verify", "plan.jsonl", "--no-guess"]).expect_code(0);
}

/// CLR-54
#[test]
fn an_acceptance_lapses_when_the_agent_amends_what_it_was_given_for() {
    let (sandbox, _) = submitted(TRANSFERS, &json!({"amount": 10, "to": "mallory"}));
    assert_eq!(open(&sandbox), ["10 to mallory. Is that right?"]);
    sandbox.run(&["plan", "resolve", "last", "gap-001", "--accept"]).expect_code(0);
    assert!(open(&sandbox).is_empty());
    write(&sandbox, &json!({"amount": 1_000_000, "to": "mallory"}));
    sandbox.run(&["plan", "amend", "last", "plan.json"]).expect_code(3);
    assert_eq!(open(&sandbox), ["1000000 to mallory. Is that right?"]);
    sandbox.run(&["plan", "confirm", "last"]).expect_code(3);
    sandbox.run(&["plan", "resolve", "last", "gap-001", "--accept"]).expect_code(0);
    finish(&sandbox);
}

/// CLR-54
#[test]
fn an_approval_in_the_plan_itself_does_not_satisfy_a_stated_assurance() {
    let (sandbox, standing) = submitted(APPROVALS, &json!({"amount": 10, "approved": true}));
    assert_eq!(
        (&standing["status"], &standing["blocking_count"]),
        (&json!("needs_clarification"), &json!(1))
    );
    let context = standing["gaps"][0]["context"].as_str().unwrap();
    assert!(context.contains("does not count"), "{context}");
    sandbox.run(&["plan", "resolve", "last", "gap-001", "yes"]).expect_code(0);
    finish(&sandbox);
}
