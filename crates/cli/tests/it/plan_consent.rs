//! Consent holds for the values it was given for, from the command line to the verdict over the export.

use std::fs;

use serde_json::{Value, json};

use crate::{mcp::client::Client, sandbox::Sandbox};

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

/// Returns a sandbox with a pack that has this policy.
fn with_policy(policy: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("pack")).unwrap();
    fs::write(sandbox.path("pack/pack.toml"), PACK).unwrap();
    fs::write(sandbox.path("pack/bank.cedar"), policy).unwrap();
    sandbox
}

/// Returns a sandbox with a plan that was submitted under a policy.
fn submitted(policy: &str, plan: &Value) -> (Sandbox, Value) {
    let sandbox = with_policy(policy);
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
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

/// Has an agent submit a plan over MCP under a policy; returns how it stands.
fn submitted_over_mcp(policy: &str, plan: &Value) -> (Sandbox, Client, Value) {
    let sandbox = with_policy(policy);
    sandbox.run(&["rules", "use", "pack", "--only"]).expect_code(0);
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let told = client.call("wwa_clarify_check", &json!({"plan_object": plan, "wait_s": 0}));
    (sandbox, client, told["structuredContent"].clone())
}

/// Expects that the agent cannot confirm the plan, and that no strict verdict over it passes.
#[track_caller]
fn expect_unsettled(sandbox: &Sandbox, client: &mut Client, session: &Value) {
    let refused = client.call("wwa_confirm_plan", &json!({"session_id": session}));
    let status = &refused["structuredContent"]["status"];
    assert!(refused["isError"] == true && status == "needs_clarification", "{refused}");
    sandbox.run(&["export", "last", "--out", "open.jsonl", "--force"]).expect_code(0);
    let strict = sandbox.run(&["verify", "open.jsonl", "--strict", "--no-guess", "--json"]);
    let strict: Value = serde_json::from_str(&strict.expect_code(1).stdout).unwrap();
    assert_ne!(strict["verdict"], "pass", "{strict}");
}

/// CLR-54
#[test]
fn an_acceptance_lapses_when_the_agent_amends_over_mcp() {
    let plan = json!({"amount": 10, "to": "mallory"});
    let (sandbox, mut client, opened) = submitted_over_mcp(TRANSFERS, &plan);
    let session = &opened["session_id"];
    sandbox.run(&["plan", "resolve", "last", "gap-001", "--accept"]).expect_code(0);
    assert!(open(&sandbox).is_empty());
    let more = json!({"amount": 1_000_000, "to": "mallory"});
    let amend = json!({"session_id": session, "change": "amend", "plan_object": more});
    let amended = client.call("wwa_change_plan", &amend)["structuredContent"].clone();
    assert_eq!(amended["status"], "needs_clarification", "{amended}");
    assert_eq!(open(&sandbox), ["1000000 to mallory. Is that right?"]);
    expect_unsettled(&sandbox, &mut client, session);
}

/// CLR-54
#[test]
fn an_approval_in_the_plan_or_of_the_submitter_does_not_count_over_mcp() {
    let plan = json!({"amount": 10, "approved": true});
    let (sandbox, mut client, opened) = submitted_over_mcp(APPROVALS, &plan);
    assert_eq!(opened["status"], "needs_clarification", "{opened}");
    let session = &opened["session_id"];
    let own = json!({"session_id": session, "gap_id": "gap-001", "answer": "yes"});
    let own = client.call("wwa_clarify_resolve", &own);
    assert_ne!(own["structuredContent"]["status"], "resolved", "{own}");
    expect_unsettled(&sandbox, &mut client, session);
}
