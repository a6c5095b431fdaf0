//! A plan from submission to attestation (CLR-30), through every client: what it lacks is asked in the way of the client's
//! tier, what the user leaves open is resolved by the agent, and nothing is made before.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    client::{Client, Kind, Tier, accept, nobody},
    with_every_kind,
};
use crate::sandbox::Sandbox;

/// Says what a user says who knows the jurisdiction and closes every other form.
fn user(request: &Value) -> Value {
    if request["message"].as_str().unwrap().contains("jurisdiction") {
        accept(&json!("uswds-only"))
    } else {
        json!({"action": "cancel"})
    }
}

/// Returns the gaps of a result, after a look at what is said about them.
fn gaps(result: &Value) -> Vec<String> {
    let told = &result["structuredContent"];
    let gaps = told["gaps"].as_array().unwrap();
    assert_eq!(told["blocking_count"], gaps.len(), "{told}");
    assert!(told.get("plan").is_none(), "a part of a plan came back: {told}");
    assert!(told["document"]["signature"].as_str().unwrap().starts_with("ed25519:"), "{told}");
    assert!(told["inbox"].as_str().unwrap().starts_with("http://demur.localhost:"), "{told}");
    assert!(told["next"].as_str().unwrap().contains("wwa_clarify_resolve"), "{told}");
    gaps.iter().map(|gap| gap["field"].as_str().unwrap().to_owned()).collect()
}

/// CLR-05 CLR-30 CLR-40 CLR-41 CLR-42 CLR-43 CLR-60 CLR-61 CLR-63
#[test]
fn every_client_takes_a_plan_to_its_attestation() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    with_every_kind(&sandbox, |sandbox, kind| {
        let mut client = Client::start(sandbox, kind, "wwa");
        let session = submit(&mut client, kind);
        // Held until nothing is open: what the user leaves open is resolved meanwhile.
        let again = json!({"plan": plan(), "session_id": session});
        let held = client.begin_call("wwa_scaffold_plan", &again);
        if kind.tier != Tier::Told {
            for _ in 0..2 {
                let form = client.next("elicit");
                client.answer(&form["elicit"], &user(&form["request"]));
            }
        }
        let named = json!({"session_id": session});
        if kind.tier != Tier::Told {
            wait_for_the_user(&mut client, &named);
        }
        for (tool, arguments) in [("wwa_confirm_plan", &named), ("wwa_scaffold_attest", &made(&session))] {
            let refused = client.call(tool, arguments, nobody);
            assert_eq!(refused["isError"], true, "{kind}: {refused}");
            assert_eq!(gaps(&refused).last().unwrap(), "output_path", "{kind}: {refused}");
        }
        resolve(&mut client, kind, &session);
        let line = client.end(held, nobody);
        let told = &line["result"]["structuredContent"];
        assert_eq!(told["plan"]["output_path"], "dist", "{kind}: {line}");
        let checked = client.call("wwa_clarify_check", &again, nobody);
        let told = &checked["structuredContent"];
        assert_eq!(
            (&told["status"], &told["gaps"]),
            (&json!("ready_to_proceed"), &json!([])),
            "{kind}: {told}"
        );
        let whole = client.call("wwa_scaffold_plan", &again, nobody);
        assert_eq!(whole["structuredContent"]["plan"]["output_path"], "dist", "{kind}: {whole}");
        let confirmed = client.call("wwa_confirm_plan", &named, nobody);
        assert_eq!(confirmed["structuredContent"]["status"], "plan_accepted", "{kind}: {confirmed}");
        attest(&mut client, kind, &session);
    });
}

/// Submits the plan without a wait, and returns the session.
fn submit(client: &mut Client, kind: Kind) -> String {
    let first = client.call("wwa_scaffold_plan", &json!({"plan": plan(), "wait_s": 0}), nobody);
    let told = &first["structuredContent"];
    assert_eq!(told["status"], "needs_clarification", "{kind}: {first}");
    assert_eq!(gaps(&first), ["compliance.jurisdiction", "output_path"], "{kind}: {first}");
    told["session_id"].as_str().unwrap().to_owned()
}

/// Returns once the answer of the user is on record: a client sends it on at its own pace, beside other calls.
fn wait_for_the_user(client: &mut Client, named: &Value) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let refused = client.call("wwa_confirm_plan", named, nobody);
        if gaps(&refused) == ["output_path"] {
            return;
        }
        assert!(Instant::now() < deadline, "the user's answer never came: {refused}");
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// Answers what is open in the agent's own name.
fn resolve(client: &mut Client, kind: Kind, session: &str) {
    let mut answer = |gap: &str, answer: &str| {
        let arguments = json!({"session_id": session, "gap_id": gap, "answer": answer});
        client.call("wwa_clarify_resolve", &arguments, nobody)["structuredContent"].take()
    };
    if kind.tier == Tier::Told {
        let settled = answer("gap-001", "uswds-only");
        assert_eq!(settled["status"], "resolved", "{kind}: {settled}");
    }
    // CLR-44: what is ambiguous settles nothing.
    let vague = answer("gap-002", "the standard one");
    assert_eq!(
        (&vague["status"], &vague["accepted_answer"]),
        (&json!("escalated"), &Value::Null),
        "{kind}: {vague}"
    );
    let settled = answer("gap-002", "dist");
    assert_eq!(
        (&settled["status"], &settled["accepted_answer"]),
        (&json!("resolved"), &json!("dist")),
        "{kind}"
    );
    assert_eq!(
        (&settled["gap_id"], &settled["open_gaps"]),
        (&json!("gap-002"), &json!(0)),
        "{kind}: {settled}"
    );
}

fn attest(client: &mut Client, kind: Kind, session: &str) {
    let named = json!({"session_id": session});
    let attested = client.call("wwa_scaffold_attest", &made(session), nobody);
    let attestation = &attested["structuredContent"]["attestation"];
    assert!(attestation["signature"].as_str().unwrap().starts_with("ed25519:"), "{kind}: {attested}");
    let verified = client.call("wwa_attest_verify", &json!({"attestation": attestation}), nobody);
    assert_eq!(verified["structuredContent"]["valid"], true, "{kind}: {verified}");
    let audit = client.call("wwa_clarify_audit", &named, nobody);
    let chain = audit["structuredContent"]["clarification_chain"].as_array().unwrap();
    let answers: Vec<&Value> = chain.iter().map(|round| &round["answer"]).collect();
    assert!(answers.contains(&&json!("uswds-only")) && answers.contains(&&json!("dist")), "{kind}: {audit}");
    for round in chain {
        assert!(round["signature"].as_str().unwrap().starts_with("ed25519:"), "{kind}: {round}");
    }
    assert_eq!(audit["structuredContent"]["audit_record"]["all_resolved"], true, "{kind}: {audit}");
}

/// Returns a plan that lacks a jurisdiction and a folder.
fn plan() -> Value {
    json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest", "standards_selected": ["jsp-440"],
        "deployment_target": "uswds", "real_build": true,
    })
}

fn made(session: &str) -> Value {
    let hash = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    json!({
        "session_id": session, "output_path": "dist", "program_version": "1",
        "files": [{"path": "index.html", "sha256": hash}],
    })
}
