//! A program that is started again, or calls itself by another's name, is still the program that asked.

use serde_json::{Value, json};

use crate::{client::Reply, run_clients::registry, server::Server};

/// Processes, as `demur mcp` names them.
pub(crate) const FIRST: &str = "01M7F6YMM0QC0000000000000A";
pub(crate) const SECOND: &str = "01M7F6YMM0QC0000000000000B";
pub(crate) const THIRD: &str = "01M7F6YMM0QC0000000000000C";

/// Sends a document as a program of this name, in this process.
pub(crate) fn post(server: &Server, (name, process): (&str, &str), path: &str, document: &Value) -> Reply {
    let call = server.local("POST", path).header("demur-relay", name).header("demur-client", process);
    call.json(document).send()
}

/// Returns a confirmation that a program wants.
fn wanted(server: &Server, by: (&str, &str)) -> Value {
    let document = json!({"action": "Delete it", "operation": {"path": "/"}});
    let asked = post(server, by, "/v1/confirmations", &document);
    assert_eq!(asked.status, 201, "{}", asked.text());
    asked.json()
}

fn give(server: &Server, by: (&str, &str), asked: &Value) -> Reply {
    let path = format!("/v1/confirmations/{}/give", asked["id"].as_str().unwrap());
    post(server, by, &path, &json!({"digest": asked["digest"]}))
}

/// ONE-07 ONE-09
#[test]
fn program_that_was_started_again_does_not_confirm_its_own_operation_under_a_second_name() {
    let server = Server::start();
    wanted(&server, ("claude", FIRST));
    // The key of claude was made for the first process; the second one speaks with it now.
    let asked = wanted(&server, ("claude", SECOND));
    let refused = give(&server, ("helper", SECOND), &asked);
    assert_eq!(refused.code(), "OWN_CLIENT", "{}", refused.text());
    // A program that never spoke as claude is another.
    let given = give(&server, ("helper", THIRD), &asked);
    assert_eq!(given.status, 200, "{}", given.text());
}

/// ONE-07
#[test]
fn program_that_borrows_a_name_does_not_confirm_what_it_asked_under_it() {
    let server = Server::start();
    server.token("builder", &["ask"]);
    let asked = wanted(&server, ("builder", FIRST));
    let refused = give(&server, ("helper", FIRST), &asked);
    assert_eq!(refused.code(), "OWN_CLIENT", "{}", refused.text());
}

/// ONE-07 CLR-33
#[test]
fn answer_of_a_program_that_was_started_again_is_its_own() {
    let server = Server::start();
    let ask = |process| {
        let asked = post(&server, ("claude", process), "/v1/questions", &json!({"question": "Where to?"}));
        assert_eq!(asked.status, 201, "{}", asked.text());
        asked.json()["id"].as_str().unwrap().to_owned()
    };
    for process in [FIRST, SECOND, FIRST] {
        let id = ask(process);
        let path = format!("/v1/questions/{id}/answer");
        let reply = post(&server, ("claude", process), &path, &json!({"answer": "dist"}));
        let events = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
        let newest = events["events"].as_array().unwrap().last().unwrap();
        let attribution = &newest["envelope"]["record"]["facts"]["attribution"];
        assert!(reply.status != 200 || attribution["own"] == true, "{process}: {attribution}");
    }
}

/// LED-41: the server's own id would make every role its own.
#[test]
fn nobody_speaks_as_the_server() {
    let server = Server::start();
    wanted(&server, ("claude", FIRST));
    let registry = registry(&server);
    let desk = registry[0]["event"]["event"]["statement"]["facts"]["desk"].as_str().unwrap();
    let refused = post(&server, ("claude", desk), "/v1/questions", &json!({"question": "Where to?"}));
    assert_eq!(refused.status, 403, "{}", refused.text());
}
