//! What cannot be read is refused by name, and nothing comes of it.

use serde_json::json;

use crate::server::Server;

#[test]
fn documents_that_are_not_as_described_are_refused_and_nothing_is_recorded() {
    let server = Server::start();
    let token = server.token("asker", &["ask"]);
    let deep = format!("{{\"question\": \"a\", \"default\": {}1{}}}", "[".repeat(200), "]".repeat(200));
    let bodies: &[&[u8]] = &[
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"question\"",
        b"{}",
        b"{\"question\": 1}",
        b"{\"question\": \"\"}",
        b"{\"question\": \"a\", \"question\": \"b\"}",
        b"{\"question\": \"a\", \"unknown\": 1}",
        b"{\"question\": \"a\", \"timeout_seconds\": 0}",
        b"{\"question\": \"a\", \"timeout_seconds\": 1.5}",
        b"{\"question\": \"a\", \"timeout_seconds\": 9007199254740993}",
        b"{\"question\": \"\\ud800\"}",
        b"{\"question\": \"a\"} {}",
        b"{\"question\": \"\xff\"}",
        deep.as_bytes(),
    ];
    for body in bodies {
        let call = server.call("POST", "/v1/questions").token(&token);
        let reply = call.header("Content-Type", "application/json").body(body).send();
        let shown = String::from_utf8_lossy(body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "MALFORMED"), "{shown}");
    }
    let listed = server.call("GET", "/v1/questions").token(&token).send().json();
    assert_eq!(listed["questions"], json!([]));
}

#[test]
fn a_member_twice_is_refused_however_deep_it_stands() {
    let server = Server::start();
    let token = server.token("asker", &["ask"]);
    let body = br#"{"plan": {"description": {"a": 1, "a": 2}}}"#;
    let reply = server.call("POST", "/v1/plans/check").token(&token).body(body).send();
    assert_eq!((reply.status, reply.code().as_str()), (400, "MALFORMED"));
}

#[test]
fn a_document_that_is_too_long_is_not_read_to_its_end() {
    let server = Server::start();
    let token = server.token("asker", &["ask"]);
    let body = format!("{{\"question\": \"{}\"}}", "a".repeat(2 << 20));
    let call = server.call("POST", "/v1/questions").token(&token);
    let declared = call.clone().header("Content-Type", "application/json").body(body.as_bytes()).send();
    assert_eq!((declared.status, declared.code().as_str()), (413, "TOO_LARGE"));
    let mut parts = Vec::new();
    for part in body.as_bytes().chunks(1 << 16) {
        parts.extend(format!("{:x}\r\n", part.len()).into_bytes());
        parts.extend(part);
        parts.extend(b"\r\n");
    }
    parts.extend(b"0\r\n\r\n");
    let chunked = call.header("Transfer-Encoding", "chunked").header("Content-Length", "");
    let mut bytes = chunked.bytes(true);
    // A length beside parts would make two requests of one.
    bytes = String::from_utf8(bytes).unwrap().replace("Content-Length: \r\n", "").into_bytes();
    bytes.extend(parts);
    let mut stream = chunked.connect().unwrap();
    let _ = std::io::Write::write_all(&mut stream, &bytes);
    let reply = crate::client::Reply::read(&mut std::io::BufReader::new(stream)).unwrap();
    assert_eq!((reply.status, reply.code().as_str()), (413, "TOO_LARGE"));
}

#[test]
fn another_content_type_is_refused() {
    let server = Server::start();
    let token = server.token("asker", &["ask"]);
    for media in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/xml"] {
        let call = server.call("POST", "/v1/questions").token(&token).header("Content-Type", media);
        let reply = call.body(br#"{"question": "a"}"#).send();
        assert_eq!((reply.status, reply.code().as_str()), (415, "MEDIA_TYPE"), "{media}");
    }
    let call = server.call("POST", "/v1/questions").token(&token);
    let reply =
        call.header("Content-Type", "Application/JSON; charset=utf-8").body(br#"{"question": "a"}"#).send();
    assert_eq!(reply.status, 201);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let server = Server::start();
    let token = server.token("reader", &["read", "ask"]);
    for path in [
        "/v1/questions?limit=0",
        "/v1/questions?limit=201",
        "/v1/questions?limit=-1",
        "/v1/questions?state=closed",
        "/v1/questions?after=x",
        "/v1/questions?after=0123",
        "/v1/questions?unknown=1",
        "/v1/questions?limit=1&limit=2",
        "/v1/questions?trace=x",
        "/v1/traces?limit=0",
        "/v1/traces?after=x",
        "/v1/feed?after=-1",
        "/v1/feed?after=100000000000000000000000000000000",
    ] {
        assert_eq!(server.call("GET", path).token(&token).send().status, 400, "{path}");
    }
    let ask = json!({"question": "a"});
    for path in ["/v1/questions?wait=301", "/v1/questions?wait=x", "/v1/questions?as="] {
        let reply = server.call("POST", path).token(&token).json(&ask).send();
        assert_eq!(reply.status, 400, "{path}");
    }
}

#[test]
fn names_that_cannot_be_are_as_unknown_as_names_that_nobody_has() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    for path in [
        "/v1/questions/x",
        "/v1/questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.0",
        "/v1/questions/%00",
        "/v1/questions/%ff",
        "/v1/traces/x",
        "/v1/traces/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "/v1/traces/01ARZ3NDEKTSV4RRFFQ69G5FAV/events",
        "/v1/traces/01ARZ3NDEKTSV4RRFFQ69G5FAV/export",
        "/v1/traces/01ARZ3NDEKTSV4RRFFQ69G5FAV/artifacts/0",
        "/v1/traces/01ARZ3NDEKTSV4RRFFQ69G5FAV/receipts/x",
        "/v1/plans/x",
        "/v1/plans/0196bb7c-0000-7000-8000-000000000001",
        "/v1/identities/x",
        "/schemas/../Cargo.toml",
        "/schemas/ledger/nothing.json",
    ] {
        let reply = server.call("GET", path).token(&token).send();
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
        assert!(!reply.code().is_empty(), "{path}");
    }
}
