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
