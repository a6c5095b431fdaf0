//! Connections that are slow, silent or many cost the others nothing.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use crate::{
    client::{Reply, head},
    server::{Server, until},
};
use demur_api::server_limits::ServerLimits;
use demur_server::peer_timeouts::PeerTimeouts;
use serde_json::json;

fn impatient() -> Server {
    let brief = Duration::from_millis(300);
    Server::start_with(PeerTimeouts { head: brief, body: brief, write: brief })
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Returns whether the other side has ended the connection.
fn is_over(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 512]) {
        Ok(length) => length == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn a_head_that_comes_drop_by_drop_is_not_waited_for() {
    let server = impatient();
    let mut stream = connect(&server);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    until("the end of the connection", || stream.write_all(b"x").is_err() || is_over(&mut stream));
    assert_eq!(server.call("GET", "/healthz").send().status, 200);
}

#[test]
fn a_body_that_comes_drop_by_drop_is_not_waited_for() {
    let server = impatient();
    let asker = server.token("asker", &["ask"]);
    let call = server.call("POST", "/v1/questions").token(&asker).header("Content-Length", "100");
    let mut stream = call.body(b"{").open();
    assert_eq!(server.call("GET", "/healthz").send().status, 200);
    let reply = Reply::read(&mut stream).unwrap();
    assert_eq!((reply.status, reply.code().as_str()), (408, "TOO_SLOW"));
    let reader = server.token("reader", &["read"]);
    let call = server.call("POST", "/v1/verify").token(&reader).header("Content-Length", "100");
    let reply = Reply::read(&mut call.body(b"{").open()).unwrap();
    assert_eq!((reply.status, reply.code().as_str()), (408, "TOO_SLOW"));
}

#[test]
fn a_silent_connection_ends() {
    let server = impatient();
    let mut stream = connect(&server);
    until("the end of the connection", || is_over(&mut stream));
}

#[test]
fn clients_that_never_read_are_let_go_and_others_are_served_meanwhile() {
    let usual = PeerTimeouts::default();
    let server = Server::start_with(PeerTimeouts { write: Duration::from_secs(2), ..usual });
    let asker = server.token("asker", &["ask"]);
    let (first, export) = server.large_export(&asker);
    let begun = || {
        let mut stream = export.open();
        assert_eq!(head(&mut stream).unwrap().0, 200);
        stream
    };
    let silent: Vec<_> = (0..8).map(|_| begun()).collect();
    let ninth = export.send();
    assert_eq!((ninth.status, ninth.code().as_str()), (503, "OVERLOADED"));
    assert_eq!(server.call("GET", &format!("/v1/questions/{first}")).token(&asker).send().status, 200);
    until("the silent ones are let go", || export.send().status == 200);
    drop(silent);
}

#[test]
fn one_connection_too_many_takes_the_place_of_the_one_that_was_silent_for_longest() {
    let server = Server::start_within(ServerLimits { connections: 64, ..ServerLimits::default() });
    let mut silent: Vec<_> = (0..64).map(|_| connect(&server)).collect();
    assert_eq!(server.call("GET", "/healthz").send().status, 200);
    assert!(is_over(&mut silent[0]), "the first one went");
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port());
    silent[63].write_all(request.as_bytes()).unwrap();
    assert!(!is_over(&mut silent[63]), "the last one is served");
}

#[test]
fn one_connection_too_many_waits_where_each_has_a_request() {
    let server = Server::start_within(ServerLimits { connections: 16, ..ServerLimits::default() });
    let asker = server.token("asker", &["ask"]);
    let call = server.call("POST", "/v1/questions").token(&asker).header("Content-Length", "100");
    let begun = |_| {
        let mut stream = call.clone().header("Expect", "100-continue").open();
        assert_eq!(head(&mut stream).unwrap().0, 100, "its body is waited for");
        stream
    };
    let mut slow: Vec<_> = (0..16).map(begun).collect();
    let mut beyond = connect(&server);
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port());
    beyond.write_all(request.as_bytes()).unwrap();
    beyond.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert_eq!(beyond.read(&mut [0; 4096]).unwrap_err().kind(), ErrorKind::WouldBlock, "it waits");
    assert_eq!(server.local("GET", "/v1/server").send().status, 200, "the user of this machine has places");
    slow.pop();
    beyond.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(beyond.read(&mut [0; 4096]).unwrap() > 0, "once another goes, it is served");
}

#[test]
fn those_who_wait_leave_places_for_those_who_answer() {
    let server = Server::start_within(ServerLimits { local_connections: 16, ..ServerLimits::default() });
    let ask = server.local("POST", "/v1/questions").json(&json!({"question": "Deploy?"}));
    let ids: Vec<_> = (0..14).map(|_| ask.send().json()["id"].as_str().unwrap().to_owned()).collect();
    let wait = |id: &String| server.local("GET", &format!("/v1/questions/{id}/wait?seconds=60"));
    let waiting: Vec<_> = ids.iter().map(|id| wait(id).open()).collect();
    until("all of them wait", || server.local("GET", "/v1/server").send().json()["waiting"] == 14);
    for call in [wait(&ids[0]), server.local("GET", "/v1/feed")] {
        let refused = call.send();
        assert_eq!((refused.status, refused.code().as_str()), (503, "OVERLOADED"));
    }
    let _silent: Vec<_> = (0..16).map(|_| ask.connect().unwrap()).collect();
    for id in &ids {
        assert_eq!(server.answer(id, &json!("yes")).status, 200);
    }
    for mut stream in waiting {
        let reply = Reply::read(&mut stream).unwrap();
        assert_eq!((reply.status, &reply.json()["state"]), (200, &json!("answered")));
    }
    assert_eq!(wait(&ids[0]).send().status, 200, "their places are free again");
}

#[test]
fn what_is_no_http_ends_the_connection_and_nothing_else() {
    let server = impatient();
    let long = vec![b'x'; 40_000];
    for bytes in [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..], b"\r\n\r\n", b"GET\r\n\r\n", &long] {
        let mut stream = connect(&server);
        let _ = stream.write_all(bytes);
        until("the end of the connection", || is_over(&mut stream));
    }
    assert_eq!(server.call("GET", "/healthz").send().status, 200);
}
