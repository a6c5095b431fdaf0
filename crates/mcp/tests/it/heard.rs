//! What counts as heard: whatever tells a client how its question ended, and nothing that does not.

use serde_json::{Value, json};

use crate::{
    client::{Client, Opening, forms, run},
    desk::Desk,
};

async fn ask(client: &mut Client, arguments: Value) -> Value {
    let reply = client.call("ask_human", arguments).await;
    reply["result"]["structuredContent"]["question_id"].clone()
}

/// It lists what all conversations of the client asked, and one must not keep another from its answer.
#[test]
fn an_answer_in_a_list_is_not_heard() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let id = ask(&mut client, json!({"question": "Why?", "wait_s": 0})).await;
        desk.answer_elsewhere(id.as_str().unwrap().parse().unwrap(), "this one");
        let listed = client.call("list_questions", json!({})).await;
        assert_eq!(listed["result"]["structuredContent"]["questions"][0]["answer"], "this one", "{listed}");
        assert!(desk.heard().is_empty());
    });
}

#[test]
fn one_question_is_listed_as_one() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        ask(&mut client, json!({"question": "Why?", "wait_s": 0})).await;
        let listed = client.call("list_questions", json!({})).await;
        let words = listed["result"]["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with("1 question, the newest first."), "{words}");
        let refused = client.call("list_questions", json!({"state": "done"})).await;
        let words = refused["result"]["content"][0]["text"].as_str().unwrap();
        assert!(words.contains(", found \"done\""), "{words}");
    });
}

#[test]
fn a_task_tells_with_its_result_and_not_before() {
    run(async {
        let desk = Desk::new(true);
        let declared = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let mut client = Client::modern(&desk, declared, Opening::default());
        let begun = client.call("ask_human", json!({"question": "Why?"})).await;
        let task = json!({"taskId": begun["result"]["taskId"]});
        client.request("tasks/get", task.clone()).await;
        desk.answer_elsewhere(desk.asked().await.id, "this one");
        assert!(desk.heard().is_empty(), "nobody has looked since");
        let got = client.request("tasks/get", task).await;
        assert_eq!(got["result"]["status"], "completed", "{got}");
        assert_eq!(desk.heard(), [begun["result"]["taskId"].clone()]);
    });
}

/// What the user says in a form that stayed reaches the record, and the model only when it looks.
#[test]
fn a_late_reply_is_heard_when_the_client_is_told() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::legacy(&desk, "2025-11-25", forms(), Opening::default()).await;
        client
            .ask("tools/call", json!({"name": "ask_human", "arguments": {"question": "Why?", "wait_s": 0}}))
            .await;
        let form = client.next().await;
        client.next().await;
        let id = desk.asked().await.id.to_string();
        let result = json!({"action": "accept", "content": {"answer": "late"}});
        client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": result})).await;
        desk.settled(&id).await;
        assert!(desk.heard().is_empty(), "the model has not heard of it");
        client.call("check_question", json!({"question_id": id})).await;
        assert_eq!(desk.heard(), [json!(id)]);
    });
}

#[test]
fn a_question_that_is_read_as_a_resource_tells_its_asker() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let id = ask(&mut client, json!({"question": "Why?", "wait_s": 0})).await;
        let read = json!({"uri": format!("demur://questions/{}", id.as_str().unwrap())});
        client.request("resources/read", read.clone()).await;
        assert!(desk.heard().is_empty(), "while it is open there is nothing to hear");
        desk.answer_elsewhere(desk.asked().await.id, "this one");
        let opening = Opening { name: "other", ..Opening::default() };
        Client::modern(&desk, json!({}), opening).request("resources/read", read.clone()).await;
        assert!(desk.heard().is_empty(), "another's look is not the asker's");
        client.request("resources/read", read).await;
        assert_eq!(desk.heard(), [id]);
    });
}
