//! Deadlines pass at their time, whoever waits, and also while no server runs.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::server::{Server, until};

#[test]
fn a_question_without_default_expires_and_whoever_waits_is_told() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "In a second?", "timeout_seconds": 1}));
    let ended =
        server.call("GET", &format!("/v1/questions/{id}/wait?seconds=20")).token(&asker).send().json();
    assert_eq!((&ended["state"], &ended["outcome"]["value"]), (&json!("expired"), &json!(null)));
    let late = server.answer(&id, &json!("now"));
    assert_eq!(late.status, 409);
    assert_eq!(late.json()["outcome"]["state"], "expired");
}

#[test]
fn a_default_holds_after_the_deadline_and_is_no_answer() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let ask = json!({"question": "Which?", "timeout_seconds": 1, "default": "the usual"});
    let call = server.call("POST", "/v1/questions?wait=20").token(&asker).json(&ask);
    let ended = call.send().json();
    assert_eq!((&ended["state"], &ended["outcome"]["value"]), (&json!("defaulted"), &json!("the usual")));
    assert_eq!((&ended["outcome"]["by"], &ended["outcome"]["assurance"]), (&json!(null), &json!(null)));
}

#[test]
fn a_deadline_passes_also_while_no_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let asker = server.token("asker", &["ask"]);
    let plain = server.ask(&asker, &json!({"question": "One?", "timeout_seconds": 1}));
    let with = server.ask(&asker, &json!({"question": "Two?", "timeout_seconds": 1, "default": "d"}));
    server.stop().unwrap();
    let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let now = seconds();
    until("the deadline is over", || seconds() > now + 1);
    let server = Server::start_at(folder.path());
    let ended = |id: &str| {
        let path = format!("/v1/questions/{id}/wait?seconds=20");
        server.call("GET", &path).token(&asker).send().json()["state"].clone()
    };
    assert_eq!((ended(&plain), ended(&with)), (json!("expired"), json!("defaulted")));
}
