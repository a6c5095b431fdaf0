//! What is no operation is admitted like one: whoever may not is refused by the desk, whatever interface let them through.

use std::sync::Arc;

use demur_api::{code::Code, question::Act, scope::Scope};
use demur_core::time::Timestamp;
use demur_desk::{
    access::{Caller, Token},
    question::{PersonalAct, QuestionSearch},
};
use demur_ledger::name::Sequence;
use serde_json::json;

use crate::desk::House;

#[tokio::test]
async fn whoever_may_not_look_is_refused_by_the_desk_itself() {
    let house = House::open();
    let id = house.ask("Which?").await;
    let (reader, _) = house.reader().await;
    let (counter, _) = house.token(json!({"name": "counter", "scopes": ["metrics"]})).await;
    let work = house.desk.on_worker(move |desk| {
        let (trace, first, search) = (id.trace, Sequence::FIRST, QuestionSearch::default());
        let all = |caller: &Caller| {
            [
                desk.find_questions(caller, &search).err(),
                desk.question_counts(caller).err(),
                desk.trace_overviews(caller, None, 1).err(),
                desk.trace_lines(caller, trace, first, 1).err(),
                desk.trace_line(caller, trace, first).err(),
                desk.checked_artifact(caller, trace, first).err(),
                desk.trace_verdict(caller, trace).err(),
                desk.run_graph(caller, trace).err(),
            ]
            .map(|refusal| refusal.map(|refusal| refusal.code))
        };
        let act = || PersonalAct::Decline(Act::default());
        let acts = [&reader, &counter, &Caller::Stranger].map(|caller| desk.act_in_person(caller, id, act()));
        let figures = [&reader, &counter].map(|caller| desk.figures(caller).is_ok());
        Ok((all(&reader), all(&counter), all(&Caller::Stranger), acts, figures))
    });
    let (reader, counter, stranger, acts, figures) = work.await.unwrap();
    assert_eq!(reader, [None; 8]);
    assert_eq!(counter, [Some(Code::Forbidden); 8]);
    assert_eq!(stranger, [Some(Code::Unauthenticated); 8]);
    let acts = acts.map(|done| done.map_err(|refusal| refusal.code).unwrap_err());
    assert_eq!(acts, [Code::Forbidden, Code::Forbidden, Code::Unauthenticated]);
    assert_eq!(figures, [false, true]);
}

#[test]
fn session_without_a_role_may_nothing() {
    let session = Token {
        id: "id".to_owned(),
        name: "ada".try_into().unwrap(),
        scopes: vec![Scope::Person],
        created: Timestamp::MIN,
        expires: None,
        principal: None,
        client: None,
        by_mcp: false,
        role: None,
        people: None,
        person: None,
        opened: None,
        rests_on: None,
        browser: None,
    };
    let caller = Caller::Token(Arc::new(session));
    assert!(!caller.may(&[Scope::Answer, Scope::Relay, Scope::Read]));
}
