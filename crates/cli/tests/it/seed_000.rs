//! Seed 000, the Agent Clarification Protocol, taken at its word: every tool name, argument, field, state and transition that its
//! text has, played against a real server over MCP. `conformance/clarify/seed-000.txt` is the text; `docs/clarify.md` lists where
//! demur departs from it, and why.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    mcp::client::Client,
    sandbox::{Sandbox, conformance},
};

fn seed() -> String {
    std::fs::read_to_string(conformance("../clarify/seed-000.txt")).unwrap()
}

/// Returns the JSON examples of the seed, in their order: the document of section 4, the record of section 7.
fn examples() -> Vec<Value> {
    let (text, mut found, mut end) = (seed(), Vec::new(), 0);
    for (start, _) in text.match_indices("\n{\n") {
        // An object inside of an example is none.
        if start < end {
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        found.extend(values.next().and_then(Result::ok));
        end = start + values.byte_offset();
    }
    assert_eq!(found.len(), 2);
    found
}

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect()
}

/// The plan of the seed's example, as its section 5 passes it: member by member.
fn arguments() -> Map<String, Value> {
    let given = json!({
        "description": "A web part that shows the news", "standards": ["JSP 440"], "languages": ["en-gb"],
        "libraries": ["pnp-sp"], "component_type": "webpart-react", "operation": "add", "data_storage": "properties",
        "api_choice": "rest", "deployment_target": "USWDS",
    });
    given.as_object().unwrap().clone()
}

fn client(sandbox: &Sandbox) -> Client {
    Client::legacy(sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}))
}

/// Calls a tool and returns its document, which a refusal has too.
fn told(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    assert!(seed().contains(tool), "{tool} is none of the seed's names");
    let reply = client.call(tool, arguments);
    assert!(reply["structuredContent"].is_object(), "{tool}: {reply}");
    reply["structuredContent"].clone()
}

/// CLR-20 CLR-40 CLR-64: the example of section 4, word for word, in the reply to the call of section 5.
#[test]
fn the_example_of_section_4_is_what_the_call_of_section_5_gets() {
    let (sandbox, examples) = (Sandbox::new(), examples());
    let example = &examples[0];
    let mut given = Value::Object(arguments());
    given["wait_s"] = json!(0);
    let mut client = client(&sandbox);
    let planned = told(&mut client, "wwa_scaffold_plan", &given);
    assert_eq!(planned["status"], example["status"]);
    assert_eq!(planned["gaps"], example["gaps"], "every member of the gap, word for word");
    assert_eq!((&planned["blocking_count"], &planned["warning_count"]), (&json!(1), &json!(0)));
    assert!(planned.get("plan").is_none(), "never a partial plan: {planned}");
    let document = &planned["document"];
    assert_eq!(names(document), names(example));
    for same in
        ["$schema", "protocol_version", "status", "gaps", "accepted_gaps", "blocking_gaps", "warning_gaps"]
    {
        assert_eq!(document[same], example[same], "{same}");
    }
    for key in ["agent_public_key", "signature"] {
        assert!(document[key].as_str().unwrap().starts_with("ed25519:"), "{key}: {document}");
    }
    // The input of section 6, under its name and ours.
    for name in ["plan_object", "plan"] {
        let checked = told(&mut client, "wwa_clarify_check", &json!({name: arguments(), "wait_s": 0}));
        assert_eq!(checked["gaps"], example["gaps"], "{name}");
        for output in ["status", "gaps", "blocking_count", "warning_count"] {
            assert!(!checked[output].is_null() && seed().contains(output), "{output}: {checked}");
        }
    }
}

/// CLR-30 CLR-41 CLR-42 CLR-61 CLR-64: the lifecycle of section 5 with the tools, arguments and outputs of section 6, under rules
/// that let the calling agent answer.
#[test]
fn the_lifecycle_of_section_5_is_played_with_the_seed_s_names() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let (mut client, examples) = (client(&sandbox), examples());
    let mut given = Value::Object(arguments());
    given["wait_s"] = json!(0);
    let session = told(&mut client, "wwa_scaffold_plan", &given)["session_id"].clone();
    let named = json!({"session_id": session});
    let refused = told(&mut client, "confirm_plan", &named);
    assert_eq!(refused["status"], "needs_clarification", "{refused}");
    let file = json!({"path": "a.ts", "sha256": format!("sha256:{}", "0".repeat(64))});
    let made =
        json!({"session_id": session, "output_path": "out", "files": [file], "program_version": "1.0"});
    assert_eq!(told(&mut client, "wwa_scaffold_attest", &made)["status"], "needs_clarification");

    let answer = &examples[1]["chain"][0]["answer"];
    let given = json!({"session_id": session, "gap_id": "gap-001", "answer": answer});
    let resolved = told(&mut client, "resolve_gap", &given);
    assert_eq!(
        (&resolved["gap_id"], &resolved["status"], &resolved["accepted"], &resolved["accepted_answer"]),
        (&json!("gap-001"), &json!("resolved"), &json!(true), answer),
        "{resolved}"
    );
    let again = told(&mut client, "wwa_clarify_resolve", &given);
    assert_eq!(
        (&again["status"], &again["accepted_answer"]),
        (&json!("resolved"), answer),
        "idempotent: {again}"
    );
    let ready =
        told(&mut client, "wwa_clarify_check", &json!({"plan_object": arguments(), "session_id": session}));
    assert_eq!(ready["status"], "ready_to_proceed", "{ready}");
    assert_eq!(told(&mut client, "confirm_plan", &named)["status"], "plan_accepted");

    let audit = told(&mut client, "wwa_clarify_audit", &named);
    for member in ["ask", "answer", "timestamp", "signature"] {
        assert!(!audit["clarification_chain"][0][member].is_null(), "{member}: {audit}");
    }
    let (record, example) = (&audit["audit_record"], &examples[1]);
    assert!(names(example).is_subset(&names(record)), "{record}");
    let (round, of_seed) = (&record["chain"][0], &example["chain"][0]);
    assert!(names(of_seed).is_subset(&names(round)), "{round}");
    assert!(names(&of_seed["gap"]).is_subset(&names(&round["gap"])), "{round}");
    for same in ["round", "answer", "resolved"] {
        assert_eq!(round[same], of_seed[same], "{same}");
    }
    assert_eq!((&record["total_rounds"], &record["all_resolved"]), (&json!(1), &json!(true)), "{record}");
    assert!(told(&mut client, "wwa_scaffold_attest", &made)["attestation"].is_object());
}

/// CLR-41 CLR-64 ONE-07: without such rules the same call escalates, and the transition to `gap_resolved` is a person's.
#[test]
fn the_calling_agent_s_own_answer_escalates_by_default() {
    let sandbox = Sandbox::new();
    let mut client = client(&sandbox);
    let given = json!({"plan_object": arguments(), "wait_s": 0});
    let session = told(&mut client, "wwa_scaffold_plan", &given)["session_id"].as_str().unwrap().to_owned();
    let answer = json!({"session_id": session, "gap_id": "gap-001", "answer": "jsp-440-only"});
    let escalated = told(&mut client, "resolve_gap", &answer);
    assert_eq!(
        (&escalated["status"], &escalated["accepted_answer"]),
        (&json!("escalated"), &Value::Null),
        "{escalated}"
    );
    let named = json!({"session_id": session});
    assert_eq!(told(&mut client, "confirm_plan", &named)["status"], "needs_clarification");
    sandbox.run(&["plan", "resolve", &session, "gap-001", "jsp-440-only"]).expect_code(0);
    assert_eq!(told(&mut client, "confirm_plan", &named)["status"], "plan_accepted");
}

/// CLR-64: a plan comes in one way or the other.
#[test]
fn a_plan_in_both_ways_or_in_none_is_refused() {
    let sandbox = Sandbox::new();
    let mut client = client(&sandbox);
    let mut both = Value::Object(arguments());
    both["plan_object"] = Value::Object(arguments());
    let misspelt = json!({"plan_objct": arguments()});
    for (given, words) in [(both, "found both"), (json!({}), "found none"), (misspelt, "found neither")] {
        let refused = client.call("wwa_scaffold_plan", &given);
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && text.contains(words), "{refused}");
    }
}

/// CLR-10 to CLR-15: the six rows of section 3, with their severity, for a plan as its words describe it.
#[test]
fn each_row_of_section_3_is_a_gap_of_its_severity() {
    let sandbox = Sandbox::new();
    let mut client = client(&sandbox);
    let rows: [(&str, Value, &str); 6] = [
        ("Missing required field", json!({"component_type": null}), "component_type"),
        ("Ambiguous identifier", json!({"standards": ["Use the standard one"]}), "standards.0"),
        ("Unresolved compliance overlap", json!({"compliance": ["GDPR"]}), "compliance.overlaps.gdpr.lgpd"),
        (
            "Jurisdiction mismatch",
            json!({"standards": ["UK MOD"], "design_system": "Va.gov patterns"}),
            "compliance.jurisdiction",
        ),
        ("Untranslatable language", json!({"languages": ["ar-sa"]}), "layout.direction"),
        ("Missing validation input", json!({"real_build": true}), "output_path"),
    ];
    for (row, changes, field) in rows {
        let text = seed();
        let line = text.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap();
        let severity = line.trim_end_matches(" |").rsplit(' ').next().unwrap();
        let mut plan = arguments();
        plan.retain(|name, _| name != "standards" && name != "deployment_target");
        plan.extend(changes.as_object().unwrap().clone());
        let checked = told(&mut client, "wwa_clarify_check", &json!({"plan_object": plan, "wait_s": 0}));
        let gaps = checked["gaps"].as_array().unwrap();
        let found: Vec<_> =
            gaps.iter().map(|gap| (gap["field"].as_str().unwrap(), &gap["severity"])).collect();
        assert_eq!(found, [(field, &json!(severity))], "{row}");
    }
}
