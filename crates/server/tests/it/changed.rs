//! Answers that are replaced or taken back, over HTTP: by whoever gave them, as sure as they were given, once.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    client::Reply,
    run::{Run, artifact, intent, intent_review, proposal, review, start},
    server::Server,
};

fn answer_path(id: &str) -> String {
    format!("/v1/questions/{id}/answer")
}

fn replace(server: &Server, id: &str, document: &Value) -> Reply {
    server.local("PUT", &answer_path(id)).json(document).send()
}

fn revoke(server: &Server, id: &str) -> Reply {
    server.local("DELETE", &answer_path(id)).send()
}

fn shown(server: &Server, id: &str) -> Value {
    server.local("GET", &format!("/v1/questions/{id}")).send().json()
}

fn kinds(server: &Server, id: &str) -> Vec<String> {
    let events = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    let kind = |event: &Value| {
        let envelope = &event["envelope"];
        let said = if envelope["record"].is_null() { &envelope["statement"] } else { &envelope["record"] };
        said["type"].as_str().unwrap().to_owned()
    };
    events["events"].as_array().unwrap().iter().map(kind).collect()
}

/// CLR-04
#[test]
fn answer_is_replaced_once_and_the_asker_sees_the_new_one() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    assert_eq!(replace(&server, &id, &json!({"answer": "that"})).code(), "NOT_ANSWERED");
    server.answer(&id, &json!("this"));
    let replaced = replace(&server, &id, &json!({"answer": "that", "note": "better", "replaces": 1})).json();
    assert_eq!((&replaced["repeated"], &replaced["question"]["state"]), (&json!(false), &json!("answered")));
    let again = replace(&server, &id, &json!({"answer": "that", "replaces": 1}));
    assert_eq!((again.status, &again.json()["repeated"]), (200, &json!(true)), "a retry");
    let waited = server.call("GET", &format!("/v1/questions/{id}/wait")).token(&asker).send().json();
    let outcome = &waited["outcome"];
    assert_eq!(
        (&outcome["value"], &outcome["note"], &outcome["event"]),
        (&json!("that"), &json!("better"), &json!(2))
    );
    assert_eq!(kinds(&server, &id), ["question_asked", "question_answered", "answer_superseded"]);
}

#[test]
fn answer_that_is_taken_back_leaves_the_question_open() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?", "blocks": ["deploy"]}));
    server.answer(&id, &json!("this"));
    let path = format!("{}?reason=the+wrong+team&answer=1", answer_path(&id));
    let revoked = server.local("DELETE", &path).send();
    assert_eq!((revoked.status, &revoked.json()["question"]["state"]), (200, &json!("open")), "{revoked:?}");
    assert_eq!(revoked.json()["question"]["outcome"], Value::Null);
    assert_eq!(revoke(&server, &id).json()["repeated"], true, "a retry");
    assert_eq!(
        server.call("GET", &format!("/v1/questions/{id}")).token(&asker).send().json()["state"],
        "open"
    );
    // It is asked like any other.
    let answered = server.answer(&id, &json!("that")).json();
    assert_eq!(answered["question"]["outcome"]["value"], "that");
    let expected = ["question_asked", "question_answered", "answer_revoked", "question_answered"];
    assert_eq!(kinds(&server, &id), expected);
    let history = server.local("GET", &format!("/v1/questions/{id}/history")).send().json();
    let events: Vec<_> = history["events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(events, expected);
    assert_eq!(history["events"][2]["who"], "pat");
}

/// A key's answer is that key's alone; what somebody said who signed in is theirs.
#[test]
fn answer_is_changed_by_whoever_gave_it_and_nobody_else() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let (ann, ben) = (server.token("ann", &["answer"]), server.token("ben", &["answer"]));
    let ask = json!({"question": "Which?", "answering": "anybody", "assurance": "agent"});
    let id = server.ask(&asker, &ask);
    let as_key = |method: &str, token: &str| {
        let call = server.call(method, &answer_path(&id)).token(token);
        if method == "DELETE" { call.send() } else { call.json(&json!({"answer": "that"})).send() }
    };
    assert_eq!(as_key("POST", &ann).status, 200);
    for method in ["PUT", "DELETE"] {
        let other = server.call(method, &answer_path(&id)).token(&ben);
        let other = if method == "PUT" { other.json(&json!({"answer": "mine"})) } else { other }.send();
        assert_eq!((other.status, other.code().as_str()), (409, "NOT_YOUR_ANSWER"), "{method}");
    }
    assert_eq!(replace(&server, &id, &json!({"answer": "mine"})).code(), "NOT_YOUR_ANSWER", "a person");
    assert_eq!(server.call("DELETE", &answer_path(&id)).token(&asker).send().status, 403);
    assert_eq!(as_key("DELETE", &ann).json()["question"]["state"], "open");
}

#[test]
fn change_is_as_sure_as_the_answer_was() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let relay = server.token_for("client", &["relay"], &["kim", "pat"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let relayed = |method: &str, by: &str| {
        let document = json!({"answer": by, "by": by});
        server.call(method, &answer_path(&id)).token(&relay).json(&document).send()
    };
    assert_eq!(relayed("POST", "kim").status, 200);
    // What was relayed has no better name than the relay gave it.
    assert_eq!(replace(&server, &id, &json!({"answer": "at the terminal"})).status, 200);
    let refused = relayed("PUT", "pat");
    assert_eq!((refused.status, refused.code().as_str()), (409, "ASSURANCE_TOO_LOW"));
    let hint = refused.json()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains(&format!("demur answer {id} ANSWER --replace")), "{hint}");
    let path = format!("{}?by=pat", answer_path(&id));
    assert_eq!(server.call("DELETE", &path).token(&relay).send().code(), "ASSURANCE_TOO_LOW");
    let browser = Browser::sign_in(&server);
    let signed_in = browser.call("PUT", &answer_path(&id)).json(&json!({"answer": "on a page"})).send();
    assert_eq!(signed_in.json()["question"]["outcome"]["assurance"], "terminal", "{signed_in:?}");
    let other = Browser::of_new(&server, "max", "answerer");
    let others = other.call("PUT", &answer_path(&id)).json(&json!({"answer": "mine"})).send();
    assert_eq!((others.status, others.code().as_str()), (409, "NOT_YOUR_ANSWER"));
}

/// CLR-04 ONE-11: what one program relayed, another one neither replaces nor takes back, least of all the one that asked.
#[test]
fn relayed_answer_is_not_changed_by_another_program() {
    let server = Server::start();
    let (own, relay) = (server.token("asks", &["ask", "relay"]), server.token("client", &["relay"]));
    let other = server.token("other", &["relay"]);
    let id = server.ask(&own, &json!({"question": "Which?"}));
    let change = |method: &str, token: &str| {
        let document = json!({"answer": method, "by": "kim"});
        server.call(method, &answer_path(&id)).token(token).json(&document).send()
    };
    assert_eq!(change("POST", &relay).status, 200);
    for token in [&own, &other] {
        let path = format!("{}?by=kim", answer_path(&id));
        let revoked = server.call("DELETE", &path).token(token).send();
        for refused in [change("PUT", token), revoked] {
            assert!([403, 409].contains(&refused.status), "{}", refused.status);
            assert!(
                ["NOT_YOUR_ANSWER", "OWN_CLIENT"].contains(&refused.code().as_str()),
                "{}",
                refused.code()
            );
        }
    }
    assert_eq!(shown(&server, &id)["outcome"]["value"], "POST");
    assert_eq!(change("PUT", &relay).status, 200, "the same program");
}

/// ONE-02: of those who saw the same answer one replaces it, and the others hear who, when and how.
#[test]
fn of_many_replacements_at_once_one_counts() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    server.answer(&id, &json!("this"));
    let start = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let given = json!({"answer": format!("a{number}"), "replaces": 1});
            let (call, start) = (server.local("PUT", &answer_path(&id)).json(&given), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                call.send()
            })
        })
        .collect();
    let replies: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let (won, lost): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 7));
    let outcome = &won[0].json()["question"]["outcome"];
    for reply in lost {
        assert_eq!((reply.status, reply.code().as_str()), (409, "NOT_THE_ANSWER"));
        assert_eq!(reply.json()["outcome"], *outcome);
    }
    assert_eq!(shown(&server, &id)["outcome"], *outcome);
}

/// ONE-04
#[test]
fn asker_gets_the_secret_that_counts() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "The password?", "kinds": ["secret"]}));
    let commitment = || shown(&server, &id)["outcome"]["value"]["commitment"].clone();
    let kept = || server.call("GET", &format!("/v1/questions/{id}/secret")).token(&asker).send();
    server.answer(&id, &json!("first-secret"));
    let first = commitment();
    assert_eq!(replace(&server, &id, &json!({"answer": "second-secret"})).status, 200);
    assert_ne!(commitment(), first);
    assert_eq!(kept().json()["value"], "second-secret");
    assert_eq!(revoke(&server, &id).status, 200);
    assert_eq!(kept().code(), "SECRET_GONE");
}

/// CLR-31, CLR-62: what rests on the answer is named, and what it blocks is refused again.
#[test]
fn operation_that_rested_on_an_answer_is_named_and_the_next_is_refused() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest", "standards_selected": ["jsp-440"],
        "deployment_target": "uswds",
    });
    let post = |path: &str, document: &Value| server.call("POST", path).token(&agent).json(document).send();
    let opened = post("/v1/plans", &json!({"plan": plan})).json();
    let (session, trace) = (opened["session_id"].as_str().unwrap(), opened["trace"].as_str().unwrap());
    let build = || post(&format!("/v1/plans/{session}/operations"), &json!({"operation": "build"}));
    let listed = server.local("GET", &format!("/v1/questions?trace={trace}&state=open")).send().json();
    let id = listed["questions"][0]["id"].as_str().unwrap().to_owned();
    let answered = server.answer(&id, &json!("uswds-only")).json();
    let answer = answered["question"]["outcome"]["event"].as_u64().unwrap();
    assert_eq!(build().status, 200);
    let replaced = replace(&server, &id, &json!({"answer": "jsp-440-only"}));
    assert_eq!((replaced.status, replaced.json()["unsettled"].clone()), (200, Value::Null), "{replaced:?}");
    let standing = server.call("GET", &format!("/v1/plans/{session}")).token(&agent).send().json();
    assert_eq!(standing["status"], "ready_to_proceed", "{standing}");
    let history = server.local("GET", &format!("/v1/questions/{id}/history")).send().json();
    let rested = &history["rested"][0];
    assert_eq!((&rested["answer"], &rested["how"]), (&json!(answer), &json!("replaced")), "{history}");
    let done = rested["event"].as_u64().unwrap();
    let export = server.local("GET", &format!("/v1/traces/{trace}/export")).send().body;
    let verified = server.local("POST", "/v1/verify").body(&export).send();
    let words = format!("event {done} was done on the answer of event {answer}, which event");
    assert_eq!(verified.json()["report"]["rested"][0]["event"], done, "{verified:?}");
    let page = Browser::sign_in(&server).page(&format!("/traces/{trace}/verification"));
    assert!(page.contains(&words), "{words}: {page}");

    assert_eq!(revoke(&server, &id).status, 200);
    assert_eq!(build().code(), "OPERATION_BLOCKED");
    let confirm = || post(&format!("/v1/plans/{session}/confirm"), &json!({}));
    assert_eq!(confirm().code(), "QUESTIONS_OPEN");
    server.answer(&id, &json!("uswds-only"));
    assert_eq!(confirm().status, 200);
    // What is confirmed stays as it is.
    assert_eq!(replace(&server, &id, &json!({"answer": "jsp-440-only"})).code(), "OUT_OF_PLAN");
    assert_eq!(revoke(&server, &id).code(), "OUT_OF_PLAN");
}

/// LED-31
#[test]
fn tool_does_not_start_after_the_answer_was_taken_back() {
    let run = Run::open();
    let proposed = run.said("ada", &proposal());
    run.said("cy", &review(proposed));
    let intents = [(); 2].map(|()| {
        let intent = run.said("bo", &intent(proposed));
        run.said("cy", &intent_review(intent));
        intent
    });
    let input = run.said("bo", &artifact("input", "{}"));
    let [first, second] = intents.map(|intent| start(intent, input));
    let ask = json!({"question": "Go on?", "trace": run.trace, "blocks": ["execute"]});
    let id = run.server.ask(run.token("bo"), &ask);
    run.refused("bo", &first, 409, "OPERATION_BLOCKED");
    run.server.answer(&id, &json!("yes"));
    let started = run.said("bo", &first);
    assert_eq!(revoke(&run.server, &id).status, 200);
    run.refused("bo", &second, 409, "OPERATION_BLOCKED");
    let history = run.server.local("GET", &format!("/v1/questions/{id}/history")).send().json();
    assert_eq!(
        (&history["rested"][0]["event"], &history["rested"][0]["how"]),
        (&json!(started), &json!("revoked")),
        "{history}"
    );
}

#[test]
fn change_that_cannot_be_read_or_does_not_fit_changes_nothing() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "How many?", "kinds": ["numeric"]}));
    server.answer(&id, &json!(3));
    let before = shown(&server, &id);
    for wrong in [
        json!([]),
        json!({}),
        json!({"answer": null}),
        json!({"answer": 4, "replaces": -1}),
        json!({"answer": 4, "replaces": "1"}),
        json!({"answer": 4, "note": ""}),
        json!({"answer": 4, "other": 1}),
    ] {
        let refused = replace(&server, &id, &wrong);
        assert_eq!((refused.status, refused.code().as_str()), (400, "MALFORMED"), "{wrong}");
    }
    let misfit = replace(&server, &id, &json!({"answer": "four"}));
    assert_eq!((misfit.status, misfit.code().as_str()), (400, "ANSWER_KIND"));
    let long = format!("reason={}", "x".repeat(1001));
    for wrong in ["answer=one", "answer=-1", "reason=", &long, "other=1"] {
        let refused = server.local("DELETE", &format!("{}?{wrong}", answer_path(&id))).send();
        assert_eq!((refused.status, refused.code().as_str()), (400, "MALFORMED"), "{wrong}");
    }
    let another = server.local("DELETE", &format!("{}?answer=0", answer_path(&id))).send();
    assert_eq!((another.status, another.code().as_str()), (409, "NOT_THE_ANSWER"));
    assert_eq!(another.json()["outcome"], before["outcome"], "it says which one counts");
    assert_eq!(shown(&server, &id), before);
}
