//! `demur plan amend`, `withdraw` and `ask-again`, the same over MCP, and the name under which demur signs.

use std::fs;

use serde_json::{Value, json};

use crate::{
    mcp::client::Client,
    plan::{Planned, with},
    sandbox::Sandbox,
};

fn gappy() -> Value {
    with(&json!({"real_build": true}))
}

fn verified(sandbox: &Sandbox, code: i32) -> Value {
    sandbox.run(&["export", "last", "--out", "plan.jsonl"]).expect_code(0);
    let ran = sandbox.run(&["verify", "plan.jsonl", "--no-guess", "--json"]);
    fs::remove_file(sandbox.path("plan.jsonl")).unwrap();
    serde_json::from_str(&ran.expect_code(code).stdout).unwrap()
}

/// CLR-34 CLR-52
#[test]
fn a_plan_is_amended_in_its_session_and_nothing_in_it_was_guessed() {
    let planned = Planned::new(&gappy());
    let write = |plan: &Value| fs::write(planned.sandbox.path("new.json"), plan.to_string()).unwrap();
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    write(&with(&json!({"real_build": true, "output_path": "elsewhere"})));
    let refused = planned.sandbox.json_error(&["plan", "amend", &planned.session, "new.json"], 3);
    assert_eq!(refused["code"], "FIELD_ANSWERED", "{refused}");
    write(&with(&json!({"real_build": true, "description": "a news page"})));
    let ran = planned.run("amend", &["new.json"]);
    assert!(ran.expect_code(0).stdout.contains("Plan of agent: a news page"), "{ran}");
    planned.run("confirm", &[]).expect_code(0);
    let report = verified(&planned.sandbox, 0);
    let values = report["no_guess"]["checked"]["values"].as_array().unwrap();
    let origin = |field: &str| values.iter().find(|value| value["field"] == field).unwrap()["kind"].clone();
    assert_eq!((origin("output_path"), origin("description")), (json!("person"), json!("own_word")));
    let shown = planned.sandbox.run(&["trace", "show", "last"]).expect_code(0).stdout.clone();
    assert!(shown.contains("amends the plan"), "{shown}");
    write(&gappy());
    let refused = planned.sandbox.json_error(&["plan", "amend", &planned.session, "new.json"], 3);
    assert_eq!(refused["code"], "OUT_OF_PLAN", "{refused}");
}

/// CLR-34
#[test]
fn plan_show_says_how_a_declined_or_withdrawn_gap_is_put_again_and_the_command_works() {
    for withdraw in [&["withdraw", "gap-001"][..], &["withdraw", "gap-001", "--as", "agent"], &["decline"]] {
        let planned = Planned::new(&gappy());
        if withdraw[0] == "decline" {
            planned.sandbox.run(&["decline", "last"]).expect_code(0);
        } else {
            planned.run(withdraw[0], &withdraw[1..]).expect_code(0);
        }
        let shown = planned.run("show", &[]).expect_code(0).stdout.clone();
        let (_, command) = shown.split_once("Ask again: demur ").unwrap_or_else(|| panic!("{shown}"));
        let command: Vec<_> = command.split_whitespace().collect();
        planned.sandbox.run(&command).expect_code(0);
        let shown = planned.run("show", &[]).expect_code(0).stdout.clone();
        assert!(!shown.contains("Ask again") && shown.contains("Answer: demur plan resolve"), "{shown}");
        planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
        planned.run("confirm", &[]).expect_code(0);
        verified(&planned.sandbox, 0);
    }
}

/// CLR-34
#[test]
fn a_withdrawn_plan_leaves_the_inbox_and_is_told_as_withdrawn() {
    let planned = Planned::new(&gappy());
    let inbox = || planned.sandbox.run(&["inbox", "--list"]).stdout;
    assert!(inbox().contains("the plan of agent: a status page"), "{}", inbox());
    let ran = planned.run("withdraw", &["--reason", "by hand instead"]);
    assert!(ran.expect_code(0).stdout.contains("Withdrawn:"), "{ran}");
    assert!(!inbox().contains("output_path"), "{}", inbox());
    let listed = planned.sandbox.run(&["plan", "list"]).expect_code(0).stdout.clone();
    assert!(listed.contains("withdrawn"), "{listed}");
    let refused = planned.sandbox.json_error(&["plan", "begin", &planned.session, "build"], 3);
    assert_eq!(refused["code"], "OUT_OF_PLAN", "{refused}");
    let report = verified(&planned.sandbox, 1);
    assert_eq!(report["no_guess"]["checked"]["problems"], json!([]), "{report}");
    planned.sandbox.run(&["audit", &planned.session]).expect_code(0);
}

/// CLR-34 CLR-45
#[test]
fn an_agent_amends_withdraws_and_asks_again_over_mcp() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let mut told = |tool: &str, arguments: &Value| client.call(tool, arguments)["structuredContent"].clone();
    let opened = told("wwa_clarify_check", &json!({"plan_object": gappy(), "wait_s": 0}));
    let session = opened["session_id"].clone();
    let gap = |change: &str| json!({"session_id": session, "change": change, "gap_id": "gap-001"});
    assert_eq!(told("wwa_change_plan", &gap("withdraw"))["unasked"], json!(["gap-001"]));
    assert!(told("wwa_change_plan", &gap("ask_again")).get("unasked").is_none());
    let amended = with(&json!({"real_build": false}));
    let amend = json!({"session_id": session, "change": "amend", "plan_object": amended});
    assert_eq!(told("wwa_change_plan", &amend)["status"], "ready_to_proceed");
    let back = json!({"session_id": session, "change": "amend", "plan_object": gappy()});
    let asked = told("wwa_change_plan", &back);
    assert_eq!(
        (&asked["gaps"][0]["id"], &asked["status"]),
        (&json!("gap-001"), &json!("needs_clarification"))
    );
    let withdraw = json!({"session_id": session, "change": "withdraw", "reason": "not wanted"});
    assert_eq!(told("wwa_change_plan", &withdraw)["status"], "withdrawn");
    let planned =
        told("wwa_clarify_check", &json!({"plan_object": gappy(), "session_id": session, "wait_s": 0}));
    assert_eq!(planned["status"], "withdrawn", "{planned}");
}

/// CLR-34: the plan of one agent is no other agent's to change.
#[test]
fn another_agent_changes_no_plan_over_mcp() {
    let sandbox = Sandbox::new();
    let client = |name: &str| Client::apart(&sandbox, &["--tools", "wwa"], &json!({})).named(name);
    let (mut own, mut other) = (client("ada"), client("mallory"));
    let opened = own.call("wwa_clarify_check", &json!({"plan_object": gappy(), "wait_s": 0}));
    let session = opened["structuredContent"]["session_id"].clone();
    let before = sandbox.json(&["plan", "show", "last"]);
    for change in [
        json!({"change": "amend", "plan_object": with(&json!({}))}),
        json!({"change": "withdraw"}),
        json!({"change": "withdraw", "gap_id": "gap-001"}),
    ] {
        let mut given = change.clone();
        given["session_id"] = session.clone();
        let refused = other.call("wwa_change_plan", &given);
        let words = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && words.starts_with("FORBIDDEN"), "{change}: {refused}");
    }
    assert_eq!(sandbox.json(&["plan", "show", "last"]), before);
}

/// CLR-34: what a person answered stays, whatever the agent amends over MCP.
#[test]
fn a_field_that_a_person_answered_is_not_amended_over_mcp() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let opened = client.call("wwa_clarify_check", &json!({"plan_object": gappy(), "wait_s": 0}));
    let session = opened["structuredContent"]["session_id"].clone();
    sandbox.run(&["plan", "resolve", "last", "gap-001", "dist"]).expect_code(0);
    let moved = with(&json!({"real_build": true, "output_path": "elsewhere"}));
    let amend = json!({"session_id": session, "change": "amend", "plan_object": moved});
    let told = client.call("wwa_change_plan", &amend);
    let words = told["content"][0]["text"].as_str().unwrap();
    assert!(told["isError"] == true && words.starts_with("FIELD_ANSWERED"), "{told}");
    client.call("wwa_confirm_plan", &json!({"session_id": session}));
    let report = verified(&sandbox, 0);
    let values = report["no_guess"]["checked"]["values"].as_array().unwrap();
    let path = values.iter().find(|value| value["field"] == "output_path").unwrap();
    assert_eq!(path["kind"], "person", "{report}");
}

/// CLR-45
#[test]
fn an_answer_outside_closed_choices_is_a_round_over_mcp_too() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let mut told = |tool: &str, arguments: &Value| client.call(tool, arguments)["structuredContent"].clone();
    let plan = with(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"}));
    let session = told("wwa_clarify_check", &json!({"plan_object": plan, "wait_s": 0}))["session_id"].clone();
    let answer = |words: &str| json!({"session_id": session, "gap_id": "gap-001", "answer": words});
    assert_eq!(told("wwa_clarify_resolve", &answer("whatever"))["status"], "escalated");
    assert_eq!(told("wwa_clarify_resolve", &answer("uswds-only"))["status"], "resolved");
    let record = told("wwa_clarify_audit", &json!({"session_id": session}))["audit_record"].clone();
    let first = &record["chain"][0];
    assert_eq!((&first["answer"], &first["resolved"]), (&json!("whatever"), &json!(false)), "{record}");
    assert_eq!(record["chain"][1]["resolved"], true, "{record}");
}

/// CLR-20
#[test]
fn documents_are_signed_under_the_name_that_the_data_folder_keeps() {
    let planned = Planned::new(&gappy());
    let name = |planned: &Planned| planned.json("show", &[], 0)["document"]["agent_id"].clone();
    assert_eq!(name(&planned), "demur-desk");
    let key = planned.json("show", &[], 0)["document"]["agent_public_key"].as_str().unwrap().to_owned();
    assert_eq!(planned.sandbox.run(&["identity", "name"]).expect_code(0).stdout, "demur-desk\n");
    planned.sandbox.run(&["identity", "name", "wwa-scaffold-v1.0.0"]).expect_code(0);
    assert_eq!(planned.sandbox.json(&["identity", "name"])["agent_id"], "wwa-scaffold-v1.0.0");
    // A session keeps its name: its record is checked under one.
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    let record = planned.sandbox.json(&["audit", &planned.session]);
    fs::write(planned.sandbox.path("record.json"), record.to_string()).unwrap();
    planned.sandbox.run(&["audit", "verify", "record.json", "--key", &key]).expect_code(0);
    let ran = planned.sandbox.run(&["plan", "submit", "plan.json", "--json"]);
    let next: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(next["document"]["agent_id"], "wwa-scaffold-v1.0.0");
    let session = next["session_id"].as_str().unwrap();
    planned.sandbox.run(&["plan", "resolve", session, "gap-001", "dist"]).expect_code(0);
    let record = planned.sandbox.json(&["audit", session]);
    fs::write(planned.sandbox.path("record.json"), record.to_string()).unwrap();
    let verify = ["audit", "verify", "record.json", "--key", &key];
    planned.sandbox.run(&verify).expect_code(1);
    planned.sandbox.run(&[&verify[..], &["--agent-id", "wwa-scaffold-v1.0.0"]].concat()).expect_code(0);
    // The name is in what the keys signed: it need not be typed, and another one does not hold.
    let trace = next["trace"].as_str().unwrap();
    planned.sandbox.run(&["export", trace, "--out", "trace.jsonl"]).expect_code(0);
    let verify = ["audit", "verify", "record.json", "--registry", "trace.jsonl"];
    let checked = planned.sandbox.json(&verify);
    assert_eq!(
        (&checked["valid"], &checked["agent_id"]),
        (&json!(true), &json!("wwa-scaffold-v1.0.0")),
        "{checked}"
    );
    planned.sandbox.run(&[&verify[..], &["--agent-id", "demur-desk"]].concat()).expect_code(1);
    let package = planned.sandbox.run(&["handoff", session, "--task", "build"]).expect_code(0).stdout.clone();
    fs::write(planned.sandbox.path("package.json"), &package).unwrap();
    planned.sandbox.run(&["handoff", "verify", "package.json", "--key", &key]).expect_code(0);
    let renamed = package.replace("wwa-scaffold-v1.0.0", "somebody-else");
    fs::write(planned.sandbox.path("package.json"), renamed).unwrap();
    planned.sandbox.run(&["handoff", "verify", "package.json", "--key", &key]).expect_code(1);
    planned.sandbox.run(&["identity", "name", "--built-in"]).expect_code(0);
    assert_eq!(planned.sandbox.json(&["identity", "name"])["agent_id"], "demur-desk");
}
