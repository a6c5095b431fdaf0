//! `demur keys show`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn shows_everything_public() {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["keys", "show", "alice"]), @r"
    exit 0
    --- stdout
    alice
      role         planner
      status       active
      fingerprint  [FINGERPRINT]
      public key   [FINGERPRINT]
      principal    [ULID]
      origin       first key of its holder; that it belongs to this name is the desk's word
      since        [TIME] (registry event 1)
      recovery     key [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    ");
}

#[test]
fn tells_how_a_key_came_in_and_what_became_of_it() {
    let sandbox = Sandbox::with_keys();
    let old = sandbox.fingerprint("alice");
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["keys", "show", &old[..8]]), @r"
    exit 0
    --- stdout
    alice
      role         planner
      status       rotated (retires after [TIME])
      fingerprint  [FINGERPRINT]
      public key   [FINGERPRINT]
      principal    [ULID]
      origin       first key of its holder; that it belongs to this name is the desk's word
      since        [TIME] (registry event 1)
      rotated      [TIME] (registry event 3)
      recovery     none
      secret       [DIR]/data/keys/[FINGERPRINT].key
    ");
    let note = "stolen with the laptop";
    sandbox.run(&["keys", "revoke", "alice", "--reason", "compromised", "--note", note]).expect_code(0);
    let new = sandbox.json(&["keys", "list"])["keys"][3]["fingerprint"].as_str().unwrap().to_owned();
    assert_snapshot!(sandbox.run(&["keys", "show", &new]), @r"
    exit 0
    --- stdout
    alice
      role         planner
      status       revoked (compromised)
      fingerprint  [FINGERPRINT]
      public key   [FINGERPRINT]
      principal    [ULID]
      origin       named by the key before it
      since        [TIME] (registry event 3)
      revoked      [TIME] (registry event 4), compromised
      note         stolen with the laptop
      recovery     none
      secret       not in this data folder
    ");
}

#[test]
fn desk_can_be_shown() {
    let key = &Sandbox::with_keys().json(&["keys", "show", "desk"])["key"];
    assert_eq!((&key["roles"][0], &key["status"]), (&"desk".into(), &"active".into()));
}

#[test]
fn unknown_name_lists_those_there_are() {
    assert_snapshot!(Sandbox::with_keys().run(&["keys", "show", "alicia"]), @r#"
    exit 2
    --- stderr
    error: expected the name or fingerprint of a key, found none called "alicia"
    hint: there are: "alice", "bob", "desk"; `demur keys list` shows them
    "#);
    assert_snapshot!(Sandbox::new().run(&["keys", "show", "alice"]), @r#"
    exit 2
    --- stderr
    error: expected the name or fingerprint of a key, found none called "alice"
    hint: there are no keys yet: make one with `demur keys new NAME --role ROLE`
    "#);
}

#[test]
fn name_of_two_holders_lists_both() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    sandbox.run(&["keys", "new", "alice", "--role", "critic"]).expect_code(0);
    sandbox.run(&["keys", "revoke", "alice", "--reason", "lost"]).expect_code(0);
    assert_snapshot!(sandbox.run(&["keys", "show", "alice"]), @r#"
    exit 2
    --- stderr
    error: expected one key, found 2 for "alice"
    hint: say which by the beginning of its fingerprint: [KEY] ("alice", planner, revoked (lost)); [KEY] ("alice", critic, revoked (lost))
    "#);
}
