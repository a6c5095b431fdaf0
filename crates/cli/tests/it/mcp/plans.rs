//! A plan through MCP: checked, clarified, confirmed and attested in every tier, and refused while anything is missing.

use serde_json::{Value, json};

use super::{client::Client, forms};
use crate::sandbox::Sandbox;

/// Lacks two things: the type of component and what it is to do.
pub(crate) fn plan() -> Value {
    json!({"plan": {"operation": "add", "data_storage": "properties", "api_choice": "rest"}})
}

/// Lacks the same, for a caller that does not wait for people.
fn brief() -> Value {
    let mut given = plan();
    given["wait_s"] = json!(0);
    given
}

/// Lacks nothing.
pub(super) fn whole() -> Value {
    json!({"plan": {
        "operation": "add", "data_storage": "properties", "api_choice": "rest",
        "component_type": "webpart-react", "description": "Shows the weather of a place",
    }})
}

/// Returns what settles a gap of that plan.
pub(crate) fn answer(field: &str) -> Value {
    match field {
        "component_type" => json!("webpart-react"),
        _ => json!("Shows the weather of a place"),
    }
}

fn session(reply: &Value) -> String {
    reply["structuredContent"]["session_id"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

pub(super) fn status(reply: &Value) -> &str {
    reply["structuredContent"]["status"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

/// Takes a plan without gaps to the end, and looks at its papers.
fn finish(client: &mut Client, sandbox: &Sandbox, session: &str) {
    let mut given = plan();
    given["session_id"] = json!(session);
    let whole = client.call("wwa_scaffold_plan", &given);
    assert_eq!(whole["structuredContent"]["plan"]["component_type"], "webpart-react", "{whole}");
    let named = json!({"session_id": session});
    let confirmed = client.call("wwa_confirm_plan", &named);
    assert_eq!(status(&confirmed), "plan_accepted");
    // CLR-30: with the full attestation, the same one as often as it is asked for.
    let accepted = &confirmed["structuredContent"]["attestation"];
    assert_eq!(accepted["inputs"]["component_type"], "webpart-react", "{confirmed}");
    assert_eq!(accepted["inputs"]["clarification_rounds"], 2, "{confirmed}");
    let again = client.call("wwa_confirm_plan", &named);
    assert_eq!(again["structuredContent"]["attestation"], *accepted, "signed once");
    let holds = client.call("wwa_attest_verify", &json!({"attestation": accepted}));
    assert_eq!(holds["structuredContent"]["valid"], true, "{holds}");
    let file = json!({"path": "src/weather.ts", "sha256": format!("sha256:{}", "0".repeat(64))});
    let made =
        json!({"session_id": session, "output_path": "out", "files": [file], "program_version": "1.0"});
    let attested = client.call("wwa_scaffold_attest", &made);
    let id = &attested["structuredContent"]["attestation_id"];
    assert!(id.is_string(), "{attested}");
    assert_eq!(client.call("wwa_attest_sign", &made)["structuredContent"]["attestation_id"], *id, "once");
    let verified = client.call("wwa_attest_verify", &named);
    assert_eq!(verified["structuredContent"]["valid"], true, "{verified}");
    let mut forged = attested["structuredContent"]["attestation"].clone();
    forged["agent_version"] = json!("2.0");
    let refused = client.call("wwa_attest_verify", &json!({"attestation": forged}));
    assert_eq!(refused["structuredContent"]["valid"], false, "{refused}");
    let audited = client.call("wwa_clarify_audit", &named);
    let chain = audited["structuredContent"]["clarification_chain"].as_array().unwrap();
    assert_eq!(chain.len(), 2, "{audited}");
    assert!(
        chain.iter().all(|round| ["ask", "answer", "timestamp", "signature"]
            .iter()
            .all(|name| !round[name].is_null()))
    );
    assert_eq!(audited["structuredContent"]["audit_record"]["all_resolved"], true, "{audited}");
    let papers = client.call("wwa_attest_audit", &named);
    assert_eq!(papers["structuredContent"]["all_signatures"].as_array().map(Vec::len), Some(6), "{papers}");
    let trace = sandbox.trace();
    let proven = client.call("session_verify", &json!({"trace": trace}));
    assert_eq!(proven["structuredContent"]["verdict"], "pass", "{proven}");
}

/// CLR-40, CLR-42, CLR-43, CLR-60
#[test]
fn a_plan_is_clarified_in_rounds() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &["--tools", "all"], &forms());
    let asked = client.call("wwa_clarify_check", &plan());
    let keys: Vec<_> = asked["inputRequests"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["gap-001", "gap-002"], "the gaps are the keys");
    assert!(asked["structuredContent"].is_null(), "nothing of the plan while it lacks something: {asked}");
    let field = |key: &str| if key == "gap-001" { "component_type" } else { "description" };
    let ready = client.again("wwa_clarify_check", &plan(), &asked, |key| answer(field(key)));
    assert_eq!(status(&ready), "ready_to_proceed", "{ready}");
    finish(&mut client, &sandbox, &session(&ready));
}

/// CLR-40, CLR-43
#[test]
fn a_plan_is_clarified_while_the_call_waits() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa,session"], "2025-11-25", &forms());
    let number = client.send("tools/call", json!({"name": "wwa_clarify_check", "arguments": plan()}));
    let ready = loop {
        let message = client.next();
        if message["method"] == "elicitation/create" {
            let words = message["params"]["message"].as_str().unwrap();
            let field = if words.starts_with("component_type") { "component_type" } else { "description" };
            let result = json!({"action": "accept", "content": {"answer": answer(field)}});
            client.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        } else if message["id"] == number {
            break message["result"].clone();
        }
    };
    assert_eq!(status(&ready), "ready_to_proceed", "{ready}");
    finish(&mut client, &sandbox, &session(&ready));
}

/// CLR-40, CLR-41, CLR-43, CLR-61, CLR-63
#[test]
fn a_plan_is_refused_until_every_gap_is_settled() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let mut client = Client::legacy(&sandbox, &["--tools", "all"], "2025-06-18", &json!({}));
    let refused = client.call("wwa_clarify_check", &brief());
    let told = &refused["structuredContent"];
    assert_eq!(status(&refused), "needs_clarification", "{refused}");
    assert_eq!((&told["blocking_count"], &told["warning_count"]), (&json!(2), &json!(0)), "{refused}");
    assert!(told["document"]["signature"].as_str().unwrap().starts_with("ed25519:"), "{refused}");
    assert!(told["inbox"].as_str().unwrap().starts_with("http://"), "{refused}");
    let session = session(&refused);
    refuses_everything(&mut client, &session);
    for gap in told["gaps"].as_array().unwrap() {
        let given = json!({
            "session_id": session, "gap_id": gap["id"], "answer": answer(gap["field"].as_str().unwrap()),
        });
        let resolved = client.call("wwa_clarify_resolve", &given);
        let told = &resolved["structuredContent"];
        assert_eq!((&told["status"], &told["gap_id"]), (&json!("resolved"), &gap["id"]), "{resolved}");
        assert_eq!(told["accepted_answer"], given["answer"], "{resolved}");
    }
    finish(&mut client, &sandbox, &session);
    let settled = sandbox.json(&["plan", "show", &session])["settled"].clone();
    assert!(settled.as_array().unwrap().iter().all(|gap| gap["assurance"] == "agent"), "{settled}");
}

/// Every tool that makes something looks first whether a gap is open.
fn refuses_everything(client: &mut Client, session: &str) {
    let file = json!({"path": "a.ts", "sha256": format!("sha256:{}", "0".repeat(64))});
    let made =
        json!({"session_id": session, "output_path": "out", "files": [file], "program_version": "1.0"});
    let named = json!({"session_id": session});
    for (tool, given) in
        [("wwa_confirm_plan", &named), ("wwa_scaffold_attest", &made), ("wwa_attest_sign", &made)]
    {
        let refused = client.call(tool, given);
        assert_eq!(refused["isError"], true, "{tool}: {refused}");
        assert_eq!(status(&refused), "needs_clarification", "{tool}: {refused}");
    }
    let mut given = brief();
    given["session_id"] = json!(session);
    let refused = client.call("wwa_scaffold_plan", &given);
    assert_eq!(status(&refused), "needs_clarification", "{refused}");
    assert!(refused["structuredContent"]["plan"].is_null(), "never a part of a plan: {refused}");
}

/// CLR-41, CLR-44
#[test]
fn an_answer_that_settles_nothing_is_escalated() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let session = session(&client.call("wwa_clarify_check", &brief()));
    let given = json!({"session_id": session, "gap_id": "gap-001", "answer": "the standard one"});
    let escalated = client.call("wwa_clarify_resolve", &given);
    let told = &escalated["structuredContent"];
    assert_eq!(
        (&told["status"], &told["accepted_answer"]),
        (&json!("escalated"), &Value::Null),
        "{escalated}"
    );
    assert_eq!(told["open_gaps"], 2, "{escalated}");
}

/// CLR-41 ONE-07: what the submitter answers settles nothing; it is kept, shown to people, and one of them settles it.
#[test]
fn an_answer_of_the_submitter_is_a_suggestion_that_a_person_settles() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &["--tools", "all"], "2025-06-18", &json!({}));
    let session = session(&client.call("wwa_clarify_check", &brief()));
    let given = json!({"session_id": session, "gap_id": "gap-001", "answer": "webpart-react"});
    for _ in 0..2 {
        let escalated = client.call("wwa_clarify_resolve", &given);
        let told = &escalated["structuredContent"];
        let expected = (&json!("escalated"), &json!(false), &Value::Null, &json!(2));
        assert_eq!(
            (&told["status"], &told["accepted"], &told["accepted_answer"], &told["open_gaps"]),
            expected,
            "{escalated}"
        );
        assert!(told["reason"].as_str().unwrap().contains("suggestion"), "{escalated}");
    }
    let trace = sandbox.json(&["trace", "show", &sandbox.trace()]);
    let claims = |trace: &Value| {
        let entries = trace["entries"].as_array().unwrap().clone();
        entries.iter().filter(|entry| entry.to_string().contains("answer_claimed")).count()
    };
    assert_eq!(claims(&trace), 1, "the same twice is kept once: {trace}");
    let open = sandbox.json(&["inbox", "--list"])["questions"].as_array().unwrap().clone();
    let of =
        |field: &str| open.iter().find(|one| one["field"] == field).unwrap_or_else(|| panic!("{open:?}"));
    let id = of("component_type")["id"].as_str().unwrap().to_owned();
    let shown = sandbox.json(&["show", &id]);
    assert_eq!(shown["recommendation"], "webpart-react", "{shown}");
    sandbox.run(&["answer", &id, "webpart-react"]).expect_code(0);
    let settled = sandbox.json(&["plan", "show", &session])["settled"].clone();
    assert_eq!(
        (&settled[0]["id"], &settled[0]["assurance"]),
        (&json!("gap-001"), &json!("terminal")),
        "{settled}"
    );
}

/// CLR-32: a person confirms a warning; whoever submitted the plan cannot, whatever the rules say about answers.
#[test]
fn a_warning_is_confirmed_by_a_person_and_not_by_the_submitter() {
    for own in [false, true] {
        let sandbox = Sandbox::new();
        if own {
            sandbox.let_agents_answer_their_own_gaps();
        }
        let mut client = Client::legacy(&sandbox, &["--tools", "all"], "2025-06-18", &json!({}));
        let mut given = whole();
        given["plan"]["standards"] = json!(["GDPR"]);
        given["wait_s"] = json!(0);
        let session = session(&client.call("wwa_clarify_check", &given));
        let refused =
            client.call("wwa_clarify_resolve", &json!({"session_id": session, "gap_id": "gap-001"}));
        let code =
            refused["content"][0]["text"].as_str().unwrap().split(' ').next().unwrap().trim_end_matches(':');
        let expected = if own { "ASSURANCE_TOO_LOW" } else { "PERSON_NEEDED" };
        assert_eq!((&refused["isError"], code), (&json!(true), expected), "{refused}");
        sandbox.run(&["plan", "resolve", &session, "gap-001", "--accept"]).expect_code(0);
        let named = json!({"session_id": session});
        assert_eq!(status(&client.call("confirm_plan", &named)), "plan_accepted");
    }
}

/// A user who closes the form has said nothing: the gaps stay, for everybody.
#[test]
fn a_form_that_is_closed_leaves_the_gaps_open() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &["--tools", "wwa", "--wait", "1s"], &forms());
    let asked = client.call("wwa_clarify_check", &plan());
    let responses = json!({"gap-001": {"action": "decline"}, "gap-002": {"action": "cancel"}});
    let params = json!({
        "name": "wwa_clarify_check", "arguments": plan(),
        "requestState": asked["requestState"], "inputResponses": responses,
    });
    let refused = client.request("tools/call", params)["result"].clone();
    assert_eq!(status(&refused), "needs_clarification", "{refused}");
    assert_eq!(refused["structuredContent"]["blocking_count"], 2, "{refused}");
}
