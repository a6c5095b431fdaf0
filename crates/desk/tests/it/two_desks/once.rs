//! What happens once however many desks are asked: a request under its key, a holder of a name, a secret answer.

use std::sync::Arc;

use demur_api::{call::IdempotencyKey, code::Code, operation as op, question::AskedView, refusal::Refusal};
use serde_json::json;
use tokio::task::JoinSet;

use crate::desk::{House, request};

async fn ask(house: &House, key: &str, words: &str) -> Result<AskedView, Refusal> {
    let asking = request::<op::Ask>(json!({}), json!({}), json!({"question": words}));
    let asking = asking.under(IdempotencyKey::try_from(key.to_owned()).unwrap());
    house.desk.call(&house.local(), asking).await.map(|reply| reply.document)
}

async fn count(house: &House) -> usize {
    house.call::<op::ListQuestions>(json!({}), json!({})).await.unwrap().questions.len()
}

/// CLR-04
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_key_with_two_requests_records_one() {
    let [here, elsewhere] = House::two();
    for round in 0..16 {
        let key = format!("key-{round}");
        let (one, other) = tokio::join!(ask(&here, &key, "This?"), ask(&elsewhere, &key, "That?"));
        let refused: Vec<_> = [&one, &other].into_iter().filter_map(|one| one.as_ref().err()).collect();
        assert_eq!(refused.len(), 1, "{one:?} {other:?}");
        assert_eq!(refused[0].code, Code::IdempotencyConflict, "{refused:?}");
        assert_eq!(count(&here).await, round + 1);
    }
}

/// CLR-04
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_request_at_two_desks_is_one_question() {
    let [here, elsewhere] = House::two();
    for round in 0..16 {
        let key = format!("key-{round}");
        let (one, other) = tokio::join!(ask(&here, &key, "This?"), ask(&elsewhere, &key, "This?"));
        assert_eq!(one.unwrap().question.id, other.unwrap().question.id);
        assert_eq!(count(&here).await, round + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_desks_enrol_one_holder() {
    let [here, elsewhere] = House::two();
    for round in 0..8 {
        let name = json!({"as": format!("agent-{round}")});
        let ask = |house: &House| {
            let query = name.clone();
            let words = json!({"question": "Who am I?"});
            let request = request::<op::Ask>(json!({}), query, words);
            let (desk, caller) = (Arc::clone(&house.desk), house.local());
            async move { desk.call(&caller, request).await.unwrap().document.question.asker.principal }
        };
        let (one, other) = tokio::join!(ask(&here), ask(&elsewhere));
        assert_eq!(one, other, "one name is one holder");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn loser_leaves_the_winners_secret() {
    let [here, elsewhere] = House::two();
    let words = json!({"question": "The password?", "kinds": ["secret"]});
    for _ in 0..8 {
        let id = here.call::<op::Ask>(json!({}), words.clone()).await.unwrap().question.id;
        let path = json!({"question": id});
        let answer = |house: &'_ House, value: &str| {
            let given = json!({"answer": value});
            let (desk, caller) = (Arc::clone(&house.desk), house.local());
            let request = request::<op::AnswerQuestion>(json!({"question": id}), json!({}), given);
            async move { desk.call(&caller, request).await.map(drop) }
        };
        let (one, other) = tokio::join!(answer(&here, "one"), answer(&elsewhere, "other"));
        assert_eq!(usize::from(one.is_ok()) + usize::from(other.is_ok()), 1, "{one:?} {other:?}");
        let won = if one.is_ok() { "one" } else { "other" };
        let delivered = elsewhere.call::<op::ReadSecret>(path, json!({})).await.unwrap();
        assert_eq!(delivered.value, won);
    }
}

/// CLR-04
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_plan_submitted_at_once_is_one_session() {
    let houses = House::two();
    let plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    for round in 0..16 {
        let session = format!("0196bb7c-0000-7000-8000-0000000000{round:02}");
        let mut submitting = JoinSet::new();
        // Two at one desk, and one at the other.
        for house in [&houses[0], &houses[0], &houses[1]] {
            let given = json!({"plan": plan, "session_id": session});
            let (desk, caller) = (Arc::clone(&house.desk), house.local());
            let request = request::<op::SubmitPlan>(json!({}), json!({}), given);
            submitting.spawn(async move { desk.call(&caller, request).await.unwrap() });
        }
        let submitted = submitting.join_all().await;
        for reply in &submitted {
            assert_eq!(reply.document.session_id.unwrap().to_string(), session);
        }
        assert_eq!(submitted.iter().filter(|reply| !reply.repeated).count(), 1, "one of them opened it");
        let other = json!({"plan": {"description": "something else"}, "session_id": session});
        let refused = houses[1].call::<op::SubmitPlan>(json!({}), other).await.unwrap_err();
        assert_eq!(refused.code, Code::SessionConflict, "{refused:?}");
    }
}

/// ONE-07
#[tokio::test]
async fn name_of_a_user_is_given_away_at_no_desk() {
    let [here, elsewhere] = House::two_of(["kim", "max"]);
    for (house, name) in [(&here, "max"), (&elsewhere, "Kim")] {
        let new = json!({"name": name, "role": "answerer"});
        let refused = house.call::<op::AddPerson>(json!({}), new).await.map(drop).unwrap_err();
        assert_eq!(refused.code, Code::NameTaken, "{refused:?}");
        let words = json!({"question": "Who am I?"});
        let asked = house.query::<op::Ask>(json!({}), json!({"as": name}), words).await;
        assert_eq!(asked.map(drop).unwrap_err().code, Code::NameTaken);
    }
}

/// CLR-04
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn words_of_one_conversation_are_one_question_at_two_desks() {
    let [here, elsewhere] = House::two();
    // Both know the asker from here on, so that what follows begins in memory.
    for house in [&here, &elsewhere] {
        house.ask("Who are you?").await;
    }
    for round in 0..16 {
        let asked = |house: &House| {
            let (query, body) = (json!({"once": "talk"}), json!({"question": format!("Colour {round}?")}));
            let (desk, caller) = (Arc::clone(&house.desk), house.local());
            async move { desk.call(&caller, request::<op::Ask>(json!({}), query, body)).await.unwrap() }
        };
        let (one, other) = tokio::join!(asked(&here), asked(&elsewhere));
        assert_eq!(one.document.question.id, other.document.question.id);
        assert_ne!(one.document.repeated, other.document.repeated, "one of them asked it");
        let again = asked(&here).await.document;
        assert_eq!((again.question.id, again.repeated), (one.document.question.id, Some(true)));
        assert_eq!(count(&here).await, round + 3);
    }
}
