//! Calls as tasks: the client hears at once, looks again by itself, and finds the answer, whatever became of the server.

use std::sync::Arc;

use demur_mcp::door_settings::Forms;
use serde_json::{Value, json};

use crate::{
    client::{Client, Opening, run},
    desk::Desk,
};

fn tasks() -> Value {
    json!({"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn open(desk: &Arc<Desk>) -> Client {
    Client::modern(desk, tasks(), Opening::default())
}

async fn begin(client: &mut Client) -> String {
    let reply = client.call("ask_human", json!({"question": "Which?"})).await;
    let result = &reply["result"];
    assert_eq!((&result["resultType"], &result["status"]), (&json!("task"), &json!("working")), "{reply}");
    assert!(result.as_object().unwrap().contains_key("ttlMs") && result["ttlMs"].is_null(), "{reply}");
    assert!(result["inputRequests"].is_null(), "no form stops a client from looking: {reply}");
    result["taskId"].as_str().unwrap().to_owned()
}

async fn get(client: &mut Client, id: &str) -> Value {
    client.request("tasks/get", json!({"taskId": id})).await
}

/// ONE-01
#[test]
fn a_call_becomes_a_task_whose_result_is_the_answer() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let id = begin(&mut client).await;
        assert_eq!(id, desk.asked().await.id.to_string());
        let reply = get(&mut client, &id).await;
        assert_eq!(reply["result"]["status"], "working", "{reply}");
        assert_eq!(reply["result"]["createdAt"], "2026-11-15T00:00:00.000Z", "{reply}");
        assert_eq!(
            reply["result"]["pollIntervalMs"], 10_000,
            "it was asked more than five minutes ago: {reply}"
        );
        desk.answer_elsewhere(id.parse().unwrap(), "theirs");
        // Another door, as after a restart: nothing was kept but the question.
        let mut client = open(&desk);
        let reply = get(&mut client, &id).await;
        let result = &reply["result"];
        assert_eq!(
            (&result["resultType"], &result["status"]),
            (&json!("complete"), &json!("completed")),
            "{reply}"
        );
        assert_eq!(result["lastUpdatedAt"], "2026-11-15T00:00:01.000Z", "{reply}");
        let told = &result["result"]["structuredContent"];
        assert_eq!((&told["answer"], &told["by"]), (&json!("theirs"), &json!("ada")), "{reply}");
    });
}

#[test]
fn a_caller_that_wants_to_hear_at_once_gets_no_task() {
    run(async {
        let mut client = open(&Desk::new(true));
        let reply = client.call("ask_human", json!({"question": "Which?", "wait_s": 0})).await;
        assert_eq!(reply["result"]["structuredContent"]["state"], "open", "{reply}");
    });
}

/// Nobody waits any more, and the question stays open for everybody.
#[test]
fn a_cancelled_task_stops_waiting_only() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let id = begin(&mut client).await;
        let reply = client.request("tasks/cancel", json!({"taskId": id})).await;
        assert!(reply["error"].is_null(), "{reply}");
        assert_eq!(get(&mut client, &id).await["result"]["status"], "cancelled");
        assert_eq!(desk.state(&id), "open");
        desk.answer_elsewhere(id.parse().unwrap(), "late");
        assert_eq!(
            get(&mut client, &id).await["result"]["status"],
            "cancelled",
            "what has ended stays ended"
        );
        let told = client.call("check_question", json!({"question_id": id})).await;
        assert_eq!(told["result"]["structuredContent"]["answer"], "late", "{told}");
    });
}

/// A question has one task: whoever asks for it again after calling it off waits again.
#[test]
fn a_task_that_was_cancelled_works_again_for_whoever_asks_again() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let id = begin(&mut client).await;
        client.request("tasks/cancel", json!({"taskId": id})).await;
        let again = client.call("check_question", json!({"question_id": id})).await;
        assert_eq!(again["result"]["taskId"], *id, "{again}");
        assert_eq!(get(&mut client, &id).await["result"]["status"], "working");
        desk.answer_elsewhere(id.parse().unwrap(), "theirs");
        assert_eq!(get(&mut client, &id).await["result"]["status"], "completed");
    });
}

/// ONE-07
#[test]
fn a_task_of_another_caller_is_unknown() {
    run(async {
        let desk = Desk::new(true);
        let id = begin(&mut open(&desk)).await;
        let mut thief = Client::modern(&desk, tasks(), Opening { name: "thief", ..Opening::default() });
        let nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV.9";
        for id in [id.as_str(), nobody, "nonsense"] {
            for (method, params) in [
                ("tasks/get", json!({"taskId": id})),
                ("tasks/cancel", json!({"taskId": id})),
                ("tasks/update", json!({"taskId": id, "inputResponses": {id: {"action": "decline"}}})),
            ] {
                let reply = thief.request(method, params).await;
                assert_eq!(reply["error"]["code"], -32602, "{method}: {reply}");
                let words = format!("expected a task of yours, found none called {id:?}");
                assert_eq!(reply["error"]["message"], words, "{method}: {reply}");
            }
        }
        assert_eq!(desk.state(&id), "open");
    });
}

/// The extension has neither: the result stands in `tasks/get`.
#[test]
fn what_the_extension_left_out_is_unknown() {
    run(async {
        let mut client = open(&Desk::new(true));
        let id = begin(&mut client).await;
        for method in ["tasks/result", "tasks/list"] {
            let reply = client.request(method, json!({"taskId": id})).await;
            assert_eq!(reply["error"]["code"], -32601, "{reply}");
        }
    });
}

#[test]
fn a_client_that_declares_no_tasks_gets_none() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({"elicitation": {}}), Opening::default());
        let reply = client.call("ask_human", json!({"question": "Which?"})).await;
        assert_eq!(reply["result"]["resultType"], "input_required", "{reply}");
        let id = desk.asked().await.id.to_string();
        assert_eq!(get(&mut client, &id).await["error"]["code"], -32021);
    });
}

/// With `--forms task` the form is in the task, and what comes back for it is the client's word.
#[test]
fn a_form_in_a_task_brings_the_answer_where_that_is_wanted() {
    run(async {
        let desk = Desk::new(true);
        let forms = || {
            let mut opening = Opening::default();
            opening.settings.forms = Forms::Task;
            opening
        };
        let mut client = Client::modern(&desk, tasks(), forms());
        let id = begin(&mut client).await;
        let reply = get(&mut client, &id).await;
        assert_eq!(reply["result"]["status"], "input_required", "{reply}");
        assert_eq!(reply["result"]["inputRequests"][&id]["method"], "elicitation/create", "{reply}");
        let accepted = json!({"action": "accept", "content": {"answer": "mine"}});
        let updated =
            client.request("tasks/update", json!({"taskId": id, "inputResponses": {&*id: accepted}})).await;
        assert!(updated["error"].is_null(), "{updated}");
        let reply = get(&mut client, &id).await;
        assert_eq!(reply["result"]["result"]["structuredContent"]["answer"], "mine", "{reply}");
        assert_eq!(reply["result"]["result"]["structuredContent"]["by"], "tester user", "{reply}");

        let id = begin(&mut client).await;
        let closed = json!({"taskId": id, "inputResponses": {&*id: {"action": "cancel"}}});
        client.request("tasks/update", closed).await;
        assert_eq!(get(&mut client, &id).await["result"]["status"], "working", "a closed form stays closed");
    });
}
