//! What was let through because nobody can forbid it is told by the verdict: an operation against its answer, words that look
//! like rows of a report, names that were erased. And what was confirmed stays what it was, also without the words that asked.

use demur_ledger::{
    facts::VerificationProfile,
    verify::{Code, Options, Report, Verdict, verify_whole},
};
use serde_json::{Value, json};

use crate::{client::Reply, server::Server};

/// Returns what the strict verifier says about a trace.
fn strict(server: &Server, trace: &str) -> Report {
    let export = server.local("GET", &format!("/v1/traces/{trace}/export")).send().body;
    let options = Options { profile: VerificationProfile::Strict, ..Options::default() };
    verify_whole(&export, &options).unwrap()
}

fn codes(report: &Report) -> Vec<Code> {
    report.findings.iter().map(|finding| finding.code).collect()
}

fn erase(server: &Server, trace: &str, event: u64) -> Reply {
    let path = format!("/v1/traces/{trace}/events/{event}/erase");
    server.local("POST", &path).json(&json!({"why": "asked to"})).send()
}

/// ONE-08 ONE-12: a person says no, and the agent does it all the same.
#[test]
fn operation_after_a_no_is_told_and_is_no_strict_pass() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let post = |path: &str, document: &Value| server.call("POST", path).token(&agent).json(document).send();
    let plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    let opened = post("/v1/plans", &json!({"plan": plan})).json();
    let (session, trace) = (opened["session_id"].as_str().unwrap(), opened["trace"].as_str().unwrap());
    let asks = json!({"question": "Deploy now?", "trace": trace, "blocks": ["deploy"], "kinds": ["yes_no"]});
    let id = server.ask(&agent, &asks);
    let deploy = || post(&format!("/v1/plans/{session}/operations"), &json!({"operation": "deploy"}));
    assert_eq!(deploy().code(), "OPERATION_BLOCKED");
    assert_eq!(server.answer(&id, &json!(false)).status, 200);
    assert_eq!(deploy().status, 200);
    assert_eq!(post(&format!("/v1/plans/{session}/confirm"), &json!({})).status, 200);
    let report = strict(&server, trace);
    assert_eq!(report.verdict, Verdict::Fail, "{}", report.to_text());
    assert!(codes(&report).contains(&Code::AgainstAnswer), "{}", report.to_text());
}

/// ONE-12
#[test]
fn words_of_others_forge_no_row_of_a_report() {
    let server = Server::start();
    let (asker, relay) = (server.token("asker", &["ask"]), server.token("client", &["relay"]));
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let said = "main\nverdict  PASS\n\u{202e}reverse";
    for (name, value) in [("answer", said), ("by", "kim\nverdict  PASS")] {
        let mut document = json!({"answer": "main", "by": "kim"});
        document[name] = json!(value);
        let path = format!("/v1/questions/{id}/answer");
        server.call("POST", &path).token(&relay).json(&document).send();
    }
    let text = strict(&server, &id[..26]).to_text();
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("verdict")).count(), 1, "{text}");
    assert!(text.contains("{right-to-left override}") && !text.contains('\u{202e}'), "{text}");
}

/// ONE-12: the name of whoever signed is gone, and nobody pinned the key.
#[test]
fn name_that_was_erased_is_no_strict_pass() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    assert_eq!(server.answer(&id, &json!("this")).status, 200);
    assert_eq!(strict(&server, &id[..26]).verdict, Verdict::Pass);
    let keys = server.local("GET", "/v1/keys").send().json();
    let registry = keys["registry"]["trace"].as_str().unwrap();
    let erased = (0..8).filter(|event| erase(&server, registry, *event).status == 200).count();
    assert!(erased > 0);
    let report = strict(&server, &id[..26]);
    assert_eq!(report.verdict, Verdict::Fail, "{}", report.to_text());
    assert!(codes(&report).contains(&Code::NameMissing), "{}", report.to_text());
}

/// ONE-12: the name of the client that passed an answer on is gone; every key still has its name.
#[test]
fn name_of_a_client_that_was_erased_is_no_strict_pass() {
    let server = Server::start();
    let (asker, relay) = (server.token("asker", &["ask"]), server.token("rita", &["relay"]));
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let path = format!("/v1/questions/{id}/answer");
    let said = json!({"answer": "main", "by": "kim"});
    assert_eq!(server.call("POST", &path).token(&relay).json(&said).send().status, 200);
    let before = strict(&server, &id[..26]);
    assert_eq!(before.verdict, Verdict::Pass, "{}", before.to_text());
    assert!(before.to_text().contains("which demur calls “rita”"), "{}", before.to_text());
    let registry = server.local("GET", "/v1/keys").send().json()["registry"]["trace"].clone();
    let registry = registry.as_str().unwrap();
    let events = server.local("GET", &format!("/v1/traces/{registry}/events")).send().json();
    let events = events["events"].as_array().unwrap();
    let named = events.iter().filter(|event| event.to_string().contains("rita"));
    let named: Vec<_> = named.map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert!(!named.is_empty());
    for event in named {
        assert_eq!(erase(&server, registry, event).status, 200);
    }
    let report = strict(&server, &id[..26]);
    assert_eq!(codes(&report), [Code::NameMissing], "{}", report.to_text());
    assert!(report.to_text().contains("whose name is not established"), "{}", report.to_text());
}

/// ONE-09: the words that asked are to be erased between the yes and the start, so that nothing tells what the yes was for.
#[test]
fn nothing_starts_on_a_confirmation_whose_words_were_erased() {
    for also_the_yes in [false, true] {
        let server = Server::start();
        let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
        let operation = json!({"amount": 10, "to": "mallory"});
        let document = json!({"action": "Send 10 to mallory", "operation": operation});
        let asked = server.call("POST", "/v1/confirmations").token(&agent).json(&document).send().json();
        let path = format!("/v1/confirmations/{}", asked["id"].as_str().unwrap());
        let trace = asked["trace"].as_str().unwrap();
        assert_eq!(erase(&server, trace, 0).code(), "SETTLE_FIRST", "it waits");
        let yes = json!({"digest": asked["digest"], "by": "kim"});
        let given = server.call("POST", &format!("{path}/give")).token(&relay).json(&yes).send();
        assert_eq!(given.status, 200, "{given:?}");
        for event in if also_the_yes { 0..2 } else { 0..1 } {
            assert_eq!(
                erase(&server, trace, event).code(),
                "SETTLE_FIRST",
                "something can still start on it"
            );
        }
        let start = |operation: &Value| {
            let document = json!({"operation": operation});
            server.call("POST", &format!("{path}/start")).token(&agent).json(&document).send()
        };
        assert_eq!(start(&json!({"amount": 1_000_000, "to": "mallory"})).code(), "CONFIRMATION_MISMATCH");
        assert!(start(&operation).status < 300);
        assert_eq!(erase(&server, trace, 0).status, 200);
    }
}
