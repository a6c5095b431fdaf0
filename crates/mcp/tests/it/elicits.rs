//! The second tier: the client's user is asked while the call waits (2025-11-25 and 2025-06-18).

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    client::{Client, Opening, run, words},
    desk::Desk,
};

async fn open(desk: &Arc<Desk>, version: &str, declared: Value) -> Client {
    Client::legacy(desk, version, json!({"elicitation": declared}), Opening::default()).await
}

async fn ask(client: &mut Client, arguments: Value) -> Value {
    client.ask("tools/call", json!({"name": "ask_human", "arguments": arguments})).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    asked
}

async fn reply(client: &mut Client, asked: &Value, result: Value) -> Value {
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await;
    client.next().await
}

/// ONE-01
#[test]
fn a_form_of_every_kind_brings_the_answer() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk, "2025-11-25", json!({})).await;
        let kinds = [
            (json!({"question": "Why?"}), "string", json!("a text")),
            (json!({"question": "Why?", "kind": "yes_no"}), "boolean", json!(true)),
            (json!({"question": "Why?", "kind": "number"}), "number", json!(4.5)),
            (json!({"question": "Why?", "choices": ["a", "b"]}), "string", json!("b")),
            (json!({"question": "Why?", "choices": ["a", "b"], "closed": true}), "string", json!("a")),
        ];
        for (arguments, kind, answer) in kinds {
            let asked = ask(&mut client, arguments).await;
            assert_eq!(asked["params"]["mode"], "form", "{asked}");
            assert_eq!(asked["params"]["requestedSchema"]["properties"]["answer"]["type"], kind, "{asked}");
            let content = json!({"action": "accept", "content": {"answer": answer}});
            let told = reply(&mut client, &asked, content).await;
            assert_eq!(told["result"]["structuredContent"]["answer"], answer, "{told}");
            assert_eq!(told["result"]["structuredContent"]["assurance"], "relayed", "{told}");
            assert_eq!(told["result"]["resultType"], Value::Null, "older clients do not know the member");
        }
    });
}

#[test]
fn choices_have_titles_in_the_way_of_the_client_s_revision() {
    run(async {
        let desk = Desk::new(true);
        let arguments = json!({"question": "Why?", "choices": ["a", "b"]});
        for (version, member) in [("2025-11-25", "oneOf"), ("2025-06-18", "enum")] {
            let mut client = open(&desk, version, json!({})).await;
            let asked = ask(&mut client, arguments.clone()).await;
            let field = &asked["params"]["requestedSchema"]["properties"]["answer"];
            assert_eq!(field[member].as_array().map(Vec::len), Some(2), "{version}: {field}");
        }
    });
}

/// ONE-02
#[test]
fn whoever_is_first_elsewhere_takes_the_form_away() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk, "2025-06-18", json!({})).await;
        let asked = ask(&mut client, json!({"question": "Which?"})).await;
        desk.answer_elsewhere(desk.asked().await.id, "theirs");
        let mut messages = [client.next().await, client.next().await];
        messages.sort_by_key(|message| message["method"].is_null());
        let [cancelled, told] = messages;
        assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
        assert_eq!(cancelled["params"]["requestId"], asked["id"], "{cancelled}");
        assert_eq!(told["result"]["structuredContent"]["by"], "ada", "{told}");
        // An answer that comes too late is nobody's.
        let late = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"answer": "x"}}});
        client.send(&late).await;
        assert_eq!(desk.answers(), 1);
    });
}

/// Where a connection does not outlive the call, neither does the form.
#[test]
fn a_form_that_nobody_answers_ends_in_time_and_the_question_stays() {
    run(async {
        let desk = Desk::new(true);
        let mut opening = Opening::within(Duration::from_millis(80));
        opening.settings.lasting = false;
        let mut client = Client::legacy(&desk, "2025-06-18", json!({"elicitation": {}}), opening).await;
        let asked = ask(&mut client, json!({"question": "Which?"})).await;
        let mut messages = [client.next().await, client.next().await];
        messages.sort_by_key(|message| message["method"].is_null());
        assert_eq!(messages[0]["params"]["requestId"], asked["id"], "{messages:?}");
        let id = desk.asked().await.id;
        assert!(words(&messages[1]).starts_with(&format!("Question {id} is open;")), "{messages:?}");
        assert_eq!(desk.state(&id.to_string()), "open");
    });
}

#[test]
fn a_client_that_cannot_do_what_it_declared_waits_for_others() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk, "2025-06-18", json!({})).await;
        let asked = ask(&mut client, json!({"question": "Which?"})).await;
        let error = json!({"code": -32601, "message": "what is that?"});
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).await;
        desk.answer_elsewhere(desk.asked().await.id, "theirs");
        let mut told = client.next().await;
        // The answer may come before the error is read: then the form is taken back first.
        while told["method"].is_string() {
            told = client.next().await;
        }
        assert_eq!(told["result"]["structuredContent"]["answer"], "theirs");
    });
}

#[test]
fn somebody_who_is_not_understood_is_asked_once_more() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk, "2025-06-18", json!({})).await;
        let asked = ask(&mut client, json!({"question": "How many?", "kind": "number"})).await;
        let wrong = json!({"action": "accept", "content": {"answer": "some"}});
        let again = reply(&mut client, &asked, wrong).await;
        assert!(again["params"]["message"].as_str().unwrap().starts_with("Not taken: "), "{again}");
        let told = reply(&mut client, &again, json!({"action": "accept", "content": {"answer": 3}})).await;
        assert_eq!(told["result"]["structuredContent"]["answer"], 3, "{told}");
    });
}

/// Choices are suggestions unless they are closed: what is none of them has a field of its own.
#[test]
fn suggestions_leave_room_for_something_else() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk, "2025-11-25", json!({})).await;
        let choices = json!({"question": "Why?", "choices": ["a", "b"]});
        let asked = ask(&mut client, choices.clone()).await;
        let fields = &asked["params"]["requestedSchema"]["properties"];
        assert_eq!(fields["answer"]["oneOf"].as_array().map(Vec::len), Some(2), "{fields}");
        assert_eq!(fields["other"]["type"], "string", "{fields}");
        let own = json!({"action": "accept", "content": {"answer": "a", "other": " 2 "}});
        let told = reply(&mut client, &asked, own).await;
        assert_eq!(told["result"]["structuredContent"]["answer"], "2", "as it was written: {told}");

        let asked = ask(&mut client, choices.clone()).await;
        let empty = json!({"action": "accept", "content": {"other": " "}});
        let again = reply(&mut client, &asked, empty).await;
        assert!(again["params"]["message"].as_str().unwrap().starts_with("Not taken: "), "{again}");

        let mut closed = choices;
        closed["closed"] = json!(true);
        let asked = ask(&mut client, closed).await;
        assert!(asked["params"]["requestedSchema"]["properties"]["other"].is_null(), "{asked}");
        let own = json!({"action": "accept", "content": {"answer": "c", "other": "c"}});
        let again = reply(&mut client, &asked, own).await;
        assert!(again["params"]["message"].as_str().unwrap().starts_with("Not taken: "), "{again}");
    });
}

#[test]
fn a_secret_goes_to_the_inbox() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk, "2025-11-25", json!({"form": {}, "url": {}})).await;
        let asked = ask(&mut client, json!({"question": "The token?", "kind": "secret"})).await;
        let id = desk.asked().await.id;
        assert_eq!(asked["params"]["mode"], "url", "{asked}");
        assert_eq!(asked["params"]["url"], format!("http://localhost:7373/questions/{id}"), "{asked}");
    });
}
