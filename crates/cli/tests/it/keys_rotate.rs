//! `demur keys rotate`.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    time::{SystemTime, UNIX_EPOCH},
};

use demur_core::{hash::sha256, key::SecretKey, random::Seeded, time::Timestamp};
use demur_ledger::{
    author::{Author, Place},
    desk::{Desk, Recorded},
    entry::Entry,
    name::PrincipalId,
    role::Role,
};
use demur_store::{
    contract::{Append, Leases as _, Store as _, Write, WriteOutcome},
    sqlite::SqliteStore,
};
use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

fn status(sandbox: &Sandbox, key: &str) -> String {
    sandbox.json(&["keys", "show", key])["key"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn old_key_names_its_successor_and_stays_for_a_day() {
    let sandbox = Sandbox::with_keys();
    let old = sandbox.fingerprint("alice");
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice"]), @r"
    exit 0
    --- stdout
    Rotated: alice has a new key, named by the old key.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    The old key [KEY] stays usable until [TIME]; the next change after that retires it.
    ");
    assert_eq!(status(&sandbox, &old), "rotated");
    let new = &sandbox.json(&["keys", "show", "alice"])["key"];
    assert_eq!((&new["origin"], &new["status"]), (&"rotated_by_key".into(), &"active".into()));
    assert_eq!(new["principal"], sandbox.json(&["keys", "show", &old])["key"]["principal"]);
    assert_ne!(new["fingerprint"].as_str(), Some(old.as_str()));
    // Within the day nothing retires it.
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    assert_eq!(status(&sandbox, &old), "rotated");
    assert!(sandbox.data().join(format!("keys/{old}.key")).exists());
}

#[test]
fn retire_now_ends_the_old_key_at_once() {
    let sandbox = Sandbox::with_keys();
    let old = sandbox.fingerprint("alice");
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice", "--retire-now"]), @r"
    exit 0
    --- stdout
    Rotated: alice has a new key, named by the old key.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    The old key [KEY] is retired. Its secret was removed from this data folder.
    ");
    assert_eq!(status(&sandbox, &old), "retired");
    assert!(!sandbox.data().join(format!("keys/{old}.key")).exists());
}

#[test]
fn key_has_one_successor() {
    let sandbox = Sandbox::with_keys();
    let old = sandbox.fingerprint("alice");
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["keys", "rotate", &old]), @r#"
    exit 3
    --- stderr
    error: expected a key without a successor, found that key [KEY] has one
    hint: rotate the successor: demur keys rotate "alice"
    "#);
    assert_eq!(sandbox.contents(), before);
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
}

#[test]
fn recovery_key_replaces_a_lost_key() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]).expect_code(0);
    fs::remove_file(sandbox.key_file("alice")).unwrap();
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(2);
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice", "--with-recovery", "r"]), @r"
    exit 0
    --- stdout
    Rotated: alice has a new key, named by the recovery key.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    The old key [KEY] stays usable until [TIME]; the next change after that retires it.
    If others may hold it: demur keys revoke [KEY] --reason compromised
    ");
    assert_eq!(sandbox.json(&["keys", "show", "alice"])["key"]["origin"], "rotated_by_recovery");
    // The way back stays open.
    sandbox.run(&["keys", "rotate", "alice", "--with-recovery", "r", "--retire-now"]).expect_code(0);
}

#[test]
fn recovery_key_replaces_a_revoked_key() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]).expect_code(0);
    sandbox.run(&["keys", "revoke", "alice", "--reason", "compromised"]).expect_code(0);
    let reply = sandbox.json(&["keys", "rotate", "alice", "--with-recovery", "r", "--retire-now"]);
    assert_eq!((&reply["retires_after"], &reply["old_secret"]), (&Value::Null, &Value::Null));
    assert_eq!(status(&sandbox, "alice"), "active");
}

#[test]
fn recovery_key_of_another_is_refused() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "new", "carol", "--role", "critic", "--recovery", "r"]).expect_code(0);
    sandbox.run(&["keys", "new", "dave", "--role", "critic", "--recovery", "s"]).expect_code(0);
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice", "--with-recovery", "r"]), @r"
    exit 3
    --- stderr
    error: expected the recovery key of key [KEY] in r, found that it was registered without one
    ");
    assert_snapshot!(sandbox.run(&["keys", "rotate", "dave", "--with-recovery", "r"]), @r"
    exit 3
    --- stderr
    error: expected the recovery key of key [KEY] in r, found another key
    ");
    assert_snapshot!(sandbox.run(&["keys", "rotate", "dave", "--with-recovery", "missing"]), @r"
    exit 2
    --- stderr
    error: cannot read missing: No such file or directory (os error 2)
    hint: `ls .` shows what is there
    ");
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn recovery_does_not_take_a_name_that_went_to_somebody_else() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]).expect_code(0);
    let old = sandbox.fingerprint("alice");
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    sandbox.run(&["keys", "new", "alice", "--role", "critic"]).expect_code(0);
    let error = sandbox.json_error(&["keys", "rotate", &old, "--with-recovery", "r"], 3);
    assert_eq!(error["code"], "NAME_TAKEN");
}

#[test]
fn desk_goes_on_with_its_new_key() {
    let sandbox = Sandbox::with_keys();
    let old = sandbox.fingerprint("desk");
    assert_snapshot!(sandbox.run(&["keys", "rotate", "desk", "--retire-now"]), @r"
    exit 0
    --- stdout
    Rotated: desk has a new key, named by the old key.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    The old key [KEY] is retired. Its secret was removed from this data folder.
    ");
    let new = sandbox.fingerprint("desk");
    assert_ne!(old, new);
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    for (line, tag) in sandbox.registry().iter().rev().zip(["checkpoint", "head"]) {
        assert_eq!(line[tag]["proof"]["key"].as_str(), Some(new.as_str()), "{tag}");
    }
}

#[test]
fn nothing_to_rotate_in_an_empty_folder() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice"]), @r"
    exit 2
    --- stderr
    error: expected a key registry in [DIR]/data, found none
    hint: make the first key with `demur keys new NAME --role ROLE`, or name another folder with --data
    ");
    assert!(!sandbox.data().exists());
}

/// Writes a data folder as another program would, in which a key was rotated so many hours ago.
fn rotated_hours_ago(sandbox: &Sandbox, hours: u64) -> (String, String) {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let at = |ago: u64| Timestamp::from_millis(u64::try_from(millis).unwrap() - ago).unwrap();
    let then = at(hours * 3_600_000);
    let mut random = Seeded::from_number(3);
    let [desk_key, old, new] = [1, 2, 3].map(|seed| SecretKey::from_seed(&[seed; 32]));
    let (mut desk, first) = Desk::create(desk_key.clone(), None, "desk", then, &mut random).unwrap();
    let principal = PrincipalId::new(then, &mut random);
    let author = Author::new(old.clone(), principal, Role::Executor);
    let place = |desk: &Desk| {
        let chain = desk.registry_chain();
        Place { store: desk.store(), trace: chain.trace(), seen: chain.head(), now: then }
    };
    let submission = author.register(&place(&desk), None, "eve", &mut random).unwrap();
    let registered = desk.admit_key(submission, then).unwrap();
    let submission =
        author.rotate(&place(&desk), old.public().fingerprint(), &new, None, &mut random).unwrap();
    let rotated = desk.admit_key(submission, then).unwrap();

    fs::create_dir_all(sandbox.data().join("keys")).unwrap();
    fs::set_permissions(sandbox.data().join("keys"), Permissions::from_mode(0o700)).unwrap();
    write_registry(sandbox, &desk, &[first, registered, rotated]);
    let desk_principal = desk.registry().desk();
    for (seed, key, principal, role) in [
        (1, &desk_key, desk_principal, "desk"),
        (2, &old, principal, "executor"),
        (3, &new, principal, "executor"),
    ] {
        let name = if role == "desk" { "desk" } else { "eve" };
        let seed = format!("{seed:02x}").repeat(32);
        let text = format!(
            "{{\"algorithm\":\"ed25519\",\"name\":\"{name}\",\"principal\":\"{principal}\",\
             \"role\":\"{role}\",\"seed\":\"{seed}\"}}\n"
        );
        let path = sandbox.data().join(format!("keys/{}.key", key.public().fingerprint()));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }
    // Nothing is kept beside such a database, so it is taken as it is, on record.
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    sandbox.run(&["store", "restore", "copy", "--replace"]).expect_code(0);
    (old.public().fingerprint().to_string(), new.public().fingerprint().to_string())
}

fn write_registry(sandbox: &Sandbox, desk: &Desk, events: &[Recorded]) {
    let store = SqliteStore::create(sandbox.data()).unwrap();
    let entry = |recorded: &Recorded| Entry {
        event: recorded.event.clone(),
        opening: recorded.opening.clone(),
        artifact: None,
        meaning: None,
    };
    let append = Append {
        trace: desk.registry_chain().trace(),
        expected: None,
        entries: events.iter().map(entry).collect(),
        head: desk.head(desk.registry_chain()).unwrap().unwrap(),
        phase: None,
        questions: Vec::new(),
        confirmations: Vec::new(),
        snapshot: None,
    };
    let writer = store.begin_lease(sha256(b"rules")).unwrap().id;
    assert_eq!(store.commit(&[Write::of_events(writer, append)]).unwrap(), [WriteOutcome::Done]);
}

#[test]
fn first_change_after_a_day_retires_the_old_key() {
    let sandbox = Sandbox::new();
    let (old, new) = rotated_hours_ago(&sandbox, 25);
    // Reading retires nothing.
    assert_eq!(status(&sandbox, &old), "rotated");
    assert_snapshot!(sandbox.run(&["keys", "new", "alice", "--role", "planner"]), @r"
    exit 0
    --- stdout
    Registered: alice can now sign as planner.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    Also retired the earlier key [KEY] of eve. Its secret was removed from this data folder.
    ");
    assert_eq!((status(&sandbox, &old), status(&sandbox, &new)), ("retired".to_owned(), "active".to_owned()));
    assert!(!sandbox.data().join(format!("keys/{old}.key")).exists());
    assert!(sandbox.data().join(format!("keys/{new}.key")).exists());
}

#[test]
fn nothing_is_retired_within_the_day() {
    let sandbox = Sandbox::new();
    let (old, _) = rotated_hours_ago(&sandbox, 23);
    sandbox.run(&["keys", "new", "alice", "--role", "planner"]).expect_code(0);
    assert_eq!(status(&sandbox, &old), "rotated");
}
