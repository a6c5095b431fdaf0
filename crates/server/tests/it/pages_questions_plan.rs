//! Questions of the rules about a plan, and questions whose time is over, in a browser.

use serde_json::{Value, json};

use crate::{browser::Browser, server::Server};

/// Submits a plan that lacks something and returns its open questions.
fn submit(server: &Server, agent: &str, plan: &Value) -> Vec<Value> {
    let opened = server.call("POST", "/v1/plans").token(agent).json(&json!({"plan": plan})).send();
    assert_eq!(opened.status, 201, "{opened:?}");
    let listed = server.local("GET", "/v1/questions?state=open").send().json();
    listed["questions"].as_array().unwrap().clone()
}

fn plan() -> Value {
    json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
        "standards_selected": ["jsp-440", "gdpr"], "deployment_target": "uswds",
    })
}

/// CLR-32
#[test]
fn what_must_be_answered_is_answered_and_what_may_be_confirmed_is_confirmed() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let browser = Browser::sign_in(&server);
    let mut open = submit(&server, &agent, &plan());
    let mut words = Vec::new();
    while let Some(gap) = open.first() {
        let id = gap["id"].as_str().unwrap();
        let page = browser.page(&format!("/questions/{id}"));
        assert!(page.contains("Written by a rule, about what an agent plans"), "{page}");
        let may_confirm = page.contains("Confirm it as it is");
        assert_eq!(may_confirm, gap["severity"] == "warn", "{gap}");
        let sent = if may_confirm {
            let result = browser.send("/bulk", &[("act", "accept"), ("question", id)]);
            assert!(result.text().contains("1 of 1 done"), "{}", result.text());
            words.push("Confirmed");
            None
        } else {
            let review = browser.post(&format!("/questions/{id}/review"), &[("act", "accept")]);
            assert_eq!(review.status, 422, "it has to be answered");
            words.push("Answered");
            let fields = [("choice", "0"), ("note", "as agreed"), ("level", "terse")];
            Some(browser.send(&format!("/questions/{id}/answer"), &fields))
        };
        if let Some(sent) = sent {
            assert_eq!(sent.status, 303, "{}", sent.text());
            let trace = gap["trace"].as_str().unwrap();
            let events = server.local("GET", &format!("/v1/traces/{trace}/events")).send().json();
            let answers = |event: &&Value| event["envelope"]["record"]["type"] == "question_answered";
            let answer = events["events"].as_array().unwrap().iter().rfind(answers).unwrap();
            assert_eq!(answer["content"]["shown"]["wording"], "terse", "{answer}");
        }
        let last = words.last().unwrap();
        assert!(
            browser
                .page(&format!("/questions/{id}"))
                .contains(&format!("<strong>{last}</strong> by <bdi>pat"))
        );
        let listed = server.local("GET", "/v1/questions?state=open").send().json();
        open.clone_from(listed["questions"].as_array().unwrap());
    }
    assert!(words.contains(&"Answered") && words.contains(&"Confirmed"), "{words:?}");
}

#[test]
fn an_answer_that_does_not_settle_is_told_so_and_an_old_page_keeps_the_words() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let mut plan = plan();
    plan.as_object_mut()
        .unwrap()
        .retain(|name, _| name != "standards_selected" && name != "deployment_target");
    plan["real_build"] = json!(true);
    let open = submit(&server, &agent, &plan);
    let id = open[0]["id"].as_str().unwrap();
    let browser = Browser::sign_in(&server);
    let vague = browser.send(&format!("/questions/{id}/answer"), &[("text", "???")]);
    assert_eq!(vague.status, 200, "{}", vague.text());
    assert!(vague.text().contains("<h1>On record, and still open</h1>"), "{}", vague.text());
    let old = browser.send(&format!("/questions/{id}/answer"), &[("text", "a better answer")]);
    let text = old.text();
    assert_eq!(old.status, 404, "{text}");
    assert!(
        text.contains("it may have been put again in other words") && text.contains("a better answer"),
        "{text}"
    );
}

/// AEP-07
#[test]
fn whoever_comes_after_the_deadline_is_told_and_keeps_the_words() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let ask = json!({"question": "Which?", "timeout_seconds": 1});
    let ended = server.call("POST", "/v1/questions?wait=20").token(&asker).json(&ask).send().json();
    let id = ended["id"].as_str().unwrap();
    assert_eq!(ended["state"], "expired");
    let browser = Browser::sign_in(&server);
    let late = browser.send(&format!("/questions/{id}/answer"), &[("text", "my answer")]);
    let text = late.text();
    assert_eq!(late.status, 409, "{text}");
    assert!(text.contains("<strong>Expired</strong> by <bdi>the desk</bdi>"), "{text}");
    assert!(text.contains("What waits for it goes on waiting.") && text.contains("my answer"), "{text}");
}

#[test]
fn a_full_list_stays_light() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let choices: Vec<_> = (0..6)
        .map(|n| json!({"label": format!("The choice number {n}"), "value": format!("value-{n}")}))
        .collect();
    for n in 0..25 {
        let ask = json!({"question": format!("Question {n}: which of these is it to be?"), "choices": choices,
            "kinds": ["multiple_choice", "freetext"], "context": "Something was found. ".repeat(20),
            "timeout_seconds": 3600, "blocks": ["deploy", "publish"]});
        server.ask(&asker, &ask);
    }
    let page = Browser::sign_in(&server).page("/");
    assert!(page.len() < 100_000, "{} bytes", page.len());
}

/// CLR-31: what a plan was confirmed with stays as it is, on a page too.
#[test]
fn an_answer_in_a_confirmed_plan_is_neither_changed_nor_taken_back() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let browser = Browser::sign_in(&server);
    let mut plan = plan();
    plan["standards_selected"] = json!(["jsp-440"]);
    let opened = server.call("POST", "/v1/plans").token(&agent).json(&json!({"plan": plan})).send().json();
    let session = opened["session_id"].as_str().unwrap();
    let listed = server.local("GET", "/v1/questions?state=open").send().json();
    let id = listed["questions"][0]["id"].as_str().unwrap();
    let path = format!("/questions/{id}");
    assert_eq!(browser.send(&format!("{path}/answer"), &[("choice", "0")]).status, 303);
    let confirm = server.call("POST", &format!("/v1/plans/{session}/confirm")).token(&agent);
    assert_eq!(confirm.json(&json!({})).send().status, 200);
    let shown = || server.local("GET", &format!("/v1/questions/{id}")).send().json();
    let before = shown();
    for (act, fields) in [("replace", &[("choice", "1")][..]), ("revoke", &[])] {
        let refused = browser.send(&format!("{path}/{act}"), fields);
        assert_eq!(refused.status, 409, "{act}: {}", refused.text());
    }
    assert_eq!((shown(), &before["state"]), (before.clone(), &json!("answered")));
}
