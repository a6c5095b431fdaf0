//! What the follower makes of what it reads.

use std::pin::pin;

use demur_api::{question::Ask, server_limits::ServerLimits};
use demur_ledger::role::Role;
use demur_sequencer::Listener;

use super::*;
use crate::{
    data::DataFolder,
    desk::{Count, DeskConfig},
    question,
};

struct Uncounted;

impl Listener for Uncounted {
    fn recorded(&self, _: TraceId, _: &[Entry]) {}
}

impl Count for Uncounted {
    fn answered_after(&self, _: f64) {}
}

fn config(data: DataFolder) -> DeskConfig {
    DeskConfig {
        data,
        rules: Vec::new(),
        user: "somebody".try_into().unwrap(),
        version: "0".to_owned(),
        limits: ServerLimits::default(),
    }
}

fn ask(owner: &Owner) -> QuestionId {
    let asker = owner.find_or_enrol("asker", Role::Agent).unwrap();
    let ask: Ask = serde_json::from_str(r#"{"question": "Which?", "severity": "block"}"#).unwrap();
    question::ask(owner, &asker, &ask, None).unwrap().id
}

#[tokio::test]
async fn only_what_another_writer_recorded_wakes_those_who_wait_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::at(folder.path().to_owned());
    let (before, _) = Owner::open_or_create(&data).unwrap();
    let theirs = ask(&before);
    drop(before);
    let desk = Desk::open(&config(data), Arc::new(Uncounted)).unwrap();
    let owner = desk.owner().unwrap();
    let end = owner.sequencer().store().end().unwrap();
    let own = ask(&owner);
    let (theirs, own) = (desk.waiters().wait_for(theirs), desk.waiters().wait_for(own));
    let (mut hears, mut hears_not) = (pin!(theirs.notify().notified()), pin!(own.notify().notified()));
    hears.as_mut().enable();
    hears_not.as_mut().enable();
    let mut commits = desk.waiters().commits();
    hear(&desk, &owner, end).unwrap();
    assert!(!commits.has_changed().unwrap(), "own commits have told everybody already");
    hear(&desk, &owner, Cursor::START).unwrap();
    assert!(commits.has_changed().unwrap());
    commits.mark_unchanged();
    hears.await;
    tokio::select! {
        biased;
        () = hears_not => panic!("nobody else recorded anything about it"),
        () = future::ready(()) => {}
    }
}
