//! Under which name the server was called, and from which page: forged names and foreign pages get nothing.

use crate::server::Server;

#[test]
fn a_forged_host_is_sent_away() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    for host in ["evil.example", "localhost", "localhost:1", "127.0.0.1", ""] {
        for path in ["/healthz", "/v1/questions"] {
            let reply = server.call("GET", path).token(&token).header("Host", host).send();
            assert_eq!((reply.status, reply.code().as_str()), (421, "HOST_FORBIDDEN"), "{host} {path}");
        }
    }
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        let host = format!("{name}:{}", server.port());
        assert_eq!(server.call("GET", "/healthz").header("Host", &host).send().status, 200, "{host}");
    }
}

#[test]
fn a_foreign_page_gets_nothing_even_with_a_token() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    for origin in ["https://evil.example", "null", "http://localhost:1", ""] {
        let reply = server.call("GET", "/v1/questions").token(&token).header("Origin", origin).send();
        assert_eq!((reply.status, reply.code().as_str()), (403, "ORIGIN_FORBIDDEN"), "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let own = format!("http://localhost:{}", server.port());
    assert_eq!(server.call("GET", "/v1/questions").token(&token).header("Origin", &own).send().status, 200);
}

#[test]
fn no_page_is_told_that_it_may_read_across_sites() {
    let server = Server::start();
    let reply = server
        .call("OPTIONS", "/v1/questions")
        .header("Origin", "https://evil.example")
        .header("Access-Control-Request-Method", "POST")
        .send();
    assert_eq!(reply.code(), "ORIGIN_FORBIDDEN");
    assert_eq!(reply.header("access-control-allow-methods"), None);
}
