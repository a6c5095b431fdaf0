//! A hook that is set at one desk stops its asker at the other, and sees the questions that are asked and settled there.

use demur_api::{
    code::Code,
    operation as op,
    question::{Done, QuestionId},
    refusal::Refusal,
};
use demur_desk::{
    access::Caller,
    marks::{AskerStanding, standing},
};
use serde_json::json;

use super::answer;
use crate::desk::{House, request};

const AGENT: &str = "agent";

async fn ask(house: &House) -> QuestionId {
    let words = json!({"question": "Which?", "severity": "block"});
    let asked = house.query::<op::Ask>(json!({}), json!({"as": AGENT}), words).await.unwrap();
    asked.question.id
}

/// Has a hook stop the agent, or no longer, and returns the questions that do.
async fn hook(house: &House, off: bool) -> Vec<QuestionId> {
    let stopped = house.call::<op::SetHook>(json!({}), json!({"askers": [AGENT], "off": off})).await.unwrap();
    stopped.questions.iter().map(|question| question.id).collect()
}

/// The agent calls its own question off.
async fn cancel(house: &House, id: QuestionId) -> Result<Done, Refusal> {
    let name = house.desk.user().clone();
    let agent = Caller::Local { name, client: Some(AGENT.try_into().unwrap()), id: None };
    let cancels = request::<op::CancelQuestion>(json!({"question": id}), json!({}), json!({}));
    house.desk.call(&agent, cancels).await.map(|reply| reply.document)
}

#[tokio::test]
async fn hook_stops_for_a_question_asked_elsewhere_until_it_is_settled_there() {
    let [here, elsewhere] = House::two();
    assert!(hook(&here, false).await.is_empty());
    let id = ask(&elsewhere).await;
    assert_eq!(hook(&here, false).await, [id]);
    answer(&elsewhere, id).await;
    assert!(hook(&here, false).await.is_empty());
}

#[tokio::test]
async fn agent_that_a_hook_stops_releases_itself_at_no_desk() {
    let [here, elsewhere] = House::two();
    let id = ask(&here).await;
    hook(&here, false).await;
    for house in [&here, &elsewhere] {
        assert_eq!(cancel(house, id).await.unwrap_err().code, Code::PersonReleases);
    }
    hook(&elsewhere, true).await;
    assert_eq!(cancel(&here, id).await.unwrap().question.state.as_str(), "cancelled");
}

/// A desk that was open before the hook was set records questions without a mark: so the disk never says that nothing stops.
#[tokio::test]
async fn disk_says_nothing_about_a_store_that_others_write_to() {
    let [here, elsewhere] = House::two();
    let data = here.desk.data().clone();
    let found = || standing(data.path(), [AGENT].into_iter()).unwrap();
    hook(&here, false).await;
    assert_eq!(found(), AskerStanding::Unknown);
    drop(here);
    ask(&elsewhere).await;
    assert_eq!(found(), AskerStanding::Unknown);
}
