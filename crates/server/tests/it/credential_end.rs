//! A credential that ends: what was begun with it does nothing more, and what waits or listens with it ends at once.

use std::{
    io::{BufReader, Read as _, Write as _},
    time::{Duration, Instant},
};

use demur_server::routes::mcp::PATH;
use serde_json::json;

use crate::{
    browser::Browser,
    client::{Call, Reply, Stream, head},
    server::{Server, until},
};

fn revoke(server: &Server, token: &str) {
    let id = token.split('_').nth(1).unwrap();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
}

/// Sends all of a request but its body, and returns once the server waits for that.
fn begun(call: &Call, body: &str) -> BufReader<Box<dyn Stream>> {
    let call = call.clone().header("Content-Length", &body.len().to_string());
    let mut stream = call.header("Expect", "100-continue").open();
    assert_eq!(head(&mut stream).unwrap().0, 100);
    stream
}

/// Sends the body, and returns what comes back.
fn finished(mut stream: BufReader<Box<dyn Stream>>, body: &str) -> Reply {
    stream.get_mut().write_all(body.as_bytes()).unwrap();
    Reply::read(&mut stream).unwrap()
}

#[test]
fn a_token_that_is_taken_back_while_a_request_arrives_does_nothing_more() {
    let server = Server::start();
    let token = server.token("asker", &["ask"]);
    let body = json!({"question": "Still mine?"}).to_string();
    let call = server.call("POST", "/v1/questions").token(&token).header("Content-Type", "application/json");
    let stream = begun(&call, &body);
    revoke(&server, &token);
    let refused = finished(stream, &body);
    assert_eq!((refused.status, refused.code().as_str()), (401, "UNAUTHENTICATED"));
    assert_eq!(server.local("GET", "/v1/questions").send().json()["questions"], json!([]));
}

#[test]
fn a_person_who_is_removed_while_a_form_arrives_does_nothing_more() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let browser = Browser::of_new(&server, "ada", "answerer");
    let body = json!({"answer": "this one"}).to_string();
    let path = format!("/v1/questions/{id}/answer");
    let stream = begun(&browser.call("POST", &path).header("Content-Type", "application/json"), &body);
    assert_eq!(server.local("DELETE", "/v1/people/ada").send().status, 200);
    let refused = finished(stream, &body);
    assert_eq!((refused.status, refused.code().as_str()), (401, "UNAUTHENTICATED"));
    assert_eq!(server.local("GET", &format!("/v1/questions/{id}")).send().json()["state"], "open");
}

#[test]
fn waiting_ends_with_the_token() {
    let server = Server::start();
    let token = server.token("asker", &["ask"]);
    let id = server.ask(&token, &json!({"question": "For how long?"}));
    let mut stream = server.call("GET", &format!("/v1/questions/{id}/wait?seconds=60")).token(&token).open();
    until("somebody waits", || server.local("GET", "/v1/server").send().json()["waiting"] == 1);
    revoke(&server, &token);
    let begun = Instant::now();
    let told = Reply::read(&mut stream).unwrap();
    assert_eq!((told.status, told.code().as_str()), (401, "UNAUTHENTICATED"));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn waiting_ends_when_the_token_expires() {
    let server = Server::start();
    let wanted = json!({"name": "brief", "scopes": ["ask"], "seconds": 2});
    let made = server.local("POST", "/v1/tokens").json(&wanted).send().json();
    let token = made["secret"].as_str().unwrap();
    let id = server.ask(token, &json!({"question": "For how long?"}));
    let begun = Instant::now();
    let told = server.call("GET", &format!("/v1/questions/{id}/wait?seconds=60")).token(token).send();
    assert_eq!((told.status, told.code().as_str()), (401, "UNAUTHENTICATED"));
    assert!(begun.elapsed() < Duration::from_secs(2) + SOON, "{:?}", begun.elapsed());
}

#[test]
fn streams_end_with_the_token() {
    let server = Server::start();
    for path in ["/v1/feed", "/live"] {
        let token = server.token("reader", &["read"]);
        let mut stream = server.call("GET", path).token(&token).open();
        assert_eq!(head(&mut stream).unwrap().0, 200);
        // It has begun.
        assert!(stream.read(&mut [0; 16]).unwrap() > 0);
        revoke(&server, &token);
        let begun = Instant::now();
        stream.read_to_end(&mut Vec::new()).unwrap();
        assert!(begun.elapsed() < SOON, "{path}: {:?}", begun.elapsed());
    }
}

#[test]
fn streams_of_mcp_end_with_the_token() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let call = |method: &str, accept: &str| server.call(method, PATH).token(&token).header("Accept", accept);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                        "clientInfo": {"name": "tester", "version": "1"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let opened = call("POST", "application/json, text/event-stream").json(&message).send();
    let session = opened.header("mcp-session-id").unwrap();
    let listening = call("GET", "text/event-stream").header("Mcp-Session-Id", session);
    let mut stream = listening.header("MCP-Protocol-Version", "2025-06-18").open();
    assert_eq!(head(&mut stream).unwrap().0, 200);
    revoke(&server, &token);
    let begun = Instant::now();
    stream.read_to_end(&mut Vec::new()).unwrap();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// A second, and what a busy machine adds to it. Nothing else ends any of these so early.
const SOON: Duration = Duration::from_secs(6);
