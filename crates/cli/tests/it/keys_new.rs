//! `demur keys new`.

use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn first_key_creates_the_registry() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["keys", "new", "alice", "--role", "planner"]), @r"
    exit 0
    --- stdout
    Created a key registry here; its desk signs with key [KEY].
    Registered: alice can now sign as planner.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    --- stderr
    Made the data folder [DIR]/data.
    ");
    assert_snapshot!(sandbox.run(&["keys", "new", "bob", "--role", "executor"]), @r"
    exit 0
    --- stdout
    Registered: bob can now sign as executor.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    ");
}

#[test]
fn recovery_key_goes_to_its_file_and_nowhere_else() {
    let sandbox = Sandbox::new();
    let arguments = ["keys", "new", "alice", "--role", "critic", "--recovery", "alice.recovery"];
    assert_snapshot!(sandbox.run(&arguments), @r"
    exit 0
    --- stdout
    Created a key registry here; its desk signs with key [KEY].
    Registered: alice can now sign as critic.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
      recovery     alice.recovery
    Move the recovery file away from this machine: it replaces a lost key.
    --- stderr
    Made the data folder [DIR]/data.
    ");
    let file = std::fs::read_to_string(sandbox.path("alice.recovery")).unwrap();
    let recovery: serde_json::Value = serde_json::from_str(&file).unwrap();
    let seed = recovery["seed"].as_str().unwrap();
    for (path, (_, bytes)) in sandbox.files() {
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        assert!(!text.contains(seed), "{} holds the recovery key", path.display());
    }
}

#[test]
fn recovery_file_is_never_overwritten() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("mine"), "precious").unwrap();
    let arguments = ["keys", "new", "alice", "--role", "critic", "--recovery", "mine"];
    assert_snapshot!(sandbox.run(&arguments), @r"
    exit 2
    --- stderr
    error: expected no file at mine, found one
    hint: secrets are never overwritten: name a new file
    ");
    assert_eq!(std::fs::read(sandbox.path("mine")).unwrap(), b"precious");
    assert!(!sandbox.data().exists());
}

#[test]
fn secret_goes_to_the_named_file_and_nowhere_else() {
    let sandbox = Sandbox::new();
    let arguments = ["keys", "new", "cleo", "--role", "critic", "--out", "cleo.key"];
    assert_snapshot!(sandbox.run(&arguments), @r"
    exit 0
    --- stdout
    Created a key registry here; its desk signs with key [KEY].
    Registered: cleo can now sign as critic.
      fingerprint  [FINGERPRINT]
      secret       cleo.key
    This data folder has no copy of the secret: whoever holds the file is cleo.
    --- stderr
    Made the data folder [DIR]/data.
    ");
    let file = sandbox.path("cleo.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let key: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&key["name"], &key["role"]), (&"cleo".into(), &"critic".into()));
    let shown = sandbox.json(&["keys", "show", "cleo"]);
    assert_eq!((&shown["key"]["principal"], &shown["key"]["status"]), (&key["principal"], &"active".into()));
    let seed = key["seed"].as_str().unwrap();
    for (path, (_, bytes)) in sandbox.files() {
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        assert!(!text.contains(seed), "{} holds the secret", path.display());
    }
}

#[test]
fn file_of_a_secret_is_never_overwritten() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("mine"), "precious").unwrap();
    let arguments = ["keys", "new", "cleo", "--role", "critic", "--out", "mine", "--recovery", "new"];
    assert_snapshot!(sandbox.run(&arguments), @r"
    exit 2
    --- stderr
    error: expected no file at mine, found one
    hint: secrets are never overwritten: name a new file
    ");
    assert_eq!(std::fs::read(sandbox.path("mine")).unwrap(), b"precious");
    assert!(!sandbox.data().exists() && !sandbox.path("new").exists());
}

#[test]
fn secret_and_recovery_key_cannot_share_a_file() {
    let sandbox = Sandbox::new();
    let arguments = ["keys", "new", "cleo", "--role", "critic", "--out", "one", "--recovery", "one"];
    assert_eq!(sandbox.json_error(&arguments, 2)["code"], "FILE_EXISTS");
    assert!(!sandbox.data().exists() && !sandbox.path("one").exists());
}

#[test]
fn file_of_a_secret_goes_away_if_the_key_is_not_registered() {
    let sandbox = Sandbox::with_keys();
    let before = sandbox.contents();
    sandbox.run(&["keys", "new", "alice", "--role", "critic", "--out", "alice.key"]).expect_code(3);
    assert_eq!(sandbox.contents(), before);
    assert!(!sandbox.path("alice.key").exists());
}

#[test]
fn every_role_can_be_registered() {
    let sandbox = Sandbox::new();
    for role in ["planner", "executor", "critic", "auditor", "operator"] {
        let reply = sandbox.json(&["keys", "new", role, "--role", role]);
        assert_eq!(reply["role"], role);
    }
    let keys = sandbox.json(&["keys", "list"])["keys"].as_array().unwrap().len();
    assert_eq!(keys, 6);
}

#[test]
fn name_in_use_is_refused_and_nothing_changes() {
    let sandbox = Sandbox::with_keys();
    let before = sandbox.contents();
    assert_snapshot!(sandbox.run(&["keys", "new", "alice", "--role", "critic"]), @r#"
    exit 3
    --- stderr
    error: expected a name that is free, found "alice" in use by key [KEY] as planner
    hint: a name is one holder in one role: choose another, or give its holder a new key with `demur keys rotate`
    "#);
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn name_of_a_revoked_key_is_free_again() {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "revoke", "alice", "--reason", "withdrawn"]).expect_code(0);
    sandbox.run(&["keys", "new", "alice", "--role", "critic"]).expect_code(0);
    assert_eq!(sandbox.json(&["keys", "show", "alice"])["key"]["roles"][0], "critic");
}

#[test]
fn names_that_deceive_are_refused() {
    let sandbox = Sandbox::new();
    let long = "a".repeat(65);
    for name in ["", " ", "a\nb", "a\u{1b}[31mb", "a\u{202e}b", "desk", &long] {
        let error = sandbox.json_error(&["keys", "new", name, "--role", "planner"], 2);
        assert_eq!(error["code"], "USAGE", "{name:?}");
    }
    assert!(!sandbox.data().exists());
}

#[test]
fn answer_for_programs_has_everything_public() {
    let sandbox = Sandbox::new();
    let reply = sandbox.json(&["keys", "new", "alice", "--role", "planner", "--recovery", "r"]);
    let names: Vec<&String> = reply.as_object().unwrap().keys().collect();
    assert_snapshot!(names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" "), @r"created_store desk event fingerprint kept key_file name principal public_key recovery retired role store strangers");
    assert_eq!((&reply["created_store"], &reply["event"]), (&true.into(), &1.into()));
    assert_eq!(reply["recovery"]["file"], "r");
}

#[test]
fn keys_of_no_registry_are_left_alone() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(sandbox.data().join(file));
    }
    // What lies beside the database says that there was a registry: nothing new takes its place.
    for file in ["registry-head.json", "store-root.json"] {
        let refused = sandbox.json_error(&["keys", "new", "alice", "--role", "planner"], 2);
        assert_eq!(refused["code"], "STORE_DAMAGED", "{refused}");
        std::fs::remove_file(sandbox.data().join(file)).unwrap();
    }
    assert_snapshot!(sandbox.run(&["keys", "new", "alice", "--role", "planner"]), @r"
    exit 0
    --- stdout
    Created a key registry here; its desk signs with key [KEY].
    Note: the folder held keys of no registry. They were left alone.
    Registered: alice can now sign as planner.
      fingerprint  [FINGERPRINT]
      secret       [DIR]/data/keys/[FINGERPRINT].key
    ");
    assert_eq!(std::fs::read_dir(sandbox.data().join("keys")).unwrap().count(), 5);
}

#[test]
fn data_folder_comes_from_option_variable_or_home() {
    let sandbox = Sandbox::new();
    let new = ["keys", "new", "alice", "--role", "planner"];
    sandbox.run(&[&new[..], &["--data", "named"]].concat()).expect_code(0);
    assert!(sandbox.path("named/ledger.db").is_file());
    let run = |variables: &[(&str, &std::path::Path)]| {
        let mut command = sandbox.command(&new);
        command.env_remove("DEMUR_DATA").envs(variables.iter().copied());
        sandbox.ran(command.output().unwrap()).expect_code(0);
    };
    run(&[]);
    assert!(sandbox.path("home/.local/share/demur/ledger.db").is_file());
    run(&[("XDG_DATA_HOME", &sandbox.path("shared"))]);
    assert!(sandbox.path("shared/demur/ledger.db").is_file());
    assert!(!sandbox.data().exists());
}

#[test]
fn without_any_folder_the_cure_is_named() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["keys", "list"]);
    command.env_clear();
    assert_snapshot!(sandbox.ran(command.output().unwrap()), @r"
    exit 2
    --- stderr
    error: expected a data folder, found neither --data nor DEMUR_DATA, XDG_DATA_HOME or HOME
    hint: name one with --data DIR
    ");
}

#[test]
fn folder_that_cannot_be_made_is_bad_input() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("file"), "").unwrap();
    assert_snapshot!(sandbox.run(&["keys", "new", "a", "--role", "planner", "--data", "file/in"]), @r"
    exit 2
    --- stderr
    error: cannot read file/in/ledger.db: Not a directory (os error 20)
    hint: nothing was changed; name another data folder with --data
    ");
}
