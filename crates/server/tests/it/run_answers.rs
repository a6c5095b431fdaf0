//! What rests on answers and on confirmations in runs, tried from outside: conditions that answers show, tools that questions
//! hold up, outputs that were there before, programs under the name of a tool, and names on the socket.

use demur_core::hash::sha256;
use serde_json::{Value, json};

use crate::{
    run::{INPUT, Run, artifact, complete, opening, proposal, review, start},
    run_meaning::{calling, executing},
    server::Server,
};

/// Returns a run under one condition, with an intent, its input, and a yes-or-no question of the critic's.
fn asking() -> (Run, u64, u64, String) {
    let (run, proposal) = executing(&["a person agrees"]);
    let mut call = calling(proposal);
    call["facts"]["meets"] = json!([0]);
    let intent = run.said("bo", &call);
    let input = run.said("bo", &artifact("input", INPUT));
    let question = json!({"question": "May it?", "trace": run.trace, "kinds": ["yes_no"]});
    let id = run.server.ask(run.token("cy"), &question);
    (run, intent, input, id)
}

fn judged(intent: u64, id: &str) -> Value {
    let question: u64 = id.rsplit('.').next().unwrap().parse().unwrap();
    json!({
        "role": "critic", "type": "condition_judged",
        "facts": {"condition": 0, "evidence": [question], "holds": true, "intent": intent},
    })
}

/// Returns the report of a verifier on the run.
fn verified(server: &Server, trace: &str) -> Value {
    let export = server.local("GET", &format!("/v1/traces/{trace}/export")).send().body;
    let checked = server.local("POST", "/v1/verify").header("Content-Type", "application/jsonl");
    checked.body(&export).send().json()["report"].clone()
}

/// Returns the findings of a report with this code.
fn found<'a>(report: &'a Value, code: &str) -> Vec<&'a Value> {
    report["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == code).collect()
}

/// LED-10 LED-42
#[test]
fn condition_is_shown_by_the_answer_that_counts_and_by_no_other() {
    let (run, intent, input, id) = asking();
    run.refused("cy", &judged(intent, &id), 409, "CONDITION_UNSHOWN");
    run.server.answer(&id, &json!(true));
    run.said("cy", &judged(intent, &id));
    let path = format!("/v1/questions/{id}/answer");
    let replaced = run.server.local("PUT", &path).json(&json!({"answer": false})).send();
    assert_eq!(replaced.status, 200, "{replaced:?}");
    run.refused("bo", &start(intent, input), 409, "CONDITION_UNSHOWN");
    assert_eq!(run.server.local("DELETE", &path).send().status, 200);
    run.refused("cy", &judged(intent, &id), 409, "CONDITION_UNSHOWN");
    run.server.answer(&id, &json!(true));
    run.refused("bo", &start(intent, input), 409, "CONDITION_UNSHOWN");
    // The critic looks again.
    run.said("cy", &judged(intent, &id));
    let started = run.said("bo", &start(intent, input));
    let report = verified(&run.server, &run.trace);
    let condition = &report["conditions"][0];
    assert_eq!((&condition["started"], &condition["answers"][0]["stands"]), (&json!(started), &json!(true)));
}

/// LED-10
#[test]
fn condition_is_not_shown_by_a_question_that_nobody_needs_any_more() {
    let (run, intent, input, id) = asking();
    let cancelled = run.post("cy", &format!("/v1/questions/{id}/cancel"), &json!({"reason": "not now"}));
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    run.refused("cy", &judged(intent, &id), 409, "CONDITION_UNSHOWN");
    run.refused("bo", &start(intent, input), 409, "CONDITION_UNSHOWN");
}

/// LED-10 LED-31: through a condition, and through the name of the tool.
#[test]
fn start_on_an_answer_that_is_replaced_later_is_a_finding_of_every_report() {
    for by_name in [false, true] {
        let (run, intent, input, id) = if by_name {
            let (run, proposal) = executing(&[]);
            let intent = run.said("bo", &calling(proposal));
            let input = run.said("bo", &artifact("input", INPUT));
            let question =
                json!({"question": "May it?", "trace": run.trace, "kinds": ["yes_no"], "blocks": ["Cargo"]});
            let id = run.server.ask(run.token("cy"), &question);
            run.server.answer(&id, &json!(true));
            (run, intent, input, id)
        } else {
            let (run, intent, input, id) = asking();
            run.server.answer(&id, &json!(true));
            run.said("cy", &judged(intent, &id));
            (run, intent, input, id)
        };
        let started = run.said("bo", &start(intent, input));
        let path = format!("/v1/questions/{id}/answer");
        let replaced = run.server.local("PUT", &path).json(&json!({"answer": false})).send();
        assert_eq!(replaced.status, 200, "{replaced:?}");
        let report = verified(&run.server, &run.trace);
        let told = found(&report, "ANSWER_CHANGED");
        let words = format!("event {started} was done on the answer of event");
        assert!(told.iter().any(|one| one["message"].as_str().unwrap().starts_with(&words)), "{report}");
        assert_eq!(report["verdict"], "pass_with_warnings", "{report}");
        let history = run.server.local("GET", &format!("/v1/questions/{id}/history")).send().json();
        let rested = history["rested"].as_array().unwrap();
        assert!(rested.iter().any(|one| one["event"] == json!(started)), "{history}");
    }
}

/// LED-24
#[test]
fn output_was_not_there_before_its_execution_started() {
    let (run, proposal) = executing(&[]);
    let earlier = run.said("bo", &artifact("note", "made up"));
    let intent = run.said("bo", &calling(proposal));
    let input = run.said("bo", &artifact("input", INPUT));
    let started = run.said("bo", &start(intent, input));
    run.refused("bo", &complete(started, input), 409, "EVIDENCE_WEAK");
    run.refused("bo", &complete(started, earlier), 409, "EVIDENCE_WEAK");
    let output = run.said("bo", &artifact("output", "ok"));
    run.said("bo", &complete(started, output));
}

/// LED-36 LED-37
#[test]
fn tool_starts_the_programs_that_the_policy_names_for_it() {
    let (run, proposal) = executing(&[]);
    for (program, refused) in [("rm", true), ("./cargo", true), ("cargo", false)] {
        let input = json!({"call": "tests", "command": [program, "test"], "stdin": ""}).to_string();
        let mut call = calling(proposal);
        call["content"]["input_hash"] = json!(sha256(input.as_bytes()));
        let intent = run.said("bo", &call);
        let input = run.said("bo", &artifact("input", &input));
        if refused {
            run.refused("bo", &start(intent, input), 409, "TOOL_NOT_ALLOWED");
        } else {
            run.said("bo", &start(intent, input));
        }
    }
}

/// Says something in a run on the socket, under a name.
fn say(server: &Server, trace: &str, name: &str, document: &Value) -> crate::client::Reply {
    let mut document = document.clone();
    document["agent"] = json!(name);
    server.local("POST", &format!("/v1/runs/{trace}/events")).json(&document).send()
}

/// LED-41 LED-42: on the socket a name is one client, and tells nobody apart from the name.
#[test]
fn one_name_on_the_socket_is_one_client() {
    let server = Server::start();
    let mut document = opening();
    document["agents"] = json!({});
    document["agent"] = json!("solo");
    let open = |document: &Value| server.local("POST", "/v1/runs").json(document).send();
    let opened = open(&document).json();
    let trace = opened["trace"].as_str().unwrap_or_else(|| panic!("{opened}"));
    let told = verified(&server, trace);
    let words = "one client held planner, executor, critic and auditor";
    assert_eq!(found(&told, "CLIENT_HELD_ROLES")[0]["message"], words, "{told}");
    assert!(told["roles"][0]["words"].as_str().unwrap().contains("solo on the socket"), "{told}");
    document["policy"] = json!({"distinct_clients": true});
    let refused = open(&document);
    assert_eq!((refused.status, refused.code().as_str()), (409, "CLIENT_HELD_ROLES"), "{}", refused.text());
    // Under two names the work goes on, and the report says which clients it takes that from.
    document["agents"] = json!({"critic": "other", "auditor": "other"});
    let opened = open(&document);
    assert_eq!(opened.status, 201, "{}", opened.text());
    let trace = opened.json()["trace"].as_str().unwrap().to_owned();
    let proposed = say(&server, &trace, "solo", &proposal());
    assert_eq!(proposed.status, 201, "{}", proposed.text());
    let policy = verified(&server, &trace)["policy"].as_str().unwrap().to_owned();
    assert!(policy.contains("not established: no client is on record for critic"), "{policy}");
    let reviewed = say(&server, &trace, "other", &review(2));
    assert_eq!(reviewed.status, 201, "{}", reviewed.text());
}

/// ONE-09
#[test]
fn operation_that_nobody_confirmed_is_told_beside_the_one_that_somebody_did() {
    let server = Server::start();
    let ask = server.token("payer", &["ask"]);
    let post = |path: &str, document: &Value| server.call("POST", path).token(&ask).json(document).send();
    let plan = json!({"plan": {"description": "a payment"}});
    let opened = post("/v1/plans", &plan).json();
    let (session, trace) = (opened["session_id"].as_str().unwrap(), opened["trace"].as_str().unwrap());
    let ten = json!({"amount": 10, "to": "mallory"});
    let asked =
        post("/v1/confirmations", &json!({"action": "Send 10", "operation": ten, "trace": trace})).json();
    let (id, digest) = (asked["id"].as_str().unwrap_or_else(|| panic!("{asked}")), &asked["digest"]);
    let given = server.local("POST", &format!("/v1/confirmations/{id}/give"));
    let given = given.json(&json!({"digest": digest})).send();
    assert_eq!(given.status, 200, "{}", given.text());
    let million = json!({"amount": 1_000_000, "to": "mallory"});
    let begun = json!({"operation": "transfer", "exact": million});
    let begun = post(&format!("/v1/plans/{session}/operations"), &begun);
    assert_eq!(begun.status, 200, "{}", begun.text());
    let report = verified(&server, trace);
    let operation = &report["operations"][0];
    assert_eq!(operation["told"], r#"{"amount":1000000,"to":"mallory"}"#, "{report}");
    assert!(operation["confirmation"].is_null() && operation["digest"].is_string(), "{report}");
    assert_eq!(found(&report, "CONFIRMED_OTHER").len(), 1, "{report}");
}
