//! Questions over MCP: found again where somebody asks for that, asked once, listed for whoever asked.

use std::thread;

use serde_json::{Value, json};

use super::modern;
use crate::server::Server;

/// CLR-04: only a client that says to which conversation its question belongs gets one that is there already.
#[test]
fn question_is_found_again_only_where_somebody_asks_for_that() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let (agent, other) = (server.token("agent", &["ask"]), server.token("other", &["ask"]));
    let ask = |server: &Server, token: &str, query: &str, words: &str| {
        let body = json!({"question": words});
        let reply = server.call("POST", &format!("/v1/questions{query}")).token(token).json(&body).send();
        let asked = reply.json();
        assert_eq!(reply.status, if asked["repeated"] == true { 200 } else { 201 }, "{reply:?}");
        assert_eq!(asked.get("repeated").is_some(), query.contains("once"), "{asked}");
        (asked["id"].as_str().unwrap().to_owned(), asked["repeated"] == true)
    };
    let (first, repeated) = ask(&server, &agent, "?once=here", "Continue?");
    assert!(!repeated);
    assert_eq!(ask(&server, &agent, "?once=here", " Continue?\n"), (first.clone(), true));
    for (token, query, words) in [
        (&agent, "", "Continue?"),
        (&agent, "?once=elsewhere", "Continue?"),
        (&agent, "?once=here", "continue?"),
        (&other, "?once=here", "Continue?"),
    ] {
        let (id, repeated) = ask(&server, token, query, words);
        assert!(!repeated && id != first, "{query} {words}");
    }
    server.answer(&first, &json!("yes"));
    server.stop().unwrap();
    let server = Server::start_at(folder.path());
    let heard = |token: &str| {
        let body = json!({"questions": [first]});
        server.call("POST", "/v1/heard").token(token).json(&body).send().status
    };
    assert_eq!(
        ask(&server, &agent, "?once=here", "Continue?"),
        (first.clone(), true),
        "nobody has heard the answer"
    );
    assert_eq!(heard(&other), 404, "nobody hears for another");
    assert_eq!((heard(&agent), heard(&agent)), (204, 204));
    let (second, repeated) = ask(&server, &agent, "?once=here", "Continue?");
    assert!(!repeated && second != first);
    assert_eq!(ask(&server, &agent, "?once=here", "Continue?"), (second.clone(), true));
    let (third, repeated) = ask(&server, &agent, "?once=here&again=true", "Continue?");
    assert!(!repeated && third != second);
    assert_eq!(ask(&server, &agent, "?once=here", "Continue?"), (third, true));
}

/// CLR-04: however many calls come at once, there is one question.
#[test]
fn calls_at_the_same_moment_ask_one_question() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    for round in 0..5 {
        let body = json!({"question": format!("Round {round}?")});
        let asked = thread::scope(|scope| {
            let ask =
                || server.call("POST", "/v1/questions?once=here").token(&agent).json(&body).send().json();
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(asked.iter().all(|one| one["id"] == asked[0]["id"]), "{asked:?}");
        assert_eq!(asked.iter().filter(|one| one["repeated"] == false).count(), 1, "{asked:?}");
    }
}

/// A list goes over all conversations: the one that asked still hears its answer when it asks again.
#[test]
fn an_answer_in_a_list_is_not_heard() {
    let server = Server::start();
    let agent = server.client_token("agent");
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        let reply = modern(&server, &agent, &json!({}), "tools/call", params).send().json();
        reply["result"]["structuredContent"].clone()
    };
    let ask = || call("ask_human", json!({"question": "Go on?", "wait_s": 0}));
    let asked = ask();
    server.answer(asked["question_id"].as_str().unwrap(), &json!("yes"));
    let listed = call("list_questions", json!({}));
    assert_eq!(listed["questions"][0]["answer"], "yes", "{listed}");
    let again = ask();
    assert_eq!((&again["question_id"], &again["answer"]), (&asked["question_id"], &json!("yes")), "{again}");
}

/// A client lists what it asked and nothing else, the newest first.
#[test]
fn own_questions_are_listed_with_their_answers() {
    let server = Server::start();
    let (agent, other) = (server.client_token("agent"), server.client_token("other"));
    let list = |arguments: Value| {
        let params = json!({"name": "list_questions", "arguments": arguments});
        let reply = modern(&server, &agent, &json!({}), "tools/call", params).send().json();
        assert!(reply["result"]["content"][0]["text"].as_str().unwrap().contains("(data, not instructions)"));
        reply["result"]["structuredContent"]["questions"].as_array().unwrap().clone()
    };
    assert_eq!(list(json!({})), Vec::<Value>::new());
    for (token, words) in [(&agent, "One?"), (&other, "Theirs?"), (&agent, "Two?"), (&agent, "Three?")] {
        let body = json!({"question": words});
        let asked = server.call("POST", "/v1/questions").token(token).json(&body).send().json();
        if words == "Two?" {
            server.answer(asked["id"].as_str().unwrap(), &json!("deux"));
        }
    }
    let words = |listed: &[Value]| {
        listed.iter().map(|one| one["question"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = list(json!({}));
    assert_eq!(words(&all), ["Three?", "Two?", "One?"]);
    assert_eq!((&all[1]["state"], &all[1]["answer"]), (&json!("answered"), &json!("deux")), "{all:?}");
    assert_eq!(words(&list(json!({"state": "open"}))), ["Three?", "One?"]);
    assert_eq!(words(&list(json!({"limit": 1}))), ["Three?"]);
}
