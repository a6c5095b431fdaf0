//! What releases an agent that a question stops, and what does not.

use serde_json::json;

use super::{call, refusal, refused};
use crate::{asker::asked, mcp::client::Client, sandbox::Sandbox};

/// A client's form that says no has asked nobody for sure.
#[test]
fn declined_question_goes_on_blocking_until_a_person_calls_it_off() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    assert_eq!(refusal(&sandbox, "Bash"), None);
    let mut client = Client::of_session(&sandbox, &[], "abc");
    let first = json!({ "question": "Which?" });
    let asked = client.call("ask_human", &first);
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let declined = client.request(
        "tools/call",
        json!({
            "name": "ask_human", "arguments": first, "requestState": asked["requestState"],
            "inputResponses": { &id: { "action": "decline" } },
        }),
    )["result"]
        .take();
    assert_eq!(declined["structuredContent"]["state"], "declined", "{declined}");
    let reason = refusal(&sandbox, "Bash").expect("nobody settled it");
    assert!(reason.contains("is declined") && reason.contains(&format!("`demur cancel {id}`")), "{reason}");
    let cancelled = client.call("cancel_question", &json!({ "question_id": id }));
    assert!(cancelled["content"][0]["text"].as_str().unwrap().contains("PERSON_RELEASES"), "{cancelled}");
    // A server that begins anew marks it again.
    sandbox.run(&["stop"]).expect_code(0);
    sandbox.start_server();
    assert!(refusal(&sandbox, "Bash").is_some());
    sandbox.run(&["cancel", &id]).expect_code(0);
    assert_eq!(refusal(&sandbox, "Bash"), None);
}

#[test]
fn question_declined_at_the_terminal_goes_on_blocking() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which?", "--as", "claude-code"]);
    sandbox.run(&["decline", &id]).expect_code(0);
    assert!(refusal(&sandbox, "Bash").is_some());
    assert_eq!(refused(&call(&sandbox, "Read", &[])), None);
    sandbox.run(&["cancel", &id]).expect_code(0);
    assert_eq!(refusal(&sandbox, "Bash"), None);
}

/// Nothing can settle it any more.
#[test]
fn question_of_a_run_that_is_over_blocks_nothing() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    assert_eq!(refusal(&sandbox, "Bash"), None);
    let mut client = Client::of_session(&sandbox, &["--tools", "session"], "abc");
    let opened = client.call("session_open", &json!({ "task": "tests", "objective": "They pass" }));
    let trace = opened["structuredContent"]["trace"].as_str().unwrap().to_owned();
    let asked = client.call("ask_human", &json!({ "question": "Go?", "trace": trace }));
    let id = asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}")).keys().next().unwrap();
    assert!(refusal(&sandbox, "Bash").is_some());
    sandbox.run(&["run", "abort", &trace, "--reason", "enough"]).expect_code(0);
    assert!(!sandbox.data().join("open").join(id).exists(), "the mark went with the run");
    assert_eq!(refusal(&sandbox, "Bash"), None);
    // Nor after the marks were put right.
    sandbox.run(&["stop"]).expect_code(0);
    sandbox.start_server();
    assert!(!sandbox.data().join("open").join(id).exists());
    // It ended with the run: nobody can answer it, and nobody is asked.
    let over = sandbox.json_error(&["answer", id, "yes"], 3);
    assert_eq!(over["code"], "RUN_OVER", "{over}");
    assert_eq!(sandbox.json(&["inbox", "--list"])["questions"].as_array().unwrap().len(), 0);
}

/// An answer that was taken back releases nobody any more, also with no server to ask.
#[test]
fn question_whose_answer_was_taken_back_blocks_again() {
    let sandbox = Sandbox::new();
    sandbox.start_server();
    assert_eq!(refusal(&sandbox, "Bash"), None);
    let id = asked(&sandbox, &["Which?", "--as", "claude-code"]);
    let mark = sandbox.data().join("open").join(&id);
    sandbox.run(&["answer", &id, "this"]).expect_code(0);
    assert_eq!((refusal(&sandbox, "Bash"), mark.exists()), (None, false));
    sandbox.run(&["answer", &id, "that", "--replace"]).expect_code(0);
    assert_eq!(refusal(&sandbox, "Bash"), None);
    sandbox.run(&["answer", &id, "--revoke"]).expect_code(0);
    assert!(mark.exists());
    assert!(refusal(&sandbox, "Bash").unwrap().contains("must be answered first"));
    sandbox.run(&["stop"]).expect_code(0);
    assert!(refusal(&sandbox, "Bash").is_some(), "also where no server runs");
    sandbox.run(&["answer", &id, "this"]).expect_code(0);
    assert_eq!(refusal(&sandbox, "Bash"), None);
}
