//! The server has the data folder until it ends in good order, whoever waits.

use std::{iter, sync::mpsc, thread, time::Duration};

use demur_api::server_limits::ServerLimits;
use demur_desk::{
    data::DataFolder, owner::Owner, rules::RulesSource, settings::PageHost, token::SessionTimeouts,
};
use demur_server::serve::{self, Config, Listen};
use serde_json::json;

use crate::{
    client::{chunk, head},
    server::{Server, until},
};

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
    let mut server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let (_, export) = server.large_export(&asker);
    let mut unread = export.open();
    assert_eq!(head(&mut unread).unwrap().0, 200);
    chunk(&mut unread).unwrap().expect("it has begun");
    server.stop().unwrap();
    drop(Owner::open(&DataFolder::at(server.folder().to_owned())).expect("the folder is free"));
    let rest = iter::from_fn(|| chunk(&mut unread).transpose()).collect::<Result<Vec<_>, _>>();
    assert!(rest.is_err(), "a part is not taken for the whole");
}

#[test]
fn a_server_that_nobody_needs_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data: DataFolder::at(folder.path().to_owned()),
        rules: RulesSource::default(),
        listen: Listen::Loopback(None),
        idle: Some(Duration::from_millis(50)),
        user: "pat".try_into().unwrap(),
        version: "test".to_owned(),
        limits: ServerLimits::default(),
        pages: PageHost::default(),
        sessions: SessionTimeouts::default(),
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(serve::run(config, |_| ())));
    let ended = receiver.recv_timeout(Duration::from_secs(20)).expect("it ends by itself");
    ended.expect("in good order");
    assert!(!folder.path().join("socket").exists());
}
