//! The data folder is lent and comes back, and the server ends in good order, whoever waits.

use std::{iter, sync::mpsc, thread, time::Duration};

use demur_api::server_limits::ServerLimits;
use demur_desk::{data::DataFolder, owner::Owner, question, session::Speaker};
use demur_ledger::facts::Assurance;
use demur_server::serve::{self, Config, Listen};
use serde_json::json;

use crate::{
    client::{chunk, head},
    server::{Server, until},
};

#[test]
fn whoever_waits_does_not_notice_that_the_folder_was_lent() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Still here?"}));
    let call = server.call("GET", &format!("/v1/questions/{id}/wait?seconds=20")).token(&asker);
    let waiter = thread::spawn(move || call.send());
    until("somebody waits", || server.local("GET", "/v1/server").send().json()["waiting"] == 1);
    assert_eq!(server.local("POST", "/v1/server/lend").send().status, 204);
    let owner = Owner::open(&DataFolder::at(server.folder().to_owned())).expect("the folder is free");
    assert_eq!(server.call("GET", "/readyz").send().code(), "FOLDER_LENT");
    assert_eq!(server.call("GET", "/healthz").send().status, 200);
    // A request that comes meanwhile waits for the folder.
    let call = server.local("GET", "/v1/traces");
    let meanwhile = thread::spawn(move || call.send().status);
    drop(owner);
    assert_eq!(meanwhile.join().unwrap(), 200);
    assert_eq!(server.answer(&id, &json!("yes")).status, 200);
    assert_eq!(waiter.join().unwrap().json()["outcome"]["value"], "yes");
}

#[test]
fn what_another_process_did_meanwhile_is_seen() {
    let server = Server::start();
    let before = server.local("GET", "/v1/identities").send().json()["identities"].as_array().unwrap().len();
    assert_eq!(server.local("POST", "/v1/server/lend").send().status, 204);
    let owner = Owner::open(&DataFolder::at(server.folder().to_owned())).unwrap();
    owner.enrol("newcomer", demur_ledger::role::Role::Agent).unwrap();
    drop(owner);
    let after = server.local("GET", "/v1/identities").send().json();
    assert_eq!(after["identities"].as_array().unwrap().len(), before + 1);
}

#[test]
fn whoever_waits_is_told_what_another_process_recorded() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Who will tell?"}));
    let call = server.call("GET", &format!("/v1/questions/{id}/wait?seconds=120")).token(&asker);
    let waiter = thread::spawn(move || call.send());
    until("somebody waits", || server.local("GET", "/v1/server").send().json()["waiting"] == 1);
    assert_eq!(server.local("POST", "/v1/server/lend").send().status, 204);
    let owner = Owner::open(&DataFolder::at(server.folder().to_owned())).expect("the folder is free");
    let shown = question::view(&owner, id.parse().unwrap()).unwrap();
    let speaker = Speaker::Person { name: "ada".try_into().unwrap(), assurance: Assurance::Terminal };
    let given = serde_json::from_value(json!({"answer": "another process"})).unwrap();
    question::answer(&owner, &shown, &speaker, &given).unwrap();
    drop(owner);
    assert_eq!(waiter.join().unwrap().json()["outcome"]["value"], "another process");
}

#[test]
fn the_socket_of_another_server_is_not_removed() {
    let server = Server::start();
    assert_eq!(server.local("POST", "/v1/server/lend").send().status, 204);
    let other = Server::start_at(server.folder());
    // The first one notices and ends; the socket is the other one's by now.
    until("the first server's end", || server.call("GET", "/healthz").try_send().is_err());
    assert_eq!(other.local("GET", "/v1/server").send().status, 200);
    // The folder goes away with the first one.
    drop(other);
    server.abandon();
}

#[test]
fn whoever_waits_is_told_when_the_server_ends() {
    let mut server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "For how long?"}));
    let call = server.call("GET", &format!("/v1/questions/{id}/wait?seconds=60")).token(&asker);
    let waiter = thread::spawn(move || call.send());
    until("somebody waits", || server.local("GET", "/v1/server").send().json()["waiting"] == 1);
    server.stop().unwrap();
    let told = waiter.join().unwrap();
    assert_eq!((told.status, told.code().as_str()), (503, "STOPPING"));
    assert_eq!(told.header("retry-after"), Some("1"));
}

#[test]
fn an_export_that_nobody_reads_does_not_keep_the_folder() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let (_, export) = server.large_export(&asker);
    let mut unread = export.open();
    assert_eq!(head(&mut unread).unwrap().0, 200);
    chunk(&mut unread).unwrap().expect("it has begun");
    assert_eq!(server.local("POST", "/v1/server/lend").send().status, 204);
    drop(Owner::open(&DataFolder::at(server.folder().to_owned())).expect("the folder is free"));
    let rest = iter::from_fn(|| chunk(&mut unread).transpose()).collect::<Result<Vec<_>, _>>();
    assert!(rest.is_err(), "a part is not taken for the whole");
    assert_eq!(export.send().status, 200, "later it is read as usual");
}

#[test]
fn a_server_that_nobody_needs_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data: DataFolder::at(folder.path().to_owned()),
        rules: Vec::new(),
        listen: Listen::Loopback(None),
        idle: Some(Duration::from_millis(50)),
        user: "pat".try_into().unwrap(),
        version: "test".to_owned(),
        limits: ServerLimits::default(),
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(serve::run(config, |_| ())));
    let ended = receiver.recv_timeout(Duration::from_secs(20)).expect("it ends by itself");
    ended.expect("in good order");
    assert!(!folder.path().join("socket").exists());
}
