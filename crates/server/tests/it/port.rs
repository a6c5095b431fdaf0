//! The port of a folder: what was written down, and what browsers keep for a place, holds as long as the folder does.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener},
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    client::Call,
    server::{Server, until},
};

fn status(server: &Server) -> Value {
    server.local("GET", "/v1/server").send().json()
}

/// Starts a server on a folder once; returns its port.
fn first(folder: &Path) -> u16 {
    let mut server = Server::start_at(folder);
    let port = server.port();
    server.stop().unwrap();
    port
}

/// The addresses that `localhost` and `demur.localhost` lead to. Browsers try the second one first.
const ADDRESSES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

fn free_again(server: &Server, port: u16) {
    until("the port is taken when it is free", || {
        status(server)["address"] == json!(format!("http://localhost:{port}"))
    });
}

/// ONE-11: at another port the same pages would be another place, and whoever has the port could show false ones.
#[test]
fn port_of_a_folder_never_changes_by_itself() {
    ADDRESSES.into_iter().for_each(port_is_waited_for);
}

fn port_is_waited_for(taken_at: IpAddr) {
    let folder = tempfile::tempdir().unwrap();
    let port = first(folder.path());
    let other = TcpListener::bind((taken_at, port)).unwrap();
    let server = Server::start_at(folder.path());
    let told = status(&server);
    assert_eq!(
        (&told["address"], &told["pages"], &told["waits_for_port"]),
        (&Value::Null, &Value::Null, &json!(port))
    );
    let refused = server.local("POST", "/v1/sign-in").send();
    assert_eq!(refused.code(), "PORT_TAKEN");
    assert!(refused.text().contains(&port.to_string()), "{}", refused.text());
    let asked =
        server.local("POST", "/v1/questions?as=ask").json(&json!({"question": "All the same?"})).send();
    assert_eq!(asked.status, 201, "the socket works: {asked:?}");
    drop(other);
    free_again(&server, port);
    assert_eq!(status(&server).get("waits_for_port"), None);
    assert_eq!(status(&server)["pages"], format!("http://demur.localhost:{port}"));
    drop(server);
    assert_eq!(first(folder.path()), port);
}

#[test]
fn port_that_somebody_names_becomes_that_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let before = first(folder.path());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start_on_port(folder.path(), free);
    assert_eq!(server.port(), free);
    drop(server);
    assert_eq!((first(folder.path()), before == free), (free, false));
}

#[test]
fn port_of_the_moment_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let port = first(folder.path());
    drop(Server::start_elsewhere(folder.path()));
    assert_eq!(first(folder.path()), port);
    let server = Server::start_at(folder.path());
    assert_eq!(Browser::sign_in(&server).call("GET", "/").send().status, 200);
}

/// ONE-11: another user who had the port at one of the addresses would be demur for those who come there.
#[test]
fn nobody_takes_the_port_beside_a_server_and_both_addresses_show_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_at(folder.path());
    let token = server.token("builder", &["ask"]);
    let browser = Browser::sign_in(&server);
    for address in ADDRESSES {
        assert!(TcpListener::bind((address, server.port())).is_err(), "{address}");
        let shown = browser.call("GET", "/").to(address).send();
        assert_eq!((shown.status, shown.text().contains("inbox")), (200, true), "{address}: {shown:?}");
        let asked = server.call("POST", "/v1/questions").to(address).token(&token);
        assert_eq!(asked.json(&json!({"question": "Here?"})).send().status, 201, "{address}");
        let elsewhere = server.call("GET", "/v1/questions").to(address).token(&token);
        assert_eq!(elsewhere.header("Host", "evil.example").send().status, 421, "{address}");
    }
}

/// ONE-11: what another program is sent at our port, it could use at ours.
#[test]
fn browsers_are_signed_out_where_another_program_had_the_port() {
    let folder = tempfile::tempdir().unwrap();
    for (taken_at, status) in [(None, 200), (Some(ADDRESSES[0]), 401), (Some(ADDRESSES[1]), 401)] {
        let mut server = Server::start_at(folder.path());
        let cookie = Browser::sign_in(&server).cookie;
        let port = server.port();
        server.stop().unwrap();
        let other = taken_at.map(|address| TcpListener::bind((address, port)).unwrap());
        let server = Server::start_at(folder.path());
        drop(other);
        free_again(&server, port);
        let page = Call::tcp(port, "GET", "/").header("Host", &format!("demur.localhost:{port}"));
        let shown = page.header("Cookie", &cookie).send();
        assert_eq!(shown.status, status, "{taken_at:?}: {shown:?}");
    }
}
