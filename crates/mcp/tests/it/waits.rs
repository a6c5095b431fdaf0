//! How long a call waits, which revisions are spoken, and what a model hears that looks again and again. By a clock that
//! the tests set: an hour takes no time.

use std::time::Duration;

use demur_mcp::door_settings::{DoorSettings, Era};
use serde_json::{Value, json};
use tokio::time::{self, Instant};

use crate::{
    client::{Client, Opening, run, run_by_the_clock, words},
    desk::Desk,
};

async fn timed(client: &mut Client, tool: &str, arguments: Value) -> (Value, u64) {
    let begun = Instant::now();
    let reply = client.call(tool, arguments).await;
    (reply, begun.elapsed().as_secs())
}

/// Returns a call that wants to hear of its progress.
fn wanting(arguments: &Value) -> Value {
    json!({"name": "ask_human", "arguments": arguments, "_meta": {"progressToken": 1}})
}

/// Reads until a message of this method.
async fn until(client: &mut Client, method: &str) {
    while client.next().await["method"] != method {}
}

/// Returns the reply to a request; before it comes nothing but progress and a form that goes.
async fn reply(client: &mut Client, number: u64) -> Value {
    loop {
        let message = client.next().await;
        match message["method"].as_str() {
            None if message["id"] == number => return message,
            Some("notifications/progress" | "notifications/cancelled") => {}
            _ => panic!("{message}"),
        }
    }
}

#[test]
fn a_call_waits_45_seconds_and_a_caller_can_make_it_less_but_not_more() {
    run_by_the_clock(async {
        let desk = Desk::new(true);
        let mut client =
            Client::modern(&desk, json!({}), Opening::by_the_clock(DoorSettings::default().wait));
        for (wait, seconds) in [(Value::Null, 45), (json!(0), 0), (json!(7), 7), (json!(4_000_000), 45)] {
            let (reply, taken) =
                timed(&mut client, "ask_human", json!({"question": "Why?", "wait_s": wait})).await;
            assert_eq!(taken, seconds, "{wait}: {reply}");
            let id = &reply["result"]["structuredContent"]["question_id"];
            let arguments = json!({"question_id": id, "wait_s": wait});
            assert_eq!(timed(&mut client, "check_question", arguments).await.1, seconds, "{wait}");
        }
    });
}

/// A server that is away is waited for as long as the call still has, and no longer than a courtesy is worth.
#[test]
fn each_operation_is_given_the_patience_that_its_call_has_left() {
    run_by_the_clock(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::by_the_clock(Duration::from_secs(90)));
        client.call("ask_human", json!({"question": "Why?"})).await;
        desk.answer_elsewhere(desk.asked().await.id, "because");
        client.call("check_question", json!({"question_id": desk.asked().await.id})).await;
        let seconds: Vec<_> = desk.calls().iter().map(|(id, patience)| (*id, patience.as_secs())).collect();
        let asked = [("ask", 20), ("waitForQuestion", 60), ("waitForQuestion", 30)];
        assert_eq!(seconds, [&asked[..], &[("question", 20), ("heard", 1)]].concat());
    });
}

/// ONE-18, bar 1 in small: a question that is open for an hour costs one call, and the answer arrives at once.
#[test]
fn a_day_s_window_holds_one_call_for_an_hour() {
    run_by_the_clock(async {
        for form in [true, false] {
            let desk = Desk::new(true);
            let declared = if form { json!({"elicitation": {}}) } else { json!({}) };
            let opening = Opening::by_the_clock(Duration::from_hours(24));
            let mut client = Client::legacy(&desk, "2025-11-25", declared, opening).await;
            let number = client.ask("tools/call", wanting(&json!({"question": "Why?"}))).await;
            until(&mut client, if form { "elicitation/create" } else { "notifications/progress" }).await;
            let asked = desk.asked().await.id;
            time::advance(Duration::from_hours(1)).await;
            let answered = Instant::now();
            desk.answer_elsewhere(asked, "at last");
            let told = reply(&mut client, number).await;
            assert_eq!(told["result"]["structuredContent"]["answer"], "at last", "{told}");
            assert!(answered.elapsed() < Duration::from_secs(1), "{:?}", answered.elapsed());
        }
    });
}

/// Bar 4 in small: a client without a user closes every form at once. One retry is held until the answer comes.
#[test]
fn a_form_that_is_closed_at_once_costs_one_retry_and_no_more() {
    run_by_the_clock(async {
        let desk = Desk::new(true);
        let opening = Opening::by_the_clock(Duration::from_hours(24));
        let mut client = Client::modern(&desk, json!({"elicitation": {}}), opening);
        let arguments = json!({"question": "Why?"});
        let asked = client.call("ask_human", arguments.clone()).await["result"].clone();
        let id = desk.asked().await.id;
        let mut retry = wanting(&arguments);
        retry["requestState"] = asked["requestState"].clone();
        retry["inputResponses"] = json!({id.to_string(): {"action": "cancel"}});
        let number = client.ask("tools/call", retry).await;
        until(&mut client, "notifications/progress").await;
        time::advance(Duration::from_mins(45)).await;
        desk.answer_elsewhere(id, "at last");
        let told = reply(&mut client, number).await;
        assert_eq!(told["result"]["structuredContent"]["answer"], "at last", "{told}");
    });
}

/// The third look within ten minutes is told to end; after ten minutes of rest it is told everything again.
#[test]
fn whoever_looks_in_a_loop_is_told_to_end() {
    run_by_the_clock(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::by_the_clock(Duration::from_secs(45)));
        client.call("ask_human", json!({"question": "Which?"})).await;
        let id = desk.asked().await.id.to_string();
        let check = json!({"question_id": id});
        for long in [true, true, false, false] {
            let reply = client.call("check_question", check.clone()).await;
            assert_eq!(words(&reply).starts_with("Question "), long, "{reply}");
            assert_eq!(words(&reply) == "Still open. End your turn now.", !long, "{reply}");
            assert_eq!(reply["result"]["structuredContent"]["state"], "open", "{reply}");
        }
        time::advance(Duration::from_mins(10)).await;
        let reply = client.call("check_question", check.clone()).await;
        assert!(words(&reply).starts_with("Question "), "{reply}");
        desk.answer_elsewhere(id.parse().unwrap(), "this one");
        let reply = client.call("check_question", check).await;
        assert!(words(&reply).starts_with("Answered by ada (same user).\n"), "{reply}");
    });
}

#[test]
fn a_door_of_2025_says_which_revisions_it_speaks_and_speaks_no_other() {
    run(async {
        let mut opening = Opening::default();
        opening.settings.era = Era::Of2025;
        let declared = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
        let mut client = Client::modern(&Desk::new(true), declared, opening);
        let found = client.request("server/discover", json!({})).await;
        assert_eq!(found["result"]["supportedVersions"], json!(["2025-06-18", "2025-11-25"]), "{found}");
        assert!(found["result"]["capabilities"]["extensions"].is_null(), "{found}");
        let refused = client.call("ask_human", json!({"question": "Why?"})).await;
        assert_eq!(refused["error"]["data"]["supported"], json!(["2025-06-18", "2025-11-25"]), "{refused}");
        let info = json!({"name": "tester", "version": "1"});
        let params = json!({"protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": info});
        let begun = client.bare("initialize", params).await;
        assert_eq!(begun["result"]["protocolVersion"], "2025-11-25", "{begun}");
    });
}
