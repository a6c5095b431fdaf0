//! Questions of the folder as prompts, and replies as their answers.

use demur_api::{operation as op, question::QuestionId};
use serde_json::{Value, json};

use super::{CLARIFIES, Subscriber};
use crate::desk::House;

async fn ask(house: &House, words: Value) -> QuestionId {
    house.call::<op::Ask>(json!({}), words).await.unwrap().question.id
}

async fn state(house: &House, id: QuestionId) -> Value {
    let shown = house.call::<op::ShowQuestion>(json!({"question": id}), json!({})).await.unwrap();
    serde_json::to_value(shown).unwrap()
}

/// AEP-01 AEP-09 AEP-10 AEP-11: a question is a prompt with three wordings and the kinds that it takes; a reply is its answer.
#[tokio::test]
async fn question_is_a_prompt_and_a_reply_its_answer() {
    let house = House::open();
    let subscriber = Subscriber::new(&house, &json!({"supports_clarification_reply": true}));
    let mut followed = subscriber.follow(&house, None).await;
    let words = json!({
        "question": "Which age group is the party for?", "terse": "Age group?", "detailed": "It decides the games.",
        "context": "The plan says 7, the guests are 12.", "kinds": ["multiple_choice", "freetext"], "language": "en-GB",
        "choices": [{"value": "child", "label": "Children"}, {"value": "teen", "label": "Teenagers"}],
    });
    let id = ask(&house, words).await;
    assert_eq!(followed.next().await["type"], "aaep:agent.session.started");
    assert_eq!(followed.next().await["to_state"], "awaiting_input");
    let prompt = followed.next().await;
    for (field, expected) in [
        ("type", json!(CLARIFIES)),
        ("urgency", json!("critical")),
        ("question", json!("Which age group is the party for?")),
        ("summary_terse", json!("Age group?")),
        ("summary_normal", json!("Which age group is the party for?")),
        ("accepted_response_kinds", json!(["freetext", "multiple_choice"])),
        (
            "choices",
            json!([{"value": "child", "label": "Children"}, {"value": "teen", "label": "Teenagers"}]),
        ),
        ("timeout_seconds", json!(86_400)),
    ] {
        let mut found = prompt[field].clone();
        if field == "accepted_response_kinds" {
            found.as_array_mut().unwrap().sort_by_key(ToString::to_string);
        }
        assert_eq!(found, expected, "{field}");
    }
    let detailed = prompt["summary_detailed"].as_str().unwrap();
    assert!(
        detailed.contains("It decides the games.") && detailed.contains("the guests are 12"),
        "{detailed}"
    );
    assert_eq!(prompt["localization_hints"]["primary_language"], "en-GB");
    let reply = json!({
        "type": "clarification.reply", "reply_token": prompt["reply_token"], "response": "teen",
        "subscription_id": subscriber.id, "timestamp": prompt["timestamp"],
    });
    subscriber.send(&house, &reply);
    let shown = state(&house, id).await;
    assert_eq!((&shown["state"], &shown["outcome"]["value"]), (&json!("answered"), &json!("teen")));
    let told = followed.resolved().await;
    assert_eq!((&told["reply_token"], &told["outcome"]), (&prompt["reply_token"], &json!("answered")));
    assert_eq!(followed.next().await["type"], "aaep:agent.session.completed");
    // AEP-06
    let mut late = reply.clone();
    late["response"] = json!("child");
    subscriber.send(&house, &late);
    assert_eq!(state(&house, id).await["outcome"]["value"], "teen");
}

/// What was open before anybody followed is told, and what is answered elsewhere is told as resolved.
#[tokio::test]
async fn question_that_was_open_before_is_told_and_so_is_its_answer() {
    let house = House::open();
    let id = ask(&house, json!({"question": "Go on?", "kinds": ["yes_no"]})).await;
    let subscriber = Subscriber::new(&house, &json!({}));
    let mut followed = subscriber.follow(&house, None).await;
    let prompt = followed.next_of(CLARIFIES).await;
    house.call::<op::AnswerQuestion>(json!({"question": id}), json!({"answer": true})).await.unwrap();
    let told = followed.resolved().await;
    assert_eq!((&told["reply_token"], &told["outcome"]), (&prompt["reply_token"], &json!("answered")));
    let called_off = ask(&house, json!({"question": "And now?"})).await;
    followed.next_of(CLARIFIES).await;
    house.call::<op::CancelQuestion>(json!({"question": called_off}), json!({})).await.unwrap();
    assert_eq!(followed.resolved().await["outcome"], "cancelled");
    assert_eq!(followed.next().await["type"], "aaep:agent.session.cancelled");
}

/// AEP-08: at its deadline a question without a default needs a person, and with one the default holds.
#[tokio::test]
async fn question_that_nobody_answers_ends_at_its_deadline() {
    let house = House::open();
    let subscriber = Subscriber::new(&house, &json!({}));
    let mut followed = subscriber.follow(&house, None).await;
    ask(&house, json!({"question": "In a second?", "timeout_seconds": 1})).await;
    followed.next_of(CLARIFIES).await;
    assert_eq!(followed.resolved().await["outcome"], "expired");
    assert_eq!(followed.next().await["type"], "aaep:agent.handoff.requested");
    let errored = followed.next().await;
    assert_eq!(
        (&errored["type"], &errored["error_category"]),
        (&json!("aaep:agent.session.errored"), &json!("requires_user"))
    );
    let words =
        json!({"question": "In a second?", "timeout_seconds": 1, "kinds": ["yes_no"], "default": false});
    ask(&house, words).await;
    assert_eq!(followed.next_of(CLARIFIES).await["default_response"], "false");
    assert_eq!(followed.resolved().await["outcome"], "defaulted");
    assert_eq!(followed.next().await["type"], "aaep:agent.session.completed");
}

/// What takes more than a reply is announced with where to answer, and is never a prompt.
#[tokio::test]
async fn secret_is_announced_and_never_a_prompt() {
    let house = House::open();
    house.reach();
    let subscriber = Subscriber::new(&house, &json!({}));
    let mut followed = subscriber.follow(&house, None).await;
    for words in [
        json!({"question": "Which password?", "kinds": ["secret"]}),
        json!({"question": "Really?", "assurance": "passkey"}),
        json!({"question": "Sure?", "assurance": "signed_in"}),
    ] {
        let id = ask(&house, words).await;
        let message = loop {
            let message = followed.next().await;
            assert_ne!(message["type"], CLARIFIES);
            if message["type"] == "aaep:agent.handoff.requested" {
                break message;
            }
        };
        assert_eq!(message["target_uri"], format!("http://demur.localhost/questions/{id}"));
    }
}

/// A token is told of what it sees, and of nothing else.
#[tokio::test]
async fn question_is_told_to_whoever_sees_it() {
    let house = House::open();
    let (asker, _) = house.token(json!({"name": "asker", "scopes": ["ask"]})).await;
    let (reader, _) = house.reader().await;
    let [blind, seeing] = [asker, reader].map(|caller| Subscriber::of(&house, caller, &json!({})));
    let (mut nothing, mut followed) = (blind.follow(&house, None).await, seeing.follow(&house, None).await);
    ask(&house, json!({"question": "Which?"})).await;
    let prompt = followed.next_of(CLARIFIES).await;
    assert!(nothing.is_quiet().await);
    // Whoever only reads does not answer.
    let reply = json!({
        "type": "clarification.reply", "reply_token": prompt["reply_token"], "response": "this",
        "subscription_id": seeing.id, "timestamp": prompt["timestamp"],
    });
    seeing.send(&house, &reply);
    assert!(followed.is_quiet().await);
}
