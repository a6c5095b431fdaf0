//! `demur keys revoke`.

use demur_core::merkle::{self, Scheme};
use demur_ledger::signed::TraceLeaf;
use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn revoked_key_loses_its_voice_and_its_secret() {
    let sandbox = Sandbox::with_keys();
    let file = sandbox.key_file("alice");
    assert_snapshot!(sandbox.run(&["keys", "revoke", "alice", "--reason", "withdrawn"]), @r"
    exit 0
    --- stdout
    Revoked: key [KEY] of alice may no longer speak (reason: withdrawn).
      recorded     [TIME] (registry event 3)
    Its secret was removed from this data folder.
    ");
    assert!(!file.exists());
    let key = &sandbox.json(&["keys", "show", "alice"])["key"];
    assert_eq!((&key["status"], &key["revoked"]["reason"]), (&"revoked".into(), &"withdrawn".into()));
    assert_snapshot!(sandbox.run(&["keys", "rotate", "alice"]), @r"
    exit 3
    --- stderr
    error: expected a key that may speak, found that key [KEY] is revoked
    hint: it has no recovery key: register a new key with `demur keys new`
    ");
}

#[test]
fn second_revocation_is_refused_by_the_registry() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]), @r"
    exit 3
    --- stderr
    error: expected a key that may still speak, found key [KEY] of alice, which is revoked already
    hint: no key of alice speaks any more; `demur keys list` shows those of others
    ");
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn refusal_for_programs_has_code_field_and_cure() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    let error = sandbox.json_error(&["keys", "revoke", "alice", "--reason", "lost"], 3);
    assert_eq!((&error["code"], &error["field"]), (&"KEY_STATE".into(), &"facts.key".into()));
    assert!(error["hint"].as_str().unwrap().starts_with("no key of alice speaks any more; "), "{error}");
}

#[test]
fn earlier_key_that_still_speaks_is_mentioned() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["keys", "revoke", "alice", "--reason", "compromised"]), @r"
    exit 0
    --- stdout
    Revoked: key [KEY] of alice may no longer speak (reason: compromised).
      recorded     [TIME] (registry event 4)
    Its secret was removed from this data folder.
    Note: alice still speaks with key [KEY].
    ");
}

#[test]
fn secret_that_lies_elsewhere_is_mentioned() {
    let sandbox = Sandbox::with_keys();
    std::fs::remove_file(sandbox.key_file("alice")).unwrap();
    assert_snapshot!(sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]), @r"
    exit 0
    --- stdout
    Revoked: key [KEY] of alice may no longer speak (reason: lost).
      recorded     [TIME] (registry event 3)
    Its secret was not in this data folder: destroy it wherever it is.
    ");
}

#[test]
fn desk_cannot_revoke_the_key_it_signs_with() {
    let sandbox = Sandbox::with_keys();
    assert_snapshot!(sandbox.run(&["keys", "revoke", "desk", "--reason", "compromised"]), @r"
    exit 3
    --- stderr
    error: expected a key that the desk does not sign with, found its key [KEY]
    hint: first `demur keys rotate desk`, then `demur keys revoke [KEY] --reason ...`
    ");
    let old = sandbox.fingerprint("desk");
    sandbox.run(&["keys", "rotate", "desk"]).expect_code(0);
    sandbox.run(&["keys", "revoke", &old, "--reason", "compromised"]).expect_code(0);
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
}

#[test]
fn root_covers_the_registry_up_to_the_revocation() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    let lines = sandbox.registry();
    // Header, three events, the revocation, the head.
    let event = &lines[4]["event"]["event"];
    let facts = &event["statement"]["facts"];
    let leaf = TraceLeaf {
        head: event["previous"].as_str().unwrap().parse().unwrap(),
        length: 3.try_into().unwrap(),
        trace: event["trace"].as_str().unwrap().parse().unwrap(),
    };
    let root = merkle::root(Scheme::DEMUR, &[leaf.hash().unwrap()]);
    assert_eq!(
        (facts["root"].as_str(), facts["traces"].as_u64()),
        (Some(root.to_string().as_str()), Some(1))
    );
}

#[test]
fn note_is_kept_and_limited() {
    let sandbox = Sandbox::with_keys();
    let long = "x".repeat(4097);
    sandbox.json_error(&["keys", "revoke", "alice", "--reason", "lost", "--note", &long], 2);
    sandbox.json_error(&["keys", "revoke", "alice", "--reason", "lost", "--note", ""], 2);
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost", "--note", &long[1..]]).expect_code(0);
    assert_eq!(sandbox.json(&["keys", "show", "alice"])["key"]["revoked"]["note"], &long[1..]);
}

#[test]
fn reason_is_required_and_one_of_three() {
    let sandbox = Sandbox::with_keys();
    sandbox.json_error(&["keys", "revoke", "alice"], 2);
    sandbox.json_error(&["keys", "revoke", "alice", "--reason", "bored"], 2);
    assert_eq!(sandbox.json(&["keys", "show", "alice"])["key"]["status"], "active");
}

#[test]
fn key_that_is_revoked_already_is_told_with_those_that_speak() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]), @r"
    exit 3
    --- stderr
    error: expected a key that may still speak, found key [KEY] of alice, which is revoked already
    hint: no key of alice speaks any more; `demur keys list` shows those of others
    ");
    let before = sandbox.fingerprint("bob");
    sandbox.run(&["keys", "rotate", "bob"]).expect_code(0);
    sandbox.run(&["keys", "revoke", &before, "--reason", "lost"]).expect_code(0);
    let refused = sandbox.run(&["keys", "revoke", &before, "--reason", "lost"]);
    let living = &sandbox.fingerprint("bob")[..16];
    let command = format!("`demur keys revoke {living} --reason REASON` revokes it");
    assert!(refused.expect_code(3).stderr.contains(&command), "{refused}");
}
