//! Confirmations over HTTP: the first yes or no counts, silence is a no, and what starts is what was confirmed.

use std::thread;

use serde_json::{Value, json};

use crate::server::Server;

fn ask(server: &Server, token: &str, more: &Value) -> Value {
    let mut document = json!({"action": "Send 10 to mallory", "operation": {"amount": 10, "to": "mallory"}});
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = server.call("POST", "/v1/confirmations").token(token).json(&document).send();
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()
}

fn say(server: &Server, token: &str, asked: &Value, act: &str) -> (u16, Value) {
    let path = format!("/v1/confirmations/{}/{act}", asked["id"].as_str().unwrap());
    let document = json!({"digest": asked["digest"], "by": "kim"});
    let reply = server.call("POST", &path).token(token).json(&document).send();
    (reply.status, reply.json())
}

/// ONE-09
#[test]
fn exactly_one_of_a_yes_and_a_no_counts() {
    let server = Server::start();
    let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
    for _ in 0..8 {
        let asked = ask(&server, &agent, &json!({}));
        let outcomes: Vec<_> = thread::scope(|scope| {
            let tries = ["give", "refuse", "give", "refuse"].map(|act| {
                let (server, relay, asked) = (&server, &relay, &asked);
                scope.spawn(move || (act, say(server, relay, asked, act)))
            });
            tries.into_iter().map(|tried| tried.join().unwrap()).collect()
        });
        let counted: std::collections::BTreeSet<_> =
            outcomes.iter().filter(|(_, (status, _))| *status == 200).map(|(act, _)| *act).collect();
        assert_eq!(counted.len(), 1, "{outcomes:?}");
        for (_, (status, document)) in outcomes.iter().filter(|(_, (status, _))| *status != 200) {
            assert_eq!((*status, &document["code"]), (409, &json!("CONFIRMATION_CLOSED")));
        }
    }
}

/// ONE-09
#[test]
fn silence_is_a_no_and_wakes_whoever_waits() {
    let server = Server::start();
    let agent = server.token("ada", &["ask"]);
    let asked = ask(&server, &agent, &json!({"timeout_seconds": 1}));
    let path = format!("/v1/confirmations/{}", asked["id"].as_str().unwrap());
    let waited = server.call("GET", &format!("{path}/wait?seconds=60")).token(&agent).send().json();
    assert_eq!(waited["state"], "expired");
    let document = json!({"operation": asked["operation"]});
    let started = server.call("POST", &format!("{path}/start")).token(&agent).json(&document).send();
    assert_eq!(started.json()["code"], "OPERATION_UNCONFIRMED", "{}", started.text());
}

/// ONE-09
#[test]
fn waiter_is_woken_by_a_yes_and_the_yes_serves_once() {
    let server = Server::start();
    let (agent, relay) = (server.token("ada", &["ask"]), server.token("rita", &["relay"]));
    let asked = ask(&server, &agent, &json!({}));
    let path = format!("/v1/confirmations/{}", asked["id"].as_str().unwrap());
    let waited = thread::scope(|scope| {
        let waits = scope
            .spawn(|| server.call("GET", &format!("{path}/wait?seconds=60")).token(&agent).send().json());
        assert_eq!(say(&server, &relay, &asked, "give").0, 200);
        waits.join().unwrap()
    });
    assert_eq!((&waited["state"], &waited["outcome"]["by"]), (&json!("given"), &json!("kim")));
    let start = |operation: Value| {
        let document = json!({"operation": operation});
        server.call("POST", &format!("{path}/start")).token(&agent).json(&document).send()
    };
    let other = start(json!({"amount": 1_000_000, "to": "mallory"}));
    assert_eq!(other.json()["code"], "CONFIRMATION_MISMATCH", "{}", other.text());
    let started = start(asked["operation"].clone());
    assert_eq!((started.status, started.json()["started"].as_u64()), (200, Some(2)), "{}", started.text());
    assert_eq!(start(asked["operation"].clone()).json()["code"], "CONFIRMATION_SPENT");
    let end = |failed: bool| {
        let document = json!({"failed": failed});
        server.call("POST", &format!("{path}/end")).token(&agent).json(&document).send()
    };
    assert_eq!(end(false).status, 200);
    assert_eq!(end(true).json()["code"], "REFERENCE");
}

/// ONE-09
#[test]
fn client_does_not_confirm_its_own_operation_in_whosever_name() {
    let server = Server::start();
    let both = server.token("ada", &["ask", "relay"]);
    let asked = ask(&server, &both, &json!({}));
    for act in ["give", "refuse"] {
        let (status, document) = say(&server, &both, &asked, act);
        assert_eq!((status, &document["code"]), (409, &json!("OWN_CLIENT")), "{document}");
    }
    let agents = ask(&server, &both, &json!({"answering": "agents"}));
    let own = server.token("ada", &["answer"]);
    let (_, document) = say(&server, &own, &agents, "give");
    assert_ne!(document["state"], "given", "{document}");
}
