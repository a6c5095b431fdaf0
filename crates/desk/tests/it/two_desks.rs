//! Two desks over one store that they share, as two processes: what one records, the other shows, and tells those who wait and
//! watch there.

mod aaep;
mod at_once;
mod claim;
mod crash;
mod create;
mod credentials;
mod deliver;
mod hook;
mod keys;
mod once;
mod states;

use std::time::Duration;

use demur_api::{
    code::Code,
    operation as op,
    question::QuestionId,
    refusal::Refusal,
    run::{ClaimId, ClaimedRun, DriveReply, DriveReport, DriveStep},
};
use demur_desk::{
    operating_system::OperatingSystem,
    watch::{Cursor, Interest, News},
};
use demur_ledger::name::TraceId;
use serde_json::json;
use tokio::time;

use crate::{desk::House, driver};

async fn answer(house: &House, id: QuestionId) {
    let given = json!({"answer": "yes"});
    house.call::<op::AnswerQuestion>(json!({"question": id}), given).await.unwrap();
}

/// ONE-06
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
    // What is remembered of it here goes with the next look of the follower, and stays away.
    let look =
        || here.query::<op::WaitForQuestion>(json!({"question": id}), json!({"seconds": 0}), json!({}));
    let learns = async { while look().await.unwrap().state.as_str() != "answered" {} };
    time::timeout(Duration::from_secs(5), learns).await.expect("nothing old is remembered");
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

async fn claim(house: &House, trace: TraceId, claim: ClaimId) -> Result<ClaimedRun, Refusal> {
    let wanted = json!({"claim": claim, "orders": driver::orders("two")});
    house.call::<op::ClaimRun>(json!({"trace": trace}), wanted).await
}

async fn drive(house: &House, trace: TraceId, report: &DriveReport) -> Result<DriveReply, Refusal> {
    house.call::<op::DriveRun>(json!({"trace": trace}), serde_json::to_value(report).unwrap()).await
}

fn new_trace() -> TraceId {
    let mut system = OperatingSystem::open().unwrap();
    TraceId::new(system.now().unwrap(), &mut system)
}

#[tokio::test]
async fn client_that_is_called_like_a_role_keeps_no_run_from_beginning() {
    let house = House::open();
    let query = json!({"as": "Planner"});
    house.query::<op::Ask>(json!({}), query, json!({"question": "Who plans?"})).await.unwrap();
    claim(&house, new_trace(), driver::claim_id()).await.unwrap();
}

#[tokio::test]
async fn second_driver_waits_for_the_first_to_end() {
    let [here, elsewhere] = House::two();
    let (trace, first, second) = (new_trace(), driver::claim_id(), driver::claim_id());
    claim(&here, trace, first).await.unwrap();
    drive(&here, trace, &driver::report(first)).await.unwrap();
    assert_eq!(claim(&elsewhere, trace, second).await.unwrap_err().code, Code::RunClaimed);
    assert_eq!(drive(&elsewhere, trace, &driver::report(second)).await.unwrap_err().code, Code::ClaimUnknown);
    let leaving = DriveReport { leaves: true, ..driver::report(first) };
    drive(&here, trace, &leaving).await.unwrap();
    claim(&elsewhere, trace, second).await.unwrap();
    let reply = drive(&elsewhere, trace, &driver::report(second)).await.unwrap();
    assert!(matches!(reply.step, DriveStep::Prepare(_)), "{:?}", reply.step);
}

/// LED-16, LED-22: what one desk has in mind of a run is never older than the record.
#[tokio::test]
async fn driver_goes_on_at_another_desk_and_comes_back() {
    let [here, elsewhere] = House::two();
    let (trace, claimed) = (new_trace(), driver::claim_id());
    claim(&here, trace, claimed).await.unwrap();
    let ready = DriveReport { ready: driver::ready("one"), ..driver::report(claimed) };
    let one = driver::started(drive(&here, trace, &ready).await.unwrap().step);
    claim(&elsewhere, trace, claimed).await.unwrap();
    let (ended, ready) = (Some(driver::ended(one.started, "one")), driver::ready("two"));
    let report = DriveReport { ended, ready, ..driver::report(claimed) };
    let two = driver::started(drive(&elsewhere, trace, &report).await.unwrap().step);
    assert_eq!(two.call, "two");
    let report = DriveReport { ended: Some(driver::ended(two.started, "two")), ..driver::report(claimed) };
    let reply = drive(&here, trace, &report).await.unwrap();
    assert!(driver::kinds(&reply.events).contains(&"claim_issued".to_owned()), "{:?}", reply.events);
}
