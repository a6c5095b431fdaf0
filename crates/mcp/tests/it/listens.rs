//! A question as a resource: read, and listened to until it is answered.

use serde_json::{Value, json};

use crate::{
    client::{Client, Opening, run},
    desk::Desk,
};

async fn ask(client: &mut Client) -> String {
    let reply = client.call("ask_human", json!({"question": "Which?", "wait_s": 0})).await;
    let id = &reply["result"]["structuredContent"]["question_id"];
    format!("demur://questions/{}", id.as_str().unwrap())
}

fn state(read: &Value) -> String {
    let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
    serde_json::from_str::<Value>(text).unwrap()["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_client_of_2026_listens_to_a_question() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let uri = ask(&mut client).await;
        assert_eq!(state(&client.request("resources/read", json!({"uri": uri})).await), "open");
        let wanted = json!({"resourceSubscriptions": [uri, "demur://elsewhere", "file:///etc/passwd"]});
        let number = client.ask("subscriptions/listen", json!({"notifications": wanted})).await;
        let heard = client.next().await;
        assert_eq!(heard["method"], "notifications/subscriptions/acknowledged", "{heard}");
        assert_eq!(heard["params"]["notifications"]["resourceSubscriptions"], json!([uri]), "{heard}");
        desk.answer_elsewhere(desk.asked().await.id, "this one");
        let heard = client.next().await;
        assert_eq!(heard["method"], "notifications/resources/updated", "{heard}");
        assert_eq!(heard["params"]["uri"], uri, "{heard}");
        assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], number, "{heard}");
        assert_eq!(state(&client.request("resources/read", json!({"uri": uri})).await), "answered");
    });
}

#[test]
fn a_client_of_2025_subscribes_to_a_question() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::legacy(&desk, "2025-11-25", json!({}), Opening::default()).await;
        let uri = ask(&mut client).await;
        let nothing = json!({"uri": "demur://questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.9"});
        let refused = client.request("resources/subscribe", nothing).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("the id of a question"), "{refused}");
        let begun = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert!(begun["error"].is_null(), "{begun}");
        desk.answer_elsewhere(desk.asked().await.id, "this one");
        let heard = client.next().await;
        assert_eq!(heard["method"], "notifications/resources/updated", "{heard}");
        assert_eq!(heard["params"]["uri"], uri, "{heard}");
    });
}

#[test]
fn whoever_unsubscribes_hears_nothing_more() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::legacy(&desk, "2025-11-25", json!({}), Opening::default()).await;
        let uri = ask(&mut client).await;
        client.request("resources/subscribe", json!({"uri": uri})).await;
        client.request("resources/unsubscribe", json!({"uri": uri})).await;
        let id = desk.asked().await.id;
        desk.answer_elsewhere(id, "this one");
        // The answer is known here: what would be said of it comes before the reply to what is sent next.
        let told = client.call("check_question", json!({"question_id": id})).await;
        assert_eq!(told["result"]["structuredContent"]["state"], "answered", "{told}");
        let next = client.request("ping", json!({})).await;
        assert!(next["result"].is_object(), "{next}");
        client.hang_up().await;
    });
}
