//! A secret answer is forgotten once its asker has it, and not before.

use serde_json::json;

use crate::{
    client::{Client, Opening, closed, run},
    desk::Desk,
};

/// Asks for a secret, has it given elsewhere, and begins to look at it.
async fn look(desk: &std::sync::Arc<Desk>) -> Client {
    let mut client = Client::modern(desk, json!({}), Opening::default());
    let words = json!({"question": "The token?", "kind": "secret", "wait_s": 0});
    client.call("ask_human", words).await;
    let id = desk.asked().await.id;
    desk.answer_elsewhere(id, "sealed");
    let params = json!({"name": "check_question", "arguments": {"question_id": id}});
    client.ask("tools/call", params).await;
    desk.called("secret").await;
    client
}

fn forgets(desk: &Desk) -> usize {
    desk.calls().iter().filter(|(id, _)| *id == "forgetSecret").count()
}

#[test]
fn secret_stays_when_its_asker_is_gone_before_the_reply() {
    run(async {
        let desk = Desk::new(true);
        let door = look(&desk).await.leave();
        desk.release_secret();
        closed(door).await;
        assert_eq!(forgets(&desk), 0, "{:?}", desk.calls());
    });
}

#[test]
fn secret_is_forgotten_when_its_asker_has_it_and_hangs_up() {
    run(async {
        let desk = Desk::new(true);
        let mut client = look(&desk).await;
        desk.release_secret();
        let told = client.next().await;
        assert_eq!(told["result"]["structuredContent"]["answer"], "hunter2", "{told}");
        client.hang_up().await;
        assert_eq!(forgets(&desk), 1, "{:?}", desk.calls());
    });
}
