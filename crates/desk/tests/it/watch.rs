//! Watching: everything is told once and in order, to those who may hear it for as long as they may.

use std::time::Duration;

use demur_api::{code::Code, operation as op, question::QuestionId};
use demur_desk::{
    access::Caller,
    follower::ChangedQuestion,
    watch::{Cursor, Interest, News, Watch},
};
use serde_json::json;
use tokio::time;

use crate::desk::House;

/// Returns what is told next; a watch that says nothing for long is a failure.
async fn next(watch: &mut Watch) -> Result<News, Code> {
    let next = time::timeout(Duration::from_secs(30), watch.next()).await.unwrap();
    next.map_err(|refusal| refusal.code)
}

/// Returns the questions that are told of next, and the place of the last.
async fn changes(watch: &mut Watch) -> (Vec<ChangedQuestion>, Cursor) {
    match next(watch).await {
        Ok(News::Questions(changes)) => {
            let last = changes.last().unwrap().at;
            (changes.iter().flat_map(|change| change.questions.clone()).collect(), last)
        }
        other => panic!("expected questions, found {other:?}"),
    }
}

/// Returns the type of the event that is told of next, its questions, and its place.
async fn event(watch: &mut Watch) -> (String, Vec<QuestionId>, Cursor) {
    match next(watch).await {
        Ok(News::Event(place, notice)) => (notice.kind, notice.questions, place),
        other => panic!("expected an event, found {other:?}"),
    }
}

async fn begun(house: &House, caller: &Caller, interest: Interest) -> Watch {
    let mut watch = house.desk.watch(caller, interest, None).unwrap();
    assert!(matches!(next(&mut watch).await, Ok(News::Begins(_))));
    watch
}

#[tokio::test]
async fn whoever_watches_questions_hears_of_each_and_goes_on_where_they_were() {
    let house = House::open();
    let local = house.local();
    let mut watch = begun(&house, &local, Interest::Questions).await;
    let first = house.ask("One?").await;
    let (told, place) = changes(&mut watch).await;
    assert_eq!((told[0].id, told[0].is_new, told[0].state.as_str()), (first, true, "open"));
    house.call::<op::AnswerQuestion>(json!({"question": first}), json!({"answer": "1"})).await.unwrap();
    let (told, _) = changes(&mut watch).await;
    assert_eq!((told[0].id, told[0].is_new, told[0].state.as_str()), (first, false, "answered"));
    let mut back = house.desk.watch(&local, Interest::Questions, Some(place)).unwrap();
    assert!(matches!(next(&mut back).await, Ok(News::Resumes(from)) if from == place));
    assert_eq!(changes(&mut back).await.0, told, "what was missed is told");
    let mut late = house.desk.watch(&local, Interest::Questions, Some(Cursor::START)).unwrap();
    assert!(matches!(next(&mut late).await, Ok(News::Missed(_))), "too much was missed");
}

#[tokio::test]
async fn whoever_watches_events_hears_of_each_from_any_place_on() {
    let house = House::open();
    let (first, second) = (house.ask("One?").await, house.ask("Two?").await);
    let mut all = house.desk.watch(&house.local(), Interest::Events, Some(Cursor::START)).unwrap();
    assert!(matches!(next(&mut all).await, Ok(News::Begins(Cursor::START))));
    let (mut asked, mut place) = (Vec::new(), Cursor::START);
    while asked.len() < 2 {
        let (kind, questions, at) = event(&mut all).await;
        assert!(at > place, "{kind} comes after what came before");
        place = at;
        asked.extend(questions);
    }
    assert_eq!(asked, [first, second]);
    let mut rest = begun(&house, &house.local(), Interest::Events).await;
    let third = house.ask("Three?").await;
    assert_eq!(event(&mut rest).await.1, [third], "from now on");
    assert_eq!(event(&mut all).await.1, [third]);
}

#[tokio::test]
async fn watch_ends_when_its_token_is_revoked_and_tells_nothing_more() {
    for interest in [Interest::Questions, Interest::Events] {
        let house = House::open();
        let (reader, token) = house.reader().await;
        let mut watch = begun(&house, &reader, interest).await;
        house.ask("Seen?").await;
        assert!(matches!(next(&mut watch).await, Ok(News::Questions(_) | News::Event(..))), "{interest:?}");
        house.ask("Not seen?").await;
        house.call::<op::RevokeToken>(json!({"token": token}), json!({})).await.unwrap();
        assert_eq!(next(&mut watch).await.unwrap_err(), Code::Unauthenticated, "{interest:?}");
    }
}

#[tokio::test]
async fn what_was_read_ahead_is_not_told_once_the_token_is_revoked() {
    let house = House::open();
    for words in ["One?", "Two?", "Three?"] {
        house.ask(words).await;
    }
    let (reader, token) = house.reader().await;
    let mut watch = house.desk.watch(&reader, Interest::Events, Some(Cursor::START)).unwrap();
    assert!(matches!(next(&mut watch).await, Ok(News::Begins(_))));
    event(&mut watch).await;
    house.call::<op::RevokeToken>(json!({"token": token}), json!({})).await.unwrap();
    assert_eq!(next(&mut watch).await.unwrap_err(), Code::Unauthenticated);
}

#[tokio::test]
async fn watch_ends_when_the_person_is_removed() {
    for interest in [Interest::Questions, Interest::Events] {
        let house = House::open();
        let person = house.person("Ada").await;
        let mut watch = begun(&house, &person, interest).await;
        house.call::<op::RemovePerson>(json!({"person": "Ada"}), json!({})).await.unwrap();
        house.ask("Not seen?").await;
        assert_eq!(next(&mut watch).await.unwrap_err(), Code::Unauthenticated, "{interest:?}");
    }
}

#[tokio::test]
async fn watch_ends_with_the_desk() {
    for interest in [Interest::Questions, Interest::Events] {
        let house = House::open();
        let mut watch = begun(&house, &house.local(), interest).await;
        house.desk.end();
        assert_eq!(next(&mut watch).await.unwrap_err(), Code::Stopping, "{interest:?}");
    }
}

#[tokio::test]
async fn watch_ends_when_its_token_expires() {
    for interest in [Interest::Questions, Interest::Events] {
        let house = House::open();
        let wanted = json!({"name": "reader", "scopes": ["read"], "seconds": 1});
        let (reader, _) = house.token(wanted).await;
        let mut watch = begun(&house, &reader, interest).await;
        let ended = loop {
            house.ask("Seen?").await;
            if let Err(code) = next(&mut watch).await {
                break code;
            }
        };
        assert_eq!(ended, Code::Unauthenticated, "{interest:?}");
        assert!(!house.desk.is_good(&reader), "and no sooner");
    }
}

#[tokio::test]
async fn only_those_who_may_read_watch() {
    let house = House::open();
    let (asker, _) = house.token(json!({"name": "asker", "scopes": ["ask"]})).await;
    for (caller, code) in [(asker, Code::Forbidden), (Caller::Stranger, Code::Unauthenticated)] {
        for interest in [Interest::Questions, Interest::Events] {
            let refused = house.desk.watch(&caller, interest, None).map(drop).unwrap_err();
            assert_eq!(refused.code, code, "{caller:?}");
        }
    }
}
