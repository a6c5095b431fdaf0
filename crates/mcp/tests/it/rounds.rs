//! The first tier: a call ends with what is missing, and comes again with the answer (2026-07-28).

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    client::{Client, Opening, forms, run, words},
    desk::Desk,
};

fn open(desk: &Arc<Desk>) -> Client {
    Client::modern(desk, forms(), Opening::default())
}

/// Asks, and returns the key and the state that come back.
async fn ask(client: &mut Client, arguments: &Value) -> (String, String) {
    let reply = client.call("ask_human", arguments.clone()).await;
    let result = &reply["result"];
    assert_eq!(result["resultType"], "input_required", "{reply}");
    let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    (key, result["requestState"].as_str().unwrap().to_owned())
}

async fn again(client: &mut Client, arguments: &Value, state: &str, responses: Value) -> Value {
    let params = json!({
        "name": "ask_human", "arguments": arguments, "requestState": state, "inputResponses": responses,
    });
    client.request("tools/call", params).await
}

/// ONE-01, ONE-02
#[test]
fn the_key_is_the_question_and_the_answer_is_the_client_s_word() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let arguments = json!({"question": "Which region?", "choices": ["eu", "us"]});
        let (key, state) = ask(&mut client, &arguments).await;
        assert_eq!(key, desk.asked().await.id.to_string());
        let accepted = json!({"action": "accept", "content": {"answer": "eu"}});
        let reply = again(&mut client, &arguments, &state, json!({&*key: accepted})).await;
        let told = &reply["result"]["structuredContent"];
        assert_eq!((&told["answer"], &told["state"]), (&json!("eu"), &json!("answered")), "{reply}");
        assert_eq!((&told["by"], &told["assurance"]), (&json!("tester user"), &json!("relayed")), "{reply}");
    });
}

/// ONE-02, CLR-04
#[test]
fn a_state_that_comes_again_finds_the_answer_that_counts() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let arguments = json!({"question": "Which?"});
        let (key, state) = ask(&mut client, &arguments).await;
        for answer in ["first", "second", "first"] {
            let accepted = json!({"action": "accept", "content": {"answer": answer}});
            let reply = again(&mut client, &arguments, &state, json!({&*key: accepted})).await;
            assert_eq!(reply["result"]["structuredContent"]["answer"], "first", "{reply}");
        }
        assert_eq!(desk.answers(), 1);
    });
}

/// ONE-02
#[test]
fn whoever_was_first_elsewhere_is_what_the_retry_finds() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let arguments = json!({"question": "Which?"});
        let (key, state) = ask(&mut client, &arguments).await;
        desk.answer_elsewhere(desk.asked().await.id, "theirs");
        let accepted = json!({"action": "accept", "content": {"answer": "mine"}});
        let reply = again(&mut client, &arguments, &state, json!({key: accepted})).await;
        let told = &reply["result"]["structuredContent"];
        assert_eq!((&told["answer"], &told["by"]), (&json!("theirs"), &json!("ada")), "{reply}");
    });
}

#[test]
fn somebody_who_declines_or_closes_the_form_answers_nothing() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, forms(), Opening::within(Duration::from_millis(60)));
        let arguments = json!({"question": "Which?"});
        let (key, state) = ask(&mut client, &arguments).await;
        let reply = again(&mut client, &arguments, &state, json!({&*key: {"action": "cancel"}})).await;
        assert!(words(&reply).contains("is open; nobody has answered yet."), "{reply}");
        assert_eq!(desk.state(&key), "open");
        let reply = again(&mut client, &arguments, &state, json!({&*key: {"action": "decline"}})).await;
        assert_eq!(reply["result"]["structuredContent"]["state"], "declined", "{reply}");
        assert_eq!(desk.state(&key), "declined");
    });
}

/// After its user has closed the form, the call is held: the answer may come from anywhere.
#[test]
fn a_call_whose_form_was_closed_is_held_until_somebody_answers() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let arguments = json!({"question": "Which?"});
        let (key, state) = ask(&mut client, &arguments).await;
        let params = json!({
            "name": "ask_human", "arguments": arguments, "requestState": state,
            "inputResponses": {&*key: {"action": "cancel"}}, "_meta": {"progressToken": 1},
        });
        client.ask("tools/call", params).await;
        assert_eq!(client.next().await["method"], "notifications/progress", "it waits");
        desk.answer_elsewhere(desk.asked().await.id, "theirs");
        assert_eq!(client.next().await["result"]["structuredContent"]["answer"], "theirs");
    });
}

/// A form that is gone comes back with `check_question`, but never one that its user closed.
#[test]
fn a_closed_form_is_not_shown_again_and_a_lost_one_is() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, forms(), Opening::within(Duration::from_millis(60)));
        let arguments = json!({"question": "Which?"});
        let (key, state) = ask(&mut client, &arguments).await;
        let check = json!({"question_id": key});
        let shown = client.call("check_question", check.clone()).await;
        assert!(shown["result"]["inputRequests"][&key].is_object(), "{shown}");
        again(&mut client, &arguments, &state, json!({&*key: {"action": "cancel"}})).await;
        let told = client.call("check_question", check).await;
        assert_eq!(told["result"]["structuredContent"]["state"], "open", "{told}");
    });
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let arguments = json!({"question": "How many?", "kind": "number"});
        let (key, state) = ask(&mut client, &arguments).await;
        let accepted = json!({"action": "accept", "content": {"answer": "some"}});
        let reply = again(&mut client, &arguments, &state, json!({&*key: accepted})).await;
        let message = reply["result"]["inputRequests"][&key]["params"]["message"].as_str().unwrap();
        assert!(message.starts_with("Not taken: expected a number"), "{message}");
        // Without any response it is the same question again.
        let reply = again(&mut client, &arguments, &state, json!({})).await;
        assert_eq!(reply["result"]["resultType"], "input_required", "{reply}");
        assert_eq!((desk.state(&key).as_str(), desk.answers()), ("open", 0));
    });
}

#[test]
fn a_response_that_is_none_is_the_protocol_s_error() {
    run(async {
        let desk = Desk::new(true);
        let mut client = open(&desk);
        let arguments = json!({"question": "Which?"});
        let (key, state) = ask(&mut client, &arguments).await;
        for wrong in [json!("yes"), json!({"action": "perhaps"}), json!({"content": {"answer": "x"}})] {
            let reply = again(&mut client, &arguments, &state, json!({&*key: wrong})).await;
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
        }
        assert_eq!(desk.state(&key), "open");
    });
}

/// A secret goes to the inbox, or is waited for; never through a form.
#[test]
fn a_secret_never_goes_through_a_form() {
    run(async {
        let desk = Desk::new(true);
        let arguments = json!({"question": "The token?", "kind": "secret"});
        let both = json!({"elicitation": {"form": {}, "url": {}}});
        let mut client = Client::modern(&desk, both, Opening::default());
        let (key, _) = ask(&mut client, &arguments).await;
        let reply = client.call("ask_human", arguments.clone()).await;
        let request =
            &reply["result"]["inputRequests"].as_object().unwrap().values().next().unwrap()["params"];
        assert_eq!(request["mode"], "url", "{reply}");
        assert!(request["url"].as_str().unwrap().starts_with("http://localhost:7373/questions/"), "{reply}");
        let patience = Duration::from_millis(50);
        let mut client = Client::modern(&desk, forms(), Opening::within(patience));
        let reply = client.call("ask_human", arguments).await;
        assert!(words(&reply).contains("is open; nobody has answered yet."), "{reply}");
        assert_eq!(desk.state(&key), "open");
    });
}
