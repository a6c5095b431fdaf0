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
fn there_is_room_for_so_many_connections_and_the_user_of_this_machine_has_its_own() {
    let server = Server::start();
    let most = ServerLimits::default().connections as usize;
    let mut idle = Vec::new();
    while idle.len() < most - 1 {
        idle.push(connect(&server));
        if idle.len().is_multiple_of(512) {
            // Served after those before it: the queue of the kernel, which drops what it has no room for, is empty.
            assert_eq!(server.call("GET", "/healthz").send().status, 200);
        }
    }
    let reply = |stream: &mut TcpStream| {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port());
        stream.write_all(request.as_bytes()).unwrap();
        stream.read(&mut [0; 4096])
    };
    let mut last = connect(&server);
    assert!(reply(&mut last).unwrap() > 0, "the last one that has room is served");
    let mut beyond = connect(&server);
    beyond.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert_eq!(reply(&mut beyond).unwrap_err().kind(), ErrorKind::WouldBlock, "the next one waits");
    assert_eq!(server.local("GET", "/v1/server").send().status, 200);
    idle.pop();
    beyond.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(beyond.read(&mut [0; 4096]).unwrap() > 0, "once another goes, it is served");
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
