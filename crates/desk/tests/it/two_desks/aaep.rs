//! The hub of accessibility events at two desks: what is published at one is followed at the other, and of two replies one counts.

use demur_api::operation as op;
use serde_json::json;

use crate::{
    aaep::{Session, Subscriber},
    desk::House,
};

#[tokio::test]
async fn event_published_elsewhere_is_followed_here_and_answered_there() {
    let [here, elsewhere] = House::two();
    let subscriber = Subscriber::new(&here, &json!({}));
    let mut followed = subscriber.follow(&here, None).await;
    let session = Session::begin(&elsewhere);
    followed.next_of("aaep:agent.session.started").await;
    let (theirs, ours) = session.ask(&elsewhere, 300, None);
    let prompt = followed.next_of("aaep:agent.awaiting.clarification").await;
    assert_eq!(prompt["reply_token"], ours.as_str());
    subscriber.answer(&elsewhere, &ours, true);
    assert_eq!(followed.resolved().await["outcome"], "answered");
    for house in [&here, &elsewhere] {
        assert_eq!(session.outcomes(house, 0, 5).await[0]["reply_token"], theirs.as_str());
    }
}

/// AEP-06: two reply to each prompt at once, each at another desk. One counts, and both are told once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_replies_one_counts() {
    let [here, elsewhere] = House::two();
    let subscribers = [Subscriber::new(&here, &json!({})), Subscriber::new(&elsewhere, &json!({}))];
    let mut followed =
        [subscribers[0].follow(&here, None).await, subscribers[1].follow(&elsewhere, None).await];
    let session = Session::begin(&here);
    let (mut after, rounds) = (0, 40);
    for round in 0..rounds {
        let (_, ours) = session.ask(&here, 300, None);
        tokio::task::block_in_place(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| subscribers[0].answer(&here, &ours, true));
                scope.spawn(|| subscribers[1].answer(&elsewhere, &ours, false));
            });
        });
        let outcomes = session.outcomes(&elsewhere, after, 5).await;
        assert_eq!(outcomes.len(), 1, "round {round}: {outcomes:?}");
        after = outcomes[0]["place"].as_u64().unwrap();
        for followed in &mut followed {
            assert_eq!(followed.resolved().await["reply_token"], ours.as_str(), "round {round}");
        }
    }
}

/// AEP-07: any desk ends a prompt at its time, and the other finds it ended.
#[tokio::test]
async fn prompt_ends_once() {
    let [here, elsewhere] = House::two();
    let session = Session::begin(&here);
    for _ in 0..3 {
        session.ask(&here, 1, None);
    }
    let mut outcomes = Vec::new();
    while outcomes.len() < 3 {
        let after = outcomes.last().map_or(0, |last: &serde_json::Value| last["place"].as_u64().unwrap());
        let more = session.outcomes(&elsewhere, after, 20).await;
        assert!(!more.is_empty(), "{outcomes:?}");
        outcomes.extend(more);
    }
    let last = outcomes[2]["place"].as_u64().unwrap();
    assert!(session.outcomes(&here, last, 1).await.is_empty(), "each ends once");
}

/// AEP-20: whoever names the last event misses nothing and sees nothing twice, also at another desk.
#[tokio::test]
async fn subscriber_goes_on_elsewhere() {
    let [here, elsewhere] = House::two();
    let subscriber = Subscriber::new(&here, &json!({}));
    let mut followed = subscriber.follow(&here, None).await;
    let session = Session::begin(&here);
    let mut told = vec![followed.next().await["event_id"].clone()];
    let mut published = told.clone();
    for round in 0..12 {
        let houses = [&here, &elsewhere];
        let tool = json!({"tool": format!("tool{round}"), "summary_normal": "A tool runs."});
        let event = session.event(houses[round % 2], "tool.invoked", tool);
        session.publish(houses[round % 2], &event).unwrap();
        published.push(event["event_id"].clone());
        if round % 3 == 0 {
            let last = followed.last.clone();
            followed = subscriber.follow(houses[(round / 3) % 2], last.as_deref()).await;
        }
        told.push(followed.next().await["event_id"].clone());
    }
    assert_eq!(told, published);
}

#[tokio::test]
async fn terms_that_are_agreed_elsewhere_hold_here() {
    let [here, elsewhere] = House::two();
    let subscriber = Subscriber::new(&here, &json!({}));
    let mut followed = subscriber.follow(&here, None).await;
    let session = Session::begin(&here);
    followed.next_of("aaep:agent.session.started").await;
    let filters = json!({"event_filters": {"exclude": ["aaep:agent.tool.*"]}});
    subscriber.send(
        &elsewhere,
        &json!({"type": "subscription.renegotiate", "subscription_id": subscriber.id, "capabilities": filters}),
    );
    let tool = json!({"tool": "rm", "summary_normal": "A tool runs."});
    session.say(&here, "tool.invoked", tool).unwrap();
    session.ask(&here, 300, None);
    assert_eq!(followed.next().await["type"], "aaep:agent.awaiting.clarification");
    subscriber.send(&elsewhere, &json!({"type": "subscription.close", "subscription_id": subscriber.id}));
    assert_eq!(followed.next_of("subscription.close").await["subscription_id"], subscriber.id.as_str());
}

/// AEP-06: a question that is asked at one desk is a prompt at the other; of a reply there and an answer here one counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn question_is_a_prompt_elsewhere_and_answered_once() {
    let [here, elsewhere] = House::two();
    let subscriber = Subscriber::new(&elsewhere, &json!({}));
    let mut followed = subscriber.follow(&elsewhere, None).await;
    for round in 0..8 {
        let words = json!({"question": format!("Round {round}?"), "kinds": ["yes_no"]});
        let id = here.call::<op::Ask>(json!({}), words).await.unwrap().question.id;
        let prompt = followed.next_of("aaep:agent.awaiting.clarification").await;
        let token = prompt["reply_token"].as_str().unwrap().to_owned();
        let answer = here.call::<op::AnswerQuestion>(json!({"question": id}), json!({"answer": false}));
        let reply = async { tokio::task::block_in_place(|| subscriber.answer(&elsewhere, &token, true)) };
        let (answered, ()) = tokio::join!(answer, reply);
        let shown = here.call::<op::ShowQuestion>(json!({"question": id}), json!({})).await.unwrap();
        let value = serde_json::to_value(&shown).unwrap()["outcome"]["value"].clone();
        assert_eq!(value, json!(answered.is_err()), "round {round}: the ledger says who was first");
        assert_eq!(followed.resolved().await["reply_token"], token.as_str(), "round {round}");
    }
}
