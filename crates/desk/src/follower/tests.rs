//! What the follower makes of what it reads.

use std::{fs, pin::pin};

use demur_api::{
    question::{Answer, Ask},
    server_limits::ServerLimits,
};
use demur_ledger::{
    facts::{Attribution, Door, Root},
    role::Role,
};
use demur_sequencer::Listener;

use super::*;
use crate::{
    data::DataFolder,
    desk::{Count, DeskConfig},
    marks, question,
    rules::RulesSource,
    session::Speaker,
    token::SessionTimeouts,
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
        rules: RulesSource::default(),
        user: "somebody".try_into().unwrap(),
        version: "0".to_owned(),
        limits: ServerLimits::default(),
        sessions: SessionTimeouts::default(),
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

/// Sessions here have seen an answer that another process took back.
#[test]
fn answer_that_another_writer_took_back_is_news_to_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::at(folder.path().to_owned());
    let (before, _) = Owner::open_or_create(&data).unwrap();
    let id = ask(&before);
    let person = Speaker::person("pat".try_into().unwrap(), Attribution::new(Door::Socket, Root::SameUser));
    let given: Answer = serde_json::from_str(r#"{"answer": "this"}"#).unwrap();
    question::answer(&before, &question::view(&before, id).unwrap(), &person, &given).unwrap();
    question::revoke(&before, &question::view(&before, id).unwrap(), &person, (None, None)).unwrap();
    drop(before);
    let desk = Desk::open(&config(data), Arc::new(Uncounted)).unwrap();
    let (owner, session) = (desk.owner().unwrap(), folder.path().join(marks::SESSIONS).join("one"));
    fs::create_dir_all(&session).unwrap();
    fs::write(session.join(id.to_string()), "").unwrap();
    assert!(marks::see(&session, id));
    hear(&desk, &owner, Cursor::START).unwrap();
    assert!(marks::discard_revoked(&session, id) && session.join(id.to_string()).exists());
}
