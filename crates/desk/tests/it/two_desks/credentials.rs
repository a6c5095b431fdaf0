//! Tokens, people and links: changed at one desk, they are changed at the other.

use std::{sync::Arc, time::Duration};

use demur_api::{code::Code, operation as op};
use demur_desk::{
    access::{Browser, Caller},
    desk::Desk,
};
use serde_json::json;
use tokio::{task, time};

use crate::desk::{House, request};

/// What others change is known within one second; a machine that is busy gets another.
const LONGEST: Duration = Duration::from_secs(2);

#[tokio::test]
async fn revoked_token_ends_everywhere() {
    let [here, elsewhere] = House::two();
    let (caller, id) = here.token(json!({"name": "reader", "scopes": ["read"]})).await;
    let known = || elsewhere.desk.is_good(&caller);
    // What others made is taken in twice a second.
    let learns = async {
        while !known() {
            task::yield_now().await;
        }
    };
    time::timeout(LONGEST, learns).await.expect("a token made elsewhere is known");
    here.call::<op::RevokeToken>(json!({"token": id}), json!({})).await.unwrap();
    assert!(!here.desk.is_good(&caller), "at once where it was revoked");
    let forgets = async {
        while known() {
            task::yield_now().await;
        }
    };
    time::timeout(LONGEST, forgets).await.expect("a token revoked elsewhere ends");
}

#[tokio::test]
async fn wait_that_is_over_tells_nothing_to_a_token_that_was_revoked_elsewhere() {
    let [here, elsewhere] = House::two();
    let (caller, token) = here.token(json!({"name": "asker", "scopes": ["ask"]})).await;
    let words = request::<op::Ask>(json!({}), json!({}), json!({"question": "Which?"}));
    let id = here.desk.call(&caller, words).await.unwrap().document.question.id;
    elsewhere.desk.on_worker(Desk::load_tokens).await.unwrap();
    let wait = request::<op::WaitForQuestion>(json!({"question": id}), json!({"seconds": 1}), json!({}));
    let waits = elsewhere.desk.call(&caller, wait);
    let revocation = here.call::<op::RevokeToken>(json!({"token": token}), json!({}));
    let (reply, ended) = tokio::join!(waits, revocation);
    ended.unwrap();
    assert_eq!(reply.map(drop).unwrap_err().code, Code::Unauthenticated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn people_added_at_once_all_stay() {
    let houses = House::two();
    let names: Vec<String> = (0..8).map(|number| format!("person {number}")).collect();
    let mut adding = task::JoinSet::new();
    for (at, name) in names.iter().enumerate() {
        let (desk, caller) = (Arc::clone(&houses[at % 2].desk), houses[0].local());
        let request =
            request::<op::AddPerson>(json!({}), json!({}), json!({"name": name, "role": "answerer"}));
        adding.spawn(async move { desk.call(&caller, request).await.map(drop) });
    }
    for added in adding.join_all().await {
        added.unwrap();
    }
    for house in &houses {
        let listed = house.call::<op::ListPeople>(json!({}), json!({})).await.unwrap();
        let mut found: Vec<_> = listed.people.into_iter().map(|person| person.name).collect();
        found.sort_unstable();
        assert_eq!(found, names);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_name_is_given_to_one_person() {
    let houses = House::two();
    let new = json!({"name": "ada", "role": "answerer"});
    let [here, elsewhere] =
        [&houses[0], &houses[1]].map(|house| house.call::<op::AddPerson>(json!({}), new.clone()));
    let (here, elsewhere) = tokio::join!(here, elsewhere);
    let codes: Vec<_> = [here.map(drop), elsewhere.map(drop)].into_iter().filter_map(Result::err).collect();
    assert_eq!(codes.iter().map(|refusal| refusal.code).collect::<Vec<_>>(), [Code::NameTaken]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn link_signs_in_once() {
    let [here, elsewhere] = House::two();
    here.reach();
    let link = here.call::<op::MakeSignInLink>(json!({}), json!({})).await.unwrap();
    let code = link.code;
    let spend = |house: &House| {
        let (desk, code) = (Arc::clone(&house.desk), code.clone());
        async move { desk.on_worker(move |desk| desk.sign_in(&code, &Browser::default())).await }
    };
    let (one, other) = tokio::join!(spend(&here), spend(&elsewhere));
    let refused: Vec<_> =
        [one, other].into_iter().filter_map(Result::err).map(|refusal| refusal.code).collect();
    assert_eq!(refused, [Code::LinkSpent]);
}

#[tokio::test]
async fn session_does_not_outlive_a_person_who_is_removed_elsewhere() {
    let [here, elsewhere] = House::two();
    let ada = here.person("ada").await;
    let removed = elsewhere.call::<op::RemovePerson>(json!({"person": "ada"}), json!({})).await.unwrap();
    assert_eq!(removed.sessions, 1);
    here.desk.on_worker(Desk::load_tokens).await.unwrap();
    assert!(matches!(&ada, Caller::Token(_)) && !here.desk.is_good(&ada));
}
