//! Forms that outlive their call: what comes back through them counts as long as the connection lasts.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time;

use crate::{
    client::{Client, Opening, run},
    desk::Desk,
};

/// Returns a client whose call has ended, the form that is still on screen, and the id of the question.
async fn left(desk: &Arc<Desk>) -> (Client, Value, String) {
    let opening = Opening::within(Duration::from_millis(40));
    let mut client = Client::legacy(desk, "2025-11-25", json!({"elicitation": {}}), opening).await;
    client
        .ask(
            "tools/call",
            json!({"name": "ask_human", "arguments": {"question": "How many?", "kind": "number"}}),
        )
        .await;
    let form = client.next().await;
    assert_eq!(form["method"], "elicitation/create", "{form}");
    let told = client.next().await;
    assert_eq!(told["result"]["structuredContent"]["state"], "open", "the form was not taken back: {told}");
    let id = desk.asked().await.id.to_string();
    (client, form, id)
}

async fn say(client: &mut Client, form: &Value, result: Value) {
    client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": result})).await;
}

/// ONE-02
#[test]
fn a_reply_after_the_call_has_ended_is_the_answer() {
    run(async {
        let desk = Desk::new(true);
        let (mut client, form, id) = left(&desk).await;
        say(&mut client, &form, json!({"action": "accept", "content": {"answer": 7}})).await;
        desk.settled(&id).await;
        let told = client.call("check_question", json!({"question_id": id})).await;
        let told = &told["result"]["structuredContent"];
        assert_eq!((&told["answer"], &told["by"]), (&json!(7), &json!("tester user")), "{told}");
    });
}

#[test]
fn a_late_reply_that_does_not_fit_is_asked_for_again() {
    run(async {
        let desk = Desk::new(true);
        let (mut client, form, id) = left(&desk).await;
        say(&mut client, &form, json!({"action": "accept", "content": {"answer": "some"}})).await;
        let again = client.next().await;
        assert!(again["params"]["message"].as_str().unwrap().starts_with("Not taken: "), "{again}");
        say(&mut client, &again, json!({"action": "accept", "content": {"answer": 3}})).await;
        desk.settled(&id).await;
    });
}

/// ONE-02
#[test]
fn a_form_that_was_left_goes_when_somebody_else_answers() {
    run(async {
        let desk = Desk::new(true);
        let (mut client, form, id) = left(&desk).await;
        desk.answer_elsewhere(id.parse().unwrap(), "7");
        let gone = client.next().await;
        assert_eq!(gone["method"], "notifications/cancelled", "{gone}");
        assert_eq!(gone["params"]["requestId"], form["id"], "{gone}");
    });
}

/// No second form while the first is on screen, and none for a user who closed it; the call waits all the same.
#[test]
fn check_question_shows_no_form_that_is_there_or_was_closed() {
    run(async {
        let desk = Desk::new(true);
        let (mut client, form, id) = left(&desk).await;
        let told = client.call("check_question", json!({"question_id": id})).await;
        assert_eq!(told["result"]["structuredContent"]["state"], "open", "no other form came: {told}");
        say(&mut client, &form, json!({"action": "cancel"})).await;
        let told = client.call("check_question", json!({"question_id": id})).await;
        assert_eq!(told["result"]["structuredContent"]["state"], "open", "nor did one again: {told}");
        assert_eq!(desk.state(&id), "open");
    });
}

/// A client that comes anew sees the form again: what was on screen before is gone.
#[test]
fn check_question_shows_a_form_again_that_is_gone() {
    run(async {
        let desk = Desk::new(true);
        let (client, _, id) = left(&desk).await;
        client.hang_up().await;
        let opening = Opening::default();
        let mut client = Client::legacy(&desk, "2025-11-25", json!({"elicitation": {}}), opening).await;
        client.ask("tools/call", json!({"name": "check_question", "arguments": {"question_id": id}})).await;
        let form = client.next().await;
        assert_eq!(form["method"], "elicitation/create", "{form}");
        say(&mut client, &form, json!({"action": "accept", "content": {"answer": 9}})).await;
        assert_eq!(client.next().await["result"]["structuredContent"]["answer"], 9);
    });
}

/// A connection that breaks off is no user who closes a form, for whoever comes back to the same process.
#[test]
fn a_form_that_went_with_its_connection_is_shown_on_the_next() {
    run(async {
        let (desk, shared) = (Desk::new(true), Arc::default());
        let opening = || Opening { shared: Arc::clone(&shared), ..Opening::default() };
        for _ in 0..8 {
            let mut client = Client::legacy(&desk, "2025-11-25", json!({"elicitation": {}}), opening()).await;
            client.ask("tools/call", json!({"name": "ask_human", "arguments": {"question": "Why?"}})).await;
            assert_eq!(client.next().await["method"], "elicitation/create");
            client.hang_up().await;
            let id = desk.asked().await.id;
            let mut client = Client::legacy(&desk, "2025-11-25", json!({"elicitation": {}}), opening()).await;
            let check = json!({"name": "check_question", "arguments": {"question_id": id, "wait_s": 0}});
            let shown = async {
                // Until the call that was left has noticed.
                loop {
                    client.ask("tools/call", check.clone()).await;
                    if client.next().await["method"] == "elicitation/create" {
                        return;
                    }
                }
            };
            time::timeout(Duration::from_secs(20), shown).await.expect("the form comes again");
        }
    });
}

/// Nobody reads any number of forms, and each is waited for: beyond the bound a form goes with its call.
#[test]
fn only_so_many_forms_are_left_on_screen() {
    run(async {
        let desk = Desk::new(true);
        let mut client =
            Client::legacy(&desk, "2025-11-25", json!({"elicitation": {}}), Opening::default()).await;
        let brief = json!({"name": "ask_human", "arguments": {"question": "Why?", "wait_s": 0}});
        let mut last = (Value::Null, String::new());
        for number in 1..=65 {
            client.ask("tools/call", brief.clone()).await;
            let form = client.next().await;
            assert_eq!(form["method"], "elicitation/create", "{form}");
            let mut next = client.next().await;
            if number == 65 {
                assert_eq!(next["method"], "notifications/cancelled", "{next}");
                assert_eq!(next["params"]["requestId"], form["id"], "{next}");
                next = client.next().await;
            }
            let told = &next["result"]["structuredContent"];
            assert_eq!(told["state"], "open", "{number}: {next}");
            if number < 65 {
                last = (form, told["question_id"].as_str().unwrap().to_owned());
            }
        }
        // One that goes makes room for another.
        say(&mut client, &last.0, json!({"action": "accept", "content": {"answer": "late"}})).await;
        desk.settled(&last.1).await;
        client.ask("tools/call", brief).await;
        assert_eq!(client.next().await["method"], "elicitation/create");
        let told = client.next().await;
        assert_eq!(told["result"]["structuredContent"]["state"], "open", "{told}");
    });
}

/// Closed by its user: the call is held without a form.
#[test]
fn a_call_whose_form_was_closed_waits_for_others() {
    run(async {
        let desk = Desk::new(true);
        let mut client =
            Client::legacy(&desk, "2025-06-18", json!({"elicitation": {}}), Opening::default()).await;
        let params =
            json!({"name": "ask_human", "arguments": {"question": "Why?"}, "_meta": {"progressToken": 1}});
        client.ask("tools/call", params).await;
        let mut form = client.next().await;
        while form["method"] != "elicitation/create" {
            form = client.next().await;
        }
        say(&mut client, &form, json!({"action": "cancel"})).await;
        // What is asked next is answered first: the call that waits does not return.
        let listed = client.ask("tools/list", json!({})).await;
        let mut next = client.next().await;
        while next["method"] == "notifications/progress" {
            next = client.next().await;
        }
        assert_eq!(next["id"], listed, "{next}");
        desk.answer_elsewhere(desk.asked().await.id, "theirs");
        assert_eq!(client.next().await["result"]["structuredContent"]["answer"], "theirs");
    });
}
