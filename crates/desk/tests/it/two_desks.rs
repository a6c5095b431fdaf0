//! Two desks over one store that they share, as two processes: what one records, the other shows, and tells those who wait and
//! watch there.

use demur_api::{operation as op, question::QuestionId};
use demur_desk::watch::{Cursor, Interest, News};
use serde_json::json;

use crate::desk::House;

async fn answer(house: &House, id: QuestionId) {
    let given = json!({"answer": "yes"});
    house.call::<op::AnswerQuestion>(json!({"question": id}), given).await.unwrap();
}

/// ONE-05
#[tokio::test]
async fn waiter_hears_an_answer_given_elsewhere() {
    let [here, elsewhere] = House::two();
    let id = here.ask("Which?").await;
    let wait = here.query::<op::WaitForQuestion>(json!({"question": id}), json!({"seconds": 30}), json!({}));
    let (waited, ()) = tokio::join!(wait, answer(&elsewhere, id));
    assert_eq!(waited.unwrap().state.as_str(), "answered");
}

#[tokio::test]
async fn answer_elsewhere_shows_at_once() {
    let [here, elsewhere] = House::two();
    let id = here.ask("Which?").await;
    answer(&elsewhere, id).await;
    let shown = here.call::<op::ShowQuestion>(json!({"question": id}), json!({})).await.unwrap();
    assert_eq!(shown.state.as_str(), "answered");
}

/// ONE-02
#[tokio::test]
async fn second_answer_is_told_who_was_first_elsewhere() {
    let [here, elsewhere] = House::two();
    let id = here.ask("Which?").await;
    answer(&elsewhere, id).await;
    let late = here.call::<op::AnswerQuestion>(json!({"question": id}), json!({"answer": "no"})).await;
    assert_eq!(late.unwrap_err().outcome.unwrap().state.as_str(), "answered");
}

#[tokio::test]
async fn whoever_watches_hears_what_was_recorded_elsewhere() {
    let [here, elsewhere] = House::two();
    for interest in [Interest::Questions, Interest::Events] {
        let mut watch = here.desk.watch(&here.local(), interest, None).unwrap();
        assert!(matches!(watch.next().await, Ok(News::Begins(_))));
        let id = elsewhere.ask("Which?").await;
        let told = loop {
            match watch.next().await.unwrap() {
                News::Questions(changes) => break changes[0].questions[0].id,
                News::Event(_, notice) if !notice.questions.is_empty() => break notice.questions[0],
                News::Quiet => panic!("nobody heard of it"),
                _ => {}
            }
        };
        assert_eq!(told, id, "{interest:?}");
    }
}

#[tokio::test]
async fn deadline_is_recorded_once() {
    let [here, elsewhere] = House::two();
    let words = json!({"question": "In a second?", "timeout_seconds": 1});
    let id = here.call::<op::Ask>(json!({}), words).await.unwrap().question.id;
    for house in [&here, &elsewhere] {
        let query = json!({"seconds": 30});
        let ended = house.query::<op::WaitForQuestion>(json!({"question": id}), query, json!({})).await;
        assert_eq!(ended.unwrap().state.as_str(), "expired");
    }
    let last = here.ask("The last?").await;
    let mut watch = elsewhere.desk.watch(&here.local(), Interest::Events, Some(Cursor::START)).unwrap();
    let mut expired = 0;
    loop {
        match watch.next().await.unwrap() {
            News::Event(_, notice) if notice.questions == [last] => break,
            News::Event(_, notice) if notice.kind == "question_expired" => expired += 1,
            _ => {}
        }
    }
    assert_eq!(expired, 1);
}
