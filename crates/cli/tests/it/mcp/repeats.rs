//! The same question asked again, by a client that took it as a task and by one whose form stayed.

use serde_json::{Value, json};

use super::{client::Client, forms, open_question};
use crate::{asker::until, sandbox::Sandbox};

fn ask() -> Value {
    json!({"question": "Deploy now?"})
}

/// CLR-04: one task for one question, also after it was called off; with its result the answer was heard.
#[test]
fn question_that_is_repeated_is_the_same_task_until_its_result_was_fetched() {
    let sandbox = Sandbox::new();
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = Client::modern(&sandbox, &[], &tasks);
    let begun = client.call("ask_human", &ask());
    let task = json!({"taskId": begun["taskId"]});
    let status = |client: &mut Client| client.request("tasks/get", task.clone())["result"]["status"].clone();
    client.request("tasks/cancel", task.clone());
    assert_eq!(status(&mut client), "cancelled");
    let again = client.call("ask_human", &ask());
    assert_eq!(again["taskId"], begun["taskId"], "{again}");
    assert_eq!(status(&mut client), "working", "somebody waits again");
    sandbox.run(&["answer", &open_question(&sandbox), "yes"]).expect_code(0);
    assert_eq!(status(&mut client), "completed");
    let anew = client.call("ask_human", &ask());
    assert_eq!(anew["resultType"], "task", "{anew}");
    assert_ne!(anew["taskId"], begun["taskId"], "an old answer is none to a new question: {anew}");
}

/// CLR-04: what its user said in a form that stayed is told to whoever asks again, once.
#[test]
fn answer_in_a_form_that_stayed_is_told_to_the_repeated_call() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &["--wait", "1s"], "2025-11-25", &forms());
    let number = client.send("tools/call", json!({"name": "ask_human", "arguments": ask()}));
    let form = client.next();
    assert_eq!(form["method"], "elicitation/create", "{form}");
    let open = client.reply(number)["result"]["structuredContent"].clone();
    let repeated = client.call("ask_human", &ask())["structuredContent"].clone();
    assert_eq!((&repeated["question_id"], &repeated["state"]), (&open["question_id"], &json!("open")));
    let result = json!({"action": "accept", "content": {"answer": "late"}});
    client.write(&json!({"jsonrpc": "2.0", "id": form["id"], "result": result}));
    let id = open["question_id"].as_str().unwrap();
    until("it is answered", || (sandbox.json(&["show", id])["state"] == "answered").then_some(()));
    let told = client.call("ask_human", &ask())["structuredContent"].clone();
    assert_eq!((&told["answer"], &told["repeated"]), (&json!("late"), &json!(true)), "{told}");
    let number = client.send("tools/call", json!({"name": "ask_human", "arguments": ask()}));
    let form = client.next();
    assert_eq!(form["method"], "elicitation/create", "it was heard, so somebody is asked anew: {form}");
    assert_ne!(client.reply(number)["result"]["structuredContent"]["question_id"], *id);
}
