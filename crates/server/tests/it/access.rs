//! Who may do what: closed to everybody without credentials, open to each scope exactly as far as the table says.

use std::collections::BTreeSet;

use demur_api::scope::Scope;
use demur_server::{api::Route, routes};

use crate::{
    client::{Reply, head},
    server::Server,
};

/// Returns the path of an operation with names in it that nobody has.
fn path(operation: &Route) -> String {
    [
        ("{question}", "01ARZ3NDEKTSV4RRFFQ69G5FAV.3"),
        ("{confirmation}", "01ARZ3NDEKTSV4RRFFQ69G5FAV.3"),
        ("{trace}", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("{session}", "0196bb7c-0000-7000-8000-000000000001"),
        ("{gap}", "gap-001"),
        ("{sequence}", "0"),
        ("{token}", "nobody"),
        ("{person}", "nobody"),
        ("{fingerprint}", "0000000000000000000000000000000000000000000000000000000000000000"),
        ("{key}", "0000000000000000000000000000000000000000000000000000000000000000"),
        ("{touch}", "nobody"),
        ("{sign_in}", "nobody"),
        ("{*schema}", "ledger/envelope.json"),
        ("{asset}", "demur.css"),
        ("{act}", "answer"),
        ("{change}", "add"),
    ]
    .iter()
    .fold(operation.path().to_owned(), |path, (name, value)| path.replace(name, value))
}

#[test]
fn only_seven_places_answer_without_credentials() {
    let server = Server::start();
    let mut open = BTreeSet::new();
    for operation in routes::operations() {
        let path = path(&operation);
        assert!(!path.contains('{'), "{path}");
        let reply = server.page(operation.method().as_str(), &path).body(b"{}").send();
        if operation.is_open() && path.starts_with("/sign-in/passkey") {
            // A touch is the credential: what no page of ours sends counts for nothing.
            assert_eq!(reply.status, 403, "{path}: {reply:?}");
        } else if operation.is_open() && path == "/sign-in" {
            // A code is the credential, and here is none: there is a page on which to type it.
            assert!(matches!(reply.status, 200 | 403), "{path}: {reply:?}");
        } else if operation.is_open() {
            assert_eq!(reply.status, 200, "{path}: {reply:?}");
            open.insert(operation.path());
        } else if operation.is_page() {
            assert_eq!(reply.status, 401, "{path}");
            assert!(reply.text().contains("demur open"), "{path}: {reply:?}");
        } else {
            assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHENTICATED"), "{path}");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"demur\""), "{path}");
        }
    }
    let expected = [
        "/.well-known/aaep-manifest.json",
        "/healthz",
        "/readyz",
        "/v1/openapi.json",
        "/v1/docs",
        "/schemas",
        "/schemas/{*schema}",
    ];
    assert_eq!(open, BTreeSet::from(expected));
}

#[test]
fn what_is_not_there_is_as_closed_as_what_is() {
    let server = Server::start();
    for (method, path) in
        [("GET", "/nothing"), ("GET", "/v1/nothing"), ("PATCH", "/v1/questions"), ("POST", "/healthz")]
    {
        assert_eq!(server.call(method, path).send().code(), "UNAUTHENTICATED", "{method} {path}");
    }
    let token = server.token("reader", &["read"]);
    let unknown = server.call("GET", "/v1/nothing").token(&token).send();
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "NOT_FOUND"));
    let wrong = server.call("PATCH", "/v1/questions").token(&token).send();
    assert_eq!((wrong.status, wrong.code().as_str()), (405, "METHOD_NOT_ALLOWED"));
}

/// Returns whether a reply says that the scope is missing.
fn lacks_scope(status: u16, body: &[u8]) -> bool {
    // A page says it too, among other things.
    status == 403 && String::from_utf8_lossy(body).contains("expected a token with the scope")
}

#[test]
fn each_scope_may_do_exactly_what_the_table_says() {
    let server = Server::start();
    for scope in Scope::GRANTED {
        let token = server.token(scope.as_str(), &[scope.as_str()]);
        for operation in routes::operations() {
            let may = operation.is_open() || operation.scopes().contains(&scope);
            let (method, path) = (operation.method().as_str(), path(&operation));
            if path == "/sign-in" {
                // A token is no link: whoever has one is nobody there.
                continue;
            }
            let mut stream = server.call(method, &path).token(&token).body(b"{}").open();
            if matches!(operation.id(), "feed" | "/live") && may {
                // It has no end: that it begins is enough.
                assert_eq!(head(&mut stream).unwrap().0, 200);
                continue;
            }
            let Reply { status, body, .. } = Reply::read(&mut stream).unwrap();
            assert_ne!(status, 401, "{scope} {method} {path}");
            assert_eq!(lacks_scope(status, &body), !may, "{scope} {method} {path}: {status}");
        }
    }
}

#[test]
fn what_is_local_is_no_token_s_to_do() {
    let server = Server::start();
    let all = server.token("all", &["ask", "relay", "read", "metrics"]);
    for operation in routes::operations().iter().filter(|operation| operation.scopes() == [Scope::Local]) {
        let reply = server.call(operation.method().as_str(), &path(operation)).token(&all).body(b"{}").send();
        assert_eq!(reply.code(), "FORBIDDEN", "{}", operation.path());
    }
    assert_eq!(server.local("GET", "/v1/server").send().status, 200);
}
