//! The server is killed between question and answer: the retry of a real client gets the answer, once.

use std::{fs, process::Command};

use serde_json::{Value, json};

use super::{
    client::{Client, Kind, Language, Tier, Transport, accept, http, stdio},
    text,
};
use crate::{asker::until, sandbox::Sandbox, server_life::serve};

fn kill(process: &Value) {
    let id = process.as_u64().unwrap().to_string();
    assert!(Command::new("kill").args(["-KILL", &id]).status().unwrap().success());
    // One that nobody has asked after is still listed, but has no memory any more.
    let status = format!("/proc/{id}/status");
    until("it is dead", || {
        (!fs::read_to_string(&status).is_ok_and(|status| status.contains("VmRSS"))).then_some(())
    });
}

/// Asks, has the server killed, brings the answer twice, and returns the id of the question.
fn ask_and_retry(client: &mut Client, kind: Kind, die: impl FnOnce()) -> String {
    let call = json!({"name": "ask_human", "arguments": {"question": "Still there?"}});
    let needed = client.get("once", &call);
    assert_eq!(needed["resultType"], "input_required", "{kind}: {needed}");
    let key = needed["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    die();
    let mut retry = call;
    retry["requestState"] = needed["requestState"].clone();
    retry["inputResponses"] = json!({&key: accept(&json!("yes, I am"))});
    let first = client.get("once", &retry);
    assert_eq!(first["structuredContent"]["answer"], "yes, I am", "{kind}: {first}");
    // The same again has no second effect, whatever it brings.
    retry["inputResponses"] = json!({&key: accept(&json!("another answer"))});
    let second = client.get("once", &retry);
    assert_eq!(second["structuredContent"], first["structuredContent"], "{kind}");
    assert!(text(&second).contains("yes, I am"), "{kind}: {second}");
    first["structuredContent"]["question_id"].as_str().unwrap().to_owned()
}

fn answers_on_record(sandbox: &Sandbox) -> usize {
    let trace = sandbox.trace();
    let shown = sandbox.run(&["export", &trace]);
    shown.expect_code(0).stdout.matches("\"question_answered\"").count()
}

/// ONE-05
#[test]
fn killed_server_is_replaced_and_the_retry_over_stdio_gets_the_answer_once() {
    for language in [Language::Python, Language::TypeScript] {
        let sandbox = Sandbox::new();
        let kind = Kind { language, transport: Transport::Stdio, tier: Tier::Rounds };
        let mut client = Client::connect(kind, &stdio(&sandbox, ""));
        ask_and_retry(&mut client, kind, || kill(&sandbox.json(&["status"])["process"]));
        assert_eq!(answers_on_record(&sandbox), 1, "{kind}");
    }
}

/// ONE-05
#[test]
fn killed_server_that_is_started_again_gives_the_retry_over_http_the_answer_once() {
    for language in [Language::Python, Language::TypeScript] {
        let sandbox = Sandbox::new();
        let kind = Kind { language, transport: Transport::Http, tier: Tier::Rounds };
        let mut first = serve(&sandbox, &["--port", "0"]);
        let server = http(&sandbox, &kind.name(), "");
        let port = server["url"].as_str().unwrap().rsplit(':').next().unwrap().split('/').next().unwrap();
        let mut client = Client::connect(kind, &server);
        let mut second = None;
        ask_and_retry(&mut client, kind, || {
            first.kill().unwrap();
            first.wait().unwrap();
            second = Some(serve(&sandbox, &["--port", port]));
        });
        assert_eq!(answers_on_record(&sandbox), 1, "{kind}");
        sandbox.run(&["stop"]).expect_code(0);
        assert!(second.unwrap().wait().unwrap().success());
    }
}

/// A state that was changed, or that belongs to another call or another client, is worth nothing.
#[test]
fn state_of_another_call_is_refused() {
    let sandbox = Sandbox::new();
    for language in [Language::Python, Language::TypeScript] {
        let kind = Kind { language, transport: Transport::Stdio, tier: Tier::Rounds };
        let mut client = Client::connect(kind, &stdio(&sandbox, ""));
        let call = |words: &str| json!({"name": "ask_human", "arguments": {"question": words}});
        let needed = client.get("once", &call("Whose state?"));
        let state = needed["requestState"].as_str().unwrap();
        let mut turned: Vec<char> = state.chars().collect();
        turned.reverse();
        for (words, state) in [
            ("Another question?", state.to_owned()),
            ("Whose state?", format!("{state}x")),
            ("Whose state?", turned.into_iter().collect()),
        ] {
            let mut retry = call(words);
            retry["requestState"] = json!(state);
            let id = client.begin("once", &retry);
            let line = client.end(id, super::nobody);
            assert_eq!(line["error"]["code"], -32602, "{kind}: {line}");
            assert!(
                line["error"]["message"].as_str().unwrap().contains("call the tool again"),
                "{kind}: {line}"
            );
        }
    }
}
