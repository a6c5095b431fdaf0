//! How long a call waits and what becomes of its form: `--wait`, `--era`, late replies, tasks, plans that are waited for.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    client::Client,
    forms, open_question,
    plans::{answer, plan, status, whole},
};
use crate::{
    asker::until,
    sandbox::{Sandbox, count},
};

fn ask(words: &str) -> Value {
    json!({"name": "ask_human", "arguments": {"question": words}})
}

/// Returns the form of a call, and what the client is told when the call ends before anybody answers.
fn left(client: &mut Client, words: &str) -> (Value, Value) {
    let number = client.send("tools/call", ask(words));
    let form = client.next();
    assert_eq!(form["method"], "elicitation/create", "{form}");
    (form, client.reply(number)["result"].clone())
}

#[test]
fn a_client_falls_back_to_the_revisions_that_the_bridge_was_told_to_speak() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &["--era", "2025"], &forms());
    let found = client.request("server/discover", json!({}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2025-06-18", "2025-11-25"]), "{found}");
    let mut client = Client::legacy(&sandbox, &["--era", "2025", "--wait", "24h"], "2025-11-25", &forms());
    let number = client.send("tools/call", ask("Which?"));
    let form = client.next();
    let result = json!({"action": "accept", "content": {"answer": "this one"}});
    client.write(&json!({"jsonrpc": "2.0", "id": form["id"], "result": result}));
    assert_eq!(client.reply(number)["result"]["structuredContent"]["answer"], "this one");
    for wrong in [["--era", "2024"], ["--wait", "never"], ["--forms", "everywhere"]] {
        sandbox.run(&[&["mcp"], &wrong[..]].concat()).expect_code(2);
    }
}

/// The call ends, the form stays, and its reply is on record as what a client passed on.
#[test]
fn a_reply_after_the_window_is_recorded() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &["--wait", "1s"], "2025-11-25", &forms());
    let (form, told) = left(&mut client, "Which?");
    let id = told["structuredContent"]["question_id"].as_str().unwrap();
    let words = told["content"][0]["text"].as_str().unwrap();
    assert!(words.starts_with(&format!("Question {id} is open; nobody has answered yet.")), "{told}");
    assert!(words.contains(&format!("/questions/{id} (or `demur inbox`).\"")), "{told}");
    let result = json!({"action": "accept", "content": {"answer": "late"}});
    client.write(&json!({"jsonrpc": "2.0", "id": form["id"], "result": result}));
    let shown = until("it is answered", || {
        let shown = sandbox.json(&["show", id]);
        (shown["state"] == "answered").then_some(shown)
    });
    assert_eq!(shown["outcome"]["assurance"], "relayed", "{shown}");
    assert_eq!(shown["outcome"]["by"], "desktop user", "{shown}");
}

/// Bars 1 and 2: an answer in the inbox takes the form away and ends the call, each within a second; after the call it takes
/// away the form all the same.
#[test]
fn proof_a_form_goes_within_a_second_when_the_inbox_answers_first() {
    let sandbox = Sandbox::new();
    let mut held = Client::legacy(&sandbox, &["--wait", "24h"], "2025-11-25", &forms());
    let mut late = Client::legacy(&sandbox, &["--wait", "1s"], "2025-11-25", &forms());
    for round in 0..count(3, 100) {
        let is_late = round % 10 == 2;
        let client = if is_late { &mut late } else { &mut held };
        let words = format!("{round}?");
        let (form, call) = if is_late {
            (left(client, &words).0, None)
        } else {
            let number = client.send("tools/call", ask(&words));
            (client.next(), Some(number))
        };
        assert_eq!(form["method"], "elicitation/create", "{form}");
        sandbox.run(&["answer", &open_question(&sandbox), "mine"]).expect_code(0);
        // The answer counts from here at the latest.
        let answered = Instant::now();
        // The call ends too, before or after: that it was heard is noted before it says so.
        let (mut gone, mut told) = (false, is_late);
        while !gone || !told {
            let message = client.next();
            let taken = answered.elapsed();
            assert!(taken < Duration::from_secs(1), "round {round}: {taken:?}: {message}");
            if message["method"] == "notifications/cancelled" {
                assert_eq!(message["params"]["requestId"], form["id"], "{message}");
                gone = true;
            } else {
                assert_eq!(message["id"], json!(call), "{message}");
                assert_eq!(message["result"]["structuredContent"]["answer"], "mine", "{message}");
                told = true;
            }
        }
    }
}

/// CLR-40: a client that cannot be asked is held until nothing is open any more.
#[test]
fn a_plan_is_held_until_people_have_answered_everything() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let arguments = ["--tools", "wwa", "--wait", "24h"];
    let mut client = Client::legacy(&sandbox, &arguments, "2025-06-18", &json!({}));
    let mut given = plan();
    given["session_id"] = json!("01a1e38b-90f3-76db-9fc9-9d188b634e75");
    let number = client.send("tools/call", json!({"name": "wwa_clarify_check", "arguments": given}));
    open_question(&sandbox);
    // What settles nothing has the gap asked again, under another id: it is waited for all the same.
    let vague = json!({"session_id": given["session_id"], "gap_id": "gap-001", "answer": "the standard one"});
    let escalated = client.call("wwa_clarify_resolve", &vague);
    assert_eq!(escalated["structuredContent"]["status"], "escalated", "{escalated}");
    for _ in 0..2 {
        settle(&sandbox);
    }
    let ready = client.reply(number)["result"].clone();
    assert_eq!(status(&ready), "ready_to_proceed", "{ready}");
}

/// Answers the oldest open question of a plan at the terminal.
fn settle(sandbox: &Sandbox) {
    let id = open_question(sandbox);
    let field = sandbox.json(&["show", &id])["field"].as_str().unwrap().to_owned();
    sandbox.run(&["answer", &id, answer(&field).as_str().unwrap()]).expect_code(0);
}

/// A plan as a task: the client looks again by itself, and a task of another client is unknown.
#[test]
fn a_plan_becomes_a_task_that_ends_with_the_last_answer() {
    let sandbox = Sandbox::new();
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = Client::modern(&sandbox, &["--tools", "wwa"], &tasks);
    let begun = client.call("wwa_scaffold_plan", &plan());
    assert_eq!((&begun["resultType"], &begun["pollIntervalMs"]), (&json!("task"), &json!(2_000)), "{begun}");
    let task = json!({"taskId": begun["taskId"]});
    let mut other = Client::modern(&sandbox, &[], &tasks).named("other");
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(other.request(method, task.clone())["error"]["code"], -32602, "{method}");
    }
    let open = client.request("tasks/get", task.clone());
    assert_eq!(open["result"]["status"], "working", "{open}");
    super::kill_server(&sandbox);
    for _ in 0..2 {
        settle(&sandbox);
    }
    let ended = client.request("tasks/get", task)["result"].clone();
    assert_eq!(ended["status"], "completed", "{ended}");
    let made = &ended["result"]["structuredContent"];
    assert_eq!(made["plan"]["component_type"], "webpart-react", "{ended}");
    let ready = client.call("wwa_clarify_check", &whole());
    assert_eq!(status(&ready), "ready_to_proceed", "what lacks nothing is no task: {ready}");
}
