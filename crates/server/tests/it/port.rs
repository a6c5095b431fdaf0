//! The port of a folder: what was written down, and what browsers keep for a place, holds as long as the folder does.

use std::{net::TcpListener, path::Path};

use serde_json::{Value, json};

use crate::{
    browser::Browser,
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

/// ONE-11: at another port the same pages would be another place, and whoever has the port could show false ones.
#[test]
fn port_of_a_folder_never_changes_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let port = first(folder.path());
    let other = TcpListener::bind(("127.0.0.1", port)).unwrap();
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
    until("the port is taken when it is free", || {
        status(&server)["address"] == json!(format!("http://localhost:{port}"))
    });
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
