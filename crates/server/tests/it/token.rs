//! Tokens: good for what they say, until they end or are taken back, and kept nowhere in the clear.

use serde_json::{Value, json};

use crate::server::{Server, until};

fn status(server: &Server, token: &str) -> u16 {
    server.call("GET", "/v1/questions").token(token).send().status
}

#[test]
fn a_token_is_good_until_it_is_taken_back() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    assert_eq!(status(&server, &token), 200);
    let listed = server.local("GET", "/v1/tokens").send().json();
    let id = listed["tokens"][0]["id"].as_str().unwrap();
    let revoked = server.local("DELETE", &format!("/v1/tokens/{id}")).send();
    assert_eq!((revoked.status, &revoked.json()["name"]), (200, &json!("reader")));
    assert_eq!(status(&server, &token), 401);
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().code(), "TOKEN_UNKNOWN");
}

#[test]
fn a_token_ends_by_itself_when_its_time_is_over() {
    let server = Server::start();
    let wanted = json!({"name": "brief", "scopes": ["read"], "seconds": 1});
    let made = server.local("POST", "/v1/tokens").json(&wanted).send().json();
    let token = made["secret"].as_str().unwrap();
    until("the token's end", || status(&server, token) == 401);
}

#[test]
fn a_token_that_differs_in_one_character_is_nobody_s() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    let mut other = token.clone().into_bytes();
    let last = other.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    let other = String::from_utf8(other).unwrap();
    for guess in [other.as_str(), "", "dmr_", "dmr__", &token[..token.len() - 1], &format!("{token}0")] {
        assert_eq!(status(&server, guess), 401, "{guess}");
    }
    let basic = server.call("GET", "/v1/questions").header("Authorization", &format!("Basic {token}")).send();
    assert_eq!(basic.status, 401);
    let long = server.call("GET", "/v1/questions").token(&"x".repeat(9000)).send();
    assert_eq!(long.status, 401);
}

#[test]
fn a_token_survives_a_restart_and_its_secret_is_on_no_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let token = server.token("reader", &["read"]);
    let listed = server.local("GET", "/v1/tokens").send().text();
    let (_, secret) = token.rsplit_once('_').unwrap();
    assert!(!listed.contains(secret));
    server.stop().unwrap();
    assert!(!crate::secret::is_on_disk(folder.path(), secret.as_bytes()));
    let server = Server::start_at(folder.path());
    assert_eq!(status(&server, &token), 200);
}

#[test]
fn a_token_is_one_voice() {
    let server = Server::start();
    for scopes in
        [json!(["ask", "answer"]), json!(["answer", "relay"]), json!(["local"]), json!([]), json!(["all"])]
    {
        let wanted = json!({"name": "two", "scopes": scopes});
        let reply = server.local("POST", "/v1/tokens").json(&wanted).send();
        assert_eq!(reply.status, 400, "{scopes}: {reply:?}");
    }
    assert_eq!(server.local("GET", "/v1/tokens").send().json()["tokens"], Value::Array(Vec::new()));
}

#[test]
fn a_token_speaks_as_nobody_else() {
    let server = Server::start();
    let (one, _) = (server.token("one", &["ask"]), server.token("other", &["ask"]));
    let ask = json!({"question": "Which?"});
    let reply = server.call("POST", "/v1/questions?as=other").token(&one).json(&ask).send();
    assert_eq!((reply.status, reply.code().as_str()), (403, "FORBIDDEN"));
    let asked = server.call("POST", "/v1/questions?as=one").token(&one).json(&ask).send();
    assert_eq!(asked.json()["asker"]["name"], "one");
}

/// ONE-07
#[test]
fn nobody_asks_and_answers_under_one_name_or_makes_a_session_without_signing_in() {
    let server = Server::start();
    let make = |name: &str, scopes: &[&str]| {
        server.local("POST", "/v1/tokens").json(&json!({"name": name, "scopes": scopes})).send()
    };
    assert_eq!(make("ci", &["ask"]).status, 201);
    assert_eq!(make("ci", &["answer"]).code(), "NAME_TAKEN");
    assert_eq!(make("ci", &["ask", "read"]).status, 201, "the same voice twice is fine");
    assert_eq!(make("bot", &["ask", "answer"]).code(), "SCOPE_INVALID");
    assert_eq!(make("person", &["person"]).code(), "SCOPE_INVALID");
    assert_eq!(make("root", &["local"]).code(), "SCOPE_INVALID");
}
