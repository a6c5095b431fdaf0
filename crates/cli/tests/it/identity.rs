//! `demur identity register`, `rotate` and `revoke`.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Returns a sandbox with the keys alice and alice-2, and one whose name no agent can have.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_keys();
    sandbox.run(&["keys", "new", "alice-2", "--role", "planner"]).expect_code(0);
    sandbox.run(&["keys", "new", "build robot", "--role", "executor"]).expect_code(0);
    sandbox
}

/// CLR-72: registered, rotated and revoked; the documents alone say what the identity is.
#[test]
fn identity_is_registered_rotated_and_revoked() {
    let sandbox = sandbox();
    let before = sandbox.contents();
    let said = [
        sandbox.run(&["identity", "register", "alice", "--expires", "9000-01-01T00:00:00Z", "--out", "1"]),
        sandbox.run(&["identity", "rotate", "alice", "--to", "alice-2", "--out", "2"]),
        sandbox.run(&[
            "identity",
            "revoke",
            "alice-2",
            "--agent-id",
            "alice",
            "--reason",
            "retired",
            "--out",
            "3",
        ]),
    ];
    assert_snapshot!(said.map(|ran| ran.to_string()).join(""), @r"
    exit 0
    --- stdout
    Signed: the registration of alice, in 1
      key           ed25519:[FINGERPRINT]
      send it by    [TIME]
    Nothing was changed here: the registry is changed by `demur keys`.
    Check it: demur identity verify 1
    exit 0
    --- stdout
    Signed: a rotation of alice, in 2
      key           ed25519:[FINGERPRINT]
      new key       ed25519:[FINGERPRINT]
      old key ends  [TIME], if it is received now
      send it by    [TIME]
    Nothing was changed here: the registry is changed by `demur keys`.
    exit 0
    --- stdout
    Signed: the revocation of alice, in 3
      key           ed25519:[FINGERPRINT]
      send it by    [TIME]
    Nothing was changed here: the registry is changed by `demur keys`.
    ");
    assert_eq!(sandbox.contents(), before, "documents change nothing");
    let status = |files: &[&str], code: i32| {
        let ran = sandbox.run(&[&["identity", "verify", "--json"], files].concat());
        let reply: Value = serde_json::from_str(&ran.expect_code(code).stdout).unwrap();
        assert!(reply["holds"].as_bool().unwrap(), "{ran}");
        reply["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(&["1"], 0), "active");
    assert_eq!(status(&["1", "2"], 0), "rotating");
    assert_eq!(status(&["1", "2", "3"], 1), "revoked");
}

#[test]
fn message_goes_to_standard_output_as_it_is() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["identity", "register", "alice", "--did", "did:web:example.org"]);
    let message: Value = serde_json::from_str(&ran.expect_code(0).stdout).unwrap();
    let payload = &message["message"]["payload"];
    assert_eq!(payload["type"], "wwa.identity.register");
    assert_eq!((&payload["did"], &payload["expires_at"]), (&"did:web:example.org".into(), &Value::Null));
    let key = &sandbox.json(&["keys", "show", "alice"])["key"];
    assert_eq!(payload["public_key"], format!("ed25519:{}", key["public_key"].as_str().unwrap()));
    assert_eq!(payload["created_at"].as_str().unwrap()[..19], key["since"]["time"].as_str().unwrap()[..19]);
    let verified = sandbox.feed(&["identity", "verify", "-"], ran.stdout.as_bytes());
    assert!(verified.expect_code(0).stdout.starts_with("Holds: 1 message of alice\n"), "{verified}");
}

#[test]
fn programs_are_told_what_was_signed() {
    let sandbox = sandbox();
    let reply = sandbox.json(&["identity", "rotate", "alice", "--to", "alice-2"]);
    assert_eq!((&reply["kind"], &reply["agent_id"]), (&"rotate".into(), &"alice".into()));
    assert_eq!(reply["signed"]["message"]["payload"]["new_public_key"], reply["new_public_key"]);
    let signed = reply["signed"]["message"]["timestamp"].as_str().unwrap();
    let ends = reply["old_key_expires"].as_str().unwrap();
    // 24 hours later: another day at the same time of it.
    let clock = |time: &str| time.split_once('T').unwrap().1.to_owned();
    assert_eq!(clock(signed), clock(ends));
    assert!(ends > signed);
    assert_eq!(reply["file"], Value::Null);
    let reply = sandbox.json(&["identity", "revoke", "bob", "--reason", "compromised", "--out", "end"]);
    assert_eq!(
        (&reply["file"], &reply["signed"]["message"]["payload"]["reason"]),
        (&"end".into(), &"compromised".into())
    );
    assert_eq!(
        serde_json::from_slice::<Value>(&fs::read(sandbox.path("end")).unwrap()).unwrap(),
        reply["signed"]
    );
}

/// After `demur keys rotate` the old key is meant by its fingerprint; the agent keeps its name.
#[test]
fn rotation_follows_one_of_the_registry() {
    let sandbox = Sandbox::with_keys();
    let old = sandbox.fingerprint("alice");
    sandbox.run(&["identity", "register", "alice", "--out", "1"]).expect_code(0);
    sandbox.run(&["keys", "rotate", "alice"]).expect_code(0);
    sandbox.run(&["identity", "rotate", &old[..12], "--to", "alice", "--out", "2"]).expect_code(0);
    let reply = sandbox.json(&["identity", "verify", "1", "2"]);
    assert_eq!((&reply["agent_id"], &reply["status"]), (&"alice".into(), &"rotating".into()));
}

#[test]
fn keys_that_cannot_sign_are_refused() {
    let sandbox = sandbox();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    sandbox.run(&["keys", "revoke", "carol", "--reason", "lost"]).expect_code(0);
    sandbox.run(&["keys", "new", "cleo", "--role", "critic", "--out", "cleo.key"]).expect_code(0);
    fs::write(sandbox.path("taken"), "mine").unwrap();
    let calls: [&[&str]; 9] = [
        &["register", "nobody"],
        &["register", "build robot"],
        &["register", "carol"],
        &["register", "cleo"],
        &["register", "alice", "--expires", "2020-01-01T00:00:00Z"],
        &["register", "alice", "--expires", "tomorrow"],
        &["register", "alice", "--agent-id", "two words"],
        &["rotate", "alice", "--to", "alice"],
        &["register", "alice", "--out", "taken"],
    ];
    let told: Vec<String> =
        calls.iter().map(|call| sandbox.run(&[&["identity"], *call].concat()).to_string()).collect();
    assert_snapshot!(told.join(""), @r#"
    exit 2
    --- stderr
    error: expected the name or fingerprint of a key, found none called "nobody"
    hint: there are: "alice", "alice-2", "bob", "build robot", "carol", "cleo", "desk"; `demur keys list` shows them
    exit 2
    --- stderr
    error: expected the name of an agent, visible and without spaces, found "build robot"
    hint: say how the agent is called with --agent-id ID
    exit 3
    --- stderr
    error: expected a key that may speak, found that key [KEY] is revoked
    hint: make another with `demur keys new`, and register that
    exit 2
    --- stderr
    error: cannot read [DIR]/data/keys/[FINGERPRINT].key: No such file or directory (os error 2)
    hint: only a key whose secret is in this data folder can sign here
    exit 2
    --- stderr
    error: expires_at: expected a time to come, found one that is past
    hint: name a later time with --expires
    exit 2
    --- stderr
    error: --expires: expected a time as YYYY-MM-DDTHH:MM:SS.mmmZ, found 8 bytes
    hint: `demur identity register --help` shows what can be typed
    exit 2
    --- stderr
    error: --agent-id: AgentId: expected 1 to 200 visible characters without spaces, found "two words"
    hint: `demur identity register --help` shows what can be typed
    exit 3
    --- stderr
    error: new_public_key: expected a key that this identity never had, found an old one
    hint: make another key with `demur keys new`, and name it with --to
    exit 2
    --- stderr
    error: cannot write the message to taken: File exists (os error 17)
    hint: nothing is overwritten: name a new file
    "#);
    assert_eq!(fs::read(sandbox.path("taken")).unwrap(), b"mine");
    assert_eq!(sandbox.json_error(&["identity", "register", "carol"], 3)["code"], "KEY_STANDING");
    assert_eq!(Sandbox::new().json_error(&["identity", "register", "alice"], 2)["code"], "KEY_UNKNOWN");
}

#[test]
fn secrets_are_never_printed() {
    let sandbox = sandbox();
    let file: Value = serde_json::from_slice(&fs::read(sandbox.key_file("alice")).unwrap()).unwrap();
    let seed = file["seed"].as_str().unwrap();
    assert_eq!(seed.len(), 64);
    for json in [&[][..], &["--json"]] {
        let ran = sandbox.run(&[&["identity", "register", "alice"], json].concat());
        assert!(!ran.expect_code(0).stdout.contains(seed));
    }
}

/// CLR-72, CLR-23: each signature, by a foreign library over bytes made from the documents.
#[test]
fn signatures_verify_with_a_foreign_library() {
    let sandbox = sandbox();
    let run =
        |arguments: &[&str]| sandbox.run(&[&["identity"], arguments].concat()).expect_code(0).stdout.clone();
    let messages = [
        run(&["register", "alice"]),
        run(&["rotate", "alice", "--to", "alice-2"]),
        run(&["revoke", "alice-2", "--agent-id", "alice", "--reason", "retired"]),
    ];
    let interpreter = std::env::var_os("DEMUR_PYTHON");
    let mut python = Command::new(interpreter.expect("DEMUR_PYTHON is not set: run `cargo xtask test`"));
    let python = python.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = python.spawn().unwrap();
    child.stdin.take().unwrap().write_all(messages.concat().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "4 hold, 4 forged\n");
}

const SCRIPT: &str = r#"
import json, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
hold = forged = 0

def check(key, value, signature):
    global hold, forged
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.removeprefix("ed25519:")))
    signature = bytes.fromhex(signature.removeprefix("ed25519:"))
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    key.verify(signature, written)
    hold += 1
    try:
        key.verify(signature, written + b" ")
    except InvalidSignature:
        forged += 1

register, rotate, revoke = map(json.loads, sys.stdin)
old = register["message"]["payload"]["public_key"]
check(old, register["message"], register["signature"])
check(old, rotate["message"], rotate["signature"])
message = rotate["message"]
new = message["payload"]["new_public_key"]
possession = {"type": "wwa.identity.possession", "agent_id": message["agent_id"], "public_key": new,
              "timestamp": message["timestamp"]}
check(new, possession, message["payload"]["new_key_signature"])
check(new, revoke["message"], revoke["signature"])
print(f"{hold} hold, {forged} forged")
"#;
