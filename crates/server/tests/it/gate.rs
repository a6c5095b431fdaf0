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
    for name in ["localhost", "127.0.0.1", "[::1]", "demur.localhost"] {
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

/// ONE-15: a proxy in front may read the first of two headers, and this the last.
#[test]
fn two_headers_of_one_name_and_an_address_of_another_host_count_for_nothing() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    let port = server.port();
    let head = |target: &str, more: &str| {
        let text = format!(
            "GET {target} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{more}Connection: close\r\n\r\n"
        );
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        std::io::Write::write_all(&mut stream, text.as_bytes()).unwrap();
        let reply = crate::client::Reply::read(&mut std::io::BufReader::new(stream)).unwrap();
        (reply.status, if reply.status == 200 { String::new() } else { reply.code() })
    };
    let (own, other) = (format!("Host: localhost:{port}\r\n"), format!("Host: demur.localhost:{port}\r\n"));
    let host = || (421, "HOST_FORBIDDEN".to_owned());
    assert_eq!(head("/v1/questions", &own).0, 200);
    assert_eq!(head("/v1/questions", &format!("{own}{own}")), host());
    assert_eq!(head("/v1/questions", &format!("{own}{other}")), host());
    assert_eq!(head("/v1/questions", &format!("{own}Host: evil.example\r\n")), host());
    assert_eq!(head(&format!("http://localhost:{port}/v1/questions"), &own).0, 200);
    assert_eq!(head("http://evil.example/v1/questions", &own), host());
    assert_eq!(head(&format!("http://demur.localhost:{port}/v1/questions"), &own), host());
    let origin = format!("Origin: http://localhost:{port}\r\n");
    assert_eq!(head("/v1/questions", &format!("{own}{origin}")).0, 200);
    let twice = format!("{own}{origin}{origin}");
    assert_eq!(head("/v1/questions", &twice), (403, "ORIGIN_FORBIDDEN".to_owned()));
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

#[test]
fn nothing_is_cached_or_taken_for_something_else() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    for path in ["/healthz", "/v1/questions", "/v1/nothing", "/v1/docs"] {
        let reply = server.call("GET", path).token(&token).send();
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
}

#[test]
fn trouble_inside_is_told_to_the_user_of_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("pack");
    std::fs::create_dir(&pack).unwrap();
    std::fs::write(pack.join("pack.toml"), "no pack").unwrap();
    let server = Server::start_under(&folder.path().join("data"), vec![pack.clone()]);
    let token = server.token("agent", &["ask"]);
    let check = |call: crate::client::Call| call.json(&serde_json::json!({"plan": {}})).send();
    let remote = check(server.call("POST", "/v1/plans/check").token(&token));
    assert_eq!((remote.status, remote.code().as_str()), (500, "RULES_MALFORMED"));
    assert!(!remote.text().contains("pack.toml"), "{}", remote.text());
    let local = check(server.local("POST", "/v1/plans/check"));
    assert!(local.status == 500 && local.text().contains("pack.toml"), "{}", local.text());
}

#[test]
fn a_command_of_another_version_can_only_end_the_server() {
    let server = Server::start();
    let call = |method: &str, path: &str| server.local(method, path).header("demur-protocol", "999").send();
    assert_eq!(call("GET", "/v1/questions").code(), "VERSION_MISMATCH");
    assert_eq!(call("POST", "/v1/server/stop").status, 204);
    server.abandon();
}
