//! A hook that is set at one desk sees the questions that are asked and settled at the other.

use std::time::Duration;

use demur_api::{operation as op, question::QuestionId};
use demur_desk::marks::{AskerStanding, standing};
use serde_json::json;
use tokio::{task, time};

use super::answer;
use crate::desk::House;

const AGENT: &str = "agent";

async fn ask(house: &House, severity: &str) -> QuestionId {
    let words = json!({"question": "Which?", "severity": severity});
    let asked = house.query::<op::Ask>(json!({}), json!({"as": AGENT}), words).await.unwrap();
    asked.question.id
}

/// Waits until the disk says this about the agent; the follower looks twice a second.
async fn comes_to(house: &House, expected: AskerStanding) {
    let found = || standing(house.desk.data().path(), [AGENT].into_iter()).unwrap();
    let comes = async {
        while found() != expected {
            task::yield_now().await;
        }
    };
    let came = time::timeout(Duration::from_secs(5), comes).await;
    assert!(came.is_ok(), "expected {expected:?}, found {:?}", found());
}

#[tokio::test]
async fn hook_stops_for_a_question_asked_elsewhere_until_it_is_settled_there() {
    let [here, elsewhere] = House::two();
    here.call::<op::SetHook>(json!({}), json!({"askers": [AGENT]})).await.unwrap();
    comes_to(&here, AskerStanding::Clear).await;
    let id = ask(&elsewhere, "block").await;
    comes_to(&here, AskerStanding::Marked).await;
    answer(&elsewhere, id).await;
    comes_to(&here, AskerStanding::Clear).await;
}

#[tokio::test]
async fn mark_of_a_question_stays_while_it_stops_somebody() {
    let [here, elsewhere] = House::two();
    here.call::<op::SetHook>(json!({}), json!({"askers": [AGENT]})).await.unwrap();
    let [declined, answered] = [ask(&here, "block").await, ask(&here, "block").await];
    let path = json!({"question": declined});
    elsewhere.call::<op::DeclineQuestion>(path, json!({"reason": "not now"})).await.unwrap();
    answer(&elsewhere, answered).await;
    let open = here.desk.data().path().join("open");
    let goes = async {
        while open.join(answered.to_string()).exists() {
            task::yield_now().await;
        }
    };
    time::timeout(Duration::from_secs(5), goes).await.expect("what is answered elsewhere stops nobody");
    assert!(open.join(declined.to_string()).exists(), "heard before the answer");
}
