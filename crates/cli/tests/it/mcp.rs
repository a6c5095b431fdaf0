//! `demur mcp` as clients start it: a bridge that outlives its server, and what it passes on.

mod assured;
pub(crate) mod client;
pub(crate) mod plans;
mod repeats;
mod sessions;
mod tasks;
mod waiting;
mod wire;

use std::{process::Command, thread};

use serde_json::{Value, json};

use self::client::Client;
use crate::sandbox::{Sandbox, count};

fn forms() -> Value {
    json!({"elicitation": {}})
}

/// Kills the server of the folder, as a power cut would.
fn kill_server(sandbox: &Sandbox) {
    let process = sandbox.json(&["status"])["process"].to_string();
    assert!(Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
}

/// Returns the open question, once there is one.
fn open_question(sandbox: &Sandbox) -> String {
    for _ in 0..1000 {
        let listed = sandbox.json(&["inbox", "--list"]);
        if let Some(id) = listed["questions"][0]["id"].as_str() {
            return id.to_owned();
        }
        thread::yield_now();
    }
    panic!("no question came");
}

/// CLR-05, ONE-02
#[test]
fn proof_a_server_that_is_killed_between_question_and_answer_costs_nothing() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &forms());
    for round in 0..count(2, 25) {
        let arguments = json!({"question": format!("Which region, {round}?")});
        let asked = client.call("ask_human", &arguments);
        let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        kill_server(&sandbox);
        for answer in ["eu", "us"] {
            let told = client.again("ask_human", &arguments, &asked, |_| json!(answer));
            assert_eq!(told["structuredContent"]["answer"], "eu", "the first one counts: {told}");
        }
        let shown = sandbox.json(&["show", &id]);
        assert_eq!(shown["outcome"]["assurance"], "relayed", "{shown}");
        assert_eq!(shown["outcome"]["by"], "desktop user", "{shown}");
        assert_eq!(shown["asker"]["name"], "desktop", "{shown}");
        let events = sandbox.json(&["trace", "show", &id[..26]]);
        assert_eq!(events["entries"].as_array().map(Vec::len), Some(2), "asked and answered, once: {events}");
    }
}

/// ONE-01
#[test]
fn a_call_that_waits_survives_the_server_and_hears_the_answer() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &json!({}));
    let params = json!({"name": "ask_human", "arguments": {"question": "Which?"}});
    let number = client.send("tools/call", params);
    let id = open_question(&sandbox);
    kill_server(&sandbox);
    sandbox.run(&["answer", &id, "this one"]).expect_code(0);
    let reply = client.reply(number);
    assert_eq!(reply["result"]["structuredContent"]["answer"], "this one", "{reply}");
    assert_eq!(reply["result"]["structuredContent"]["assurance"], "terminal", "{reply}");
}

/// ONE-02
#[test]
fn a_form_is_taken_away_when_somebody_answers_at_the_terminal() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &[], "2025-06-18", &forms());
    let params = json!({"name": "ask_human", "arguments": {"question": "Which?"}});
    let number = client.send("tools/call", params);
    let asked = client.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    sandbox.run(&["answer", &open_question(&sandbox), "mine"]).expect_code(0);
    let (mut cancelled, mut told) = (false, Value::Null);
    while !cancelled || told.is_null() {
        let message = client.next();
        cancelled |=
            message["method"] == "notifications/cancelled" && message["params"]["requestId"] == asked["id"];
        if message["id"] == number && message["method"].is_null() {
            told = message;
        }
    }
    assert_eq!(told["result"]["structuredContent"]["answer"], "mine", "{told}");
}

/// CLR-05
#[test]
fn ten_clients_at_once_each_get_their_own_answer() {
    let sandbox = Sandbox::new();
    sandbox.run(&["open", "--print"]).expect_code(0);
    thread::scope(|scope| {
        for number in 0..10 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let mut client = Client::modern(sandbox, &[], &forms());
                for round in 0..5 {
                    let arguments = json!({"question": format!("{number}, {round}?")});
                    let asked = client.call("ask_human", &arguments);
                    let answer = format!("{number}-{round}");
                    let told = client.again("ask_human", &arguments, &asked, |_| json!(answer));
                    assert_eq!(told["structuredContent"]["answer"], answer, "{told}");
                }
            });
        }
    });
    let listed = sandbox.json(&["inbox", "--list"]);
    assert_eq!(listed["questions"].as_array().map(Vec::len), Some(0), "{listed}");
}

/// ONE-07
#[test]
fn a_client_speaks_for_nobody_but_itself() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &["--tools", "wwa"], &forms());
    let asked = client.call("ask_human", &json!({"question": "Which?"}));
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let submitted = client.call("wwa_clarify_check", &plans::whole());
    let session = &submitted["structuredContent"]["session_id"];
    let mut other = Client::modern(&sandbox, &["--tools", "wwa"], &forms()).named("other");
    let refused = [
        other.call("cancel_question", &json!({"question_id": id})),
        other.call("wwa_confirm_plan", &json!({"session_id": session})),
    ];
    for refused in refused {
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(refused["content"][0]["text"].as_str().unwrap().starts_with("FORBIDDEN"), "{refused}");
    }
    assert_eq!(sandbox.json(&["show", &id])["state"], "open");
}

/// ONE-07: what a client does is signed with its own key, and no person's name stands under it.
#[test]
fn question_that_a_client_cancels_is_its_own_act() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &forms());
    let asked = client.call("ask_human", &json!({"question": "Which?"}));
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let told = client.call("cancel_question", &json!({"question_id": id, "reason": "found it"}));
    assert_eq!(told["structuredContent"]["state"], "cancelled", "{told}");
    assert_eq!(told["structuredContent"]["by"], "desktop", "{told}");
    let shown = sandbox.json(&["show", &id]);
    assert_eq!(shown["outcome"]["by"], "desktop", "{shown}");
    assert_eq!(shown["outcome"]["principal"], shown["asker"]["principal"], "{shown}");
    assert_eq!(shown["outcome"]["note"], "found it", "{shown}");
}

/// A secret reaches its asker once, and stands nowhere else.
#[test]
fn a_secret_answer_is_delivered_once() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &forms());
    let params = json!({"name": "ask_human", "arguments": {"question": "The token?", "kind": "secret"}});
    let number = client.send("tools/call", params);
    let id = open_question(&sandbox);
    sandbox.feed(&["answer", &id, "-"], b"hunter2").expect_code(0);
    let reply = client.reply(number);
    assert_eq!(reply["result"]["structuredContent"]["answer"], "hunter2", "{reply}");
    let again = client.call("check_question", &json!({"question_id": id}));
    assert_eq!(again["structuredContent"]["state"], "answered", "{again}");
    assert!(again["structuredContent"]["answer"].is_null(), "{again}");
}

#[test]
fn the_bridge_ends_with_its_client_and_the_question_stays() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &json!({}));
    client.send("tools/call", json!({"name": "ask_human", "arguments": {"question": "Which?"}}));
    let id = open_question(&sandbox);
    assert_eq!(client.hang_up(), Some(0));
    assert_eq!(sandbox.json(&["show", &id])["state"], "open");
}

#[test]
fn a_bridge_without_anything_to_serve_says_why() {
    let sandbox = Sandbox::new();
    let ran = sandbox.feed(&["mcp"], b"");
    ran.expect_code(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{ran}");
    std::fs::write(sandbox.path("file"), "").unwrap();
    let error = sandbox.json_error(&["mcp", "--data", "file"], 2);
    assert!(error["message"].is_string(), "{error}");
}

/// What is not there is the same mistake at every transport: the one that the protocol has for it.
#[test]
fn a_resource_that_is_not_there_is_not_found() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &["--tools", "all"], &forms());
    for uri in [
        "demur://traces/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "demur://traces/01ARZ3NDEKTSV4RRFFQ69G5FAV/report",
        "demur://plans/3f0d5d6e-1a3f-4b8e-9a53-0d5b5f8f7a11/audit",
        "demur://elsewhere",
    ] {
        let reply = client.request("resources/read", json!({"uri": uri}));
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(uri), "{reply}");
    }
}
