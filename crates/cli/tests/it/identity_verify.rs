//! `demur identity verify`: on messages that were made here with known keys and times.

use std::fs;

use demur_clarify::{
    identity::{FreePayload, Register, RevocationReason, Revoke, Rotate, SignedMessage},
    seal::Signer,
    time::Time,
};
use demur_core::{canonical, key::SecretKey};
use insta::assert_snapshot;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

fn time(text: &str) -> Time {
    format!("2026-05-{text}Z").parse().unwrap()
}

/// Returns alice with one of her keys, or mallory.
fn signer(name: &str, number: u8) -> Signer {
    Signer::new(name.parse().unwrap(), SecretKey::from_seed(&[number; 32]))
}

fn alice(number: u8) -> Signer {
    signer("alice", number)
}

fn signed<P: Serialize + DeserializeOwned>(payload: P, at: &str, by: &Signer) -> String {
    let message = SignedMessage::sign(payload, time(at), by).unwrap();
    String::from_utf8(canonical::to_vec(&message).unwrap()).unwrap()
}

/// Registered on the 10th; the key ends by itself on the 30th.
fn registration() -> String {
    signed(Register::new(&alice(1), time("10T12:00:00"), Some(time("30T00:00:00"))), "10T12:00:00", &alice(1))
}

fn rotation(new: u8, at: &str, by: u8) -> String {
    signed(Rotate::new(&alice(new), time(at)).unwrap(), at, &alice(by))
}

fn revocation(at: &str, by: &Signer) -> String {
    signed(Revoke::new(RevocationReason::Retired), at, by)
}

fn other(at: &str, by: &Signer) -> String {
    let payload: FreePayload = serde_json::from_value(json!({"says": "hello", "n": 1})).unwrap();
    signed(payload, at, by)
}

/// Verifies messages, one on each line, at a time.
fn verify(messages: &[String], options: &[&str]) -> Ran {
    Sandbox::new().feed(&[&["identity", "verify", "-"], options].concat(), messages.join("\n").as_bytes())
}

/// Returns what a verification says to programs.
fn reply(messages: &[String], options: &[&str], code: i32) -> Value {
    let ran = verify(messages, &[&["--json"], options].concat());
    serde_json::from_str(&ran.expect_code(code).stdout).unwrap()
}

fn at(day: &str) -> String {
    time(day).to_string()
}

/// CLR-72: 24 hours of overlap, then the new key alone, then none.
#[test]
fn status_follows_the_messages_and_the_time() {
    let chain = [registration(), rotation(2, "11T12:00:00", 1), revocation("20T12:00:00", &alice(2))];
    let status = |day: &str, code: i32| {
        let reply = reply(&chain, &["--at", &at(day)], code);
        assert!(reply["holds"].as_bool().unwrap());
        (reply["status"].as_str().unwrap().to_owned(), reply["keys"].as_array().unwrap().len())
    };
    assert_eq!(status("09T12:00:00", 1), ("not_yet_valid".to_owned(), 0));
    assert_eq!(status("10T12:00:00", 0), ("active".to_owned(), 1));
    assert_eq!(status("11T12:00:00", 0), ("rotating".to_owned(), 2));
    assert_eq!(status("12T11:59:59.999", 0), ("rotating".to_owned(), 2));
    assert_eq!(status("12T12:00:00", 0), ("active".to_owned(), 1));
    assert_eq!(status("20T12:00:00", 1), ("revoked".to_owned(), 0));
    let later = signed(Register::new(&alice(1), time("12T12:00:00"), None), "10T12:00:00", &alice(1));
    assert_eq!(reply(&[later], &["--at", &at("11T12:00:00")], 1)["status"], "not_yet_valid");
    let unused = [registration()];
    let reply = reply(&unused, &["--at", &at("30T00:00:00")], 1);
    assert_eq!((&reply["status"], &reply["reason"]), (&"expired".into(), &"expired".into()));
}

#[test]
fn answer_is_told_in_words() {
    let chain = [registration(), rotation(2, "11T12:00:00", 1)];
    let now = at("11T13:00:00");
    let key = alice(1).public_key().to_string();
    let said = [
        verify(&chain, &["--at", &now]),
        verify(&chain[..1], &["--at", &now, "--key", &key]),
        verify(&chain[1..], &["--at", &now, "--key", &key]),
        verify(&[registration(), revocation("10T13:00:00", &alice(1))], &["--at", &now]),
        verify(&[registration(), revocation("10T13:00:00", &alice(3))], &["--at", &now]),
    ];
    assert_snapshot!(said.map(|ran| ran.to_string()).join(""), @r"
    exit 0
    --- stdout
    Holds: 2 messages of alice
      status   rotating at 2026-05-11T13:00:00Z
      old key  ends at 2026-05-12T12:00:00Z
      key      ed25519:[FINGERPRINT]
      key      ed25519:[FINGERPRINT]
      anchor   none: the registration vouches for itself; compare its key, or give it with --key
    exit 0
    --- stdout
    Holds: 1 message of alice
      status   active at 2026-05-11T13:00:00Z
      key      ed25519:[FINGERPRINT]
      anchor   the registration names the key you gave
    exit 0
    --- stdout
    Holds: 1 message of alice
      status   not known: only signatures were checked; --identity FILE says more
      key      ed25519:[FINGERPRINT]
      anchor   the key you gave
    exit 1
    --- stdout
    Not valid: alice has no valid key at that time; 2 messages checked, all hold
      status   revoked at 2026-05-11T13:00:00Z
      anchor   none: the registration vouches for itself; compare its key, or give it with --key
    exit 1
    --- stdout
    Does not hold: message 2 of 2, standard input:2
      reason   signature_mismatch
      problem  signature: expected a signature by a key of alice that was valid then, found another
    ");
    assert_snapshot!(verify(&chain, &["--json", "--at", &now]), @r#"
    exit 0
    --- stdout
    {"agent_id":"alice","anchor":"own_word","at":"2026-05-11T13:00:00Z","holds":true,"keys":["ed25519:[FINGERPRINT]","ed25519:[FINGERPRINT]"],"messages":[{"agent_id":"alice","kind":"register","place":"standard input:1","timestamp":"2026-05-10T12:00:00Z"},{"agent_id":"alice","kind":"rotate","place":"standard input:2","timestamp":"2026-05-11T12:00:00Z"}],"old_key_expires":"2026-05-12T12:00:00Z","problem":null,"reason":null,"status":"rotating","valid":true}
    "#);
}

/// Each way in which a history does not hold has its word.
#[test]
fn broken_histories_have_typed_reasons() {
    let changed = registration().replace("2026-05-30", "2027-05-30");
    let mut unproven = Rotate::new(&alice(2), time("11T12:00:00")).unwrap();
    unproven.new_key_signature = Rotate::new(&alice(2), time("11T12:00:01")).unwrap().new_key_signature;
    let cases: [(&str, Vec<String>); 11] = [
        ("signature_mismatch", vec![changed]),
        ("signature_mismatch", vec![registration(), rotation(2, "11T12:00:00", 3)]),
        // The old key has ended.
        (
            "signature_mismatch",
            vec![registration(), rotation(2, "11T12:00:00", 1), rotation(3, "13T12:00:00", 1)],
        ),
        ("possession_mismatch", vec![registration(), signed(unproven, "11T12:00:00", &alice(1))]),
        ("agent_mismatch", vec![registration(), revocation("11T12:00:00", &signer("mallory", 1))]),
        ("registered_twice", vec![registration(), registration()]),
        ("rotating", vec![registration(), rotation(2, "11T12:00:00", 1), rotation(3, "12T11:00:00", 2)]),
        ("key_reused", vec![registration(), rotation(2, "11T12:00:00", 1), rotation(1, "13T12:00:00", 2)]),
        ("out_of_order", vec![registration(), rotation(2, "10T11:00:00", 1)]),
        (
            "revoked",
            vec![registration(), revocation("11T12:00:00", &alice(1)), rotation(2, "12T12:00:00", 1)],
        ),
        ("expired", vec![registration(), rotation(2, "30T12:00:00", 1)]),
    ];
    for (reason, messages) in cases {
        let reply = reply(&messages, &["--at", &at("13T13:00:00")], 1);
        assert_eq!(reply["reason"], reason, "{reply}");
        assert_eq!((&reply["valid"], &reply["holds"]), (&false.into(), &false.into()));
        assert_eq!((&reply["problem"]["message"], &reply["status"]), (&messages.len().into(), &Value::Null));
    }
    let wrong = alice(2).public_key().to_string();
    assert_eq!(reply(&[registration()], &["--key", &wrong], 1)["reason"], "key_mismatch");
}

/// With --identity, FILE is what arrived at the time of --at, and has to be fresh.
#[test]
fn what_arrives_is_judged_by_what_is_known() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("known"), registration()).unwrap();
    let judge = |message: &str, now: &str, code: i32| -> Value {
        let call = ["identity", "verify", "-", "--identity", "known", "--json", "--at", &at(now)];
        serde_json::from_str(&sandbox.feed(&call, message.as_bytes()).expect_code(code).stdout).unwrap()
    };
    let hello = other("11T12:00:00", &alice(1));
    assert_eq!(judge(&hello, "11T12:01:00", 0)["status"], "active");
    assert_eq!(judge(&hello, "11T12:01:00.001", 1)["reason"], "stale");
    assert_eq!(judge(&hello, "11T11:58:59", 1)["reason"], "stale");
    assert_eq!(judge(&other("11T12:00:00", &alice(2)), "11T12:00:00", 1)["reason"], "signature_mismatch");
    let foreign = other("11T12:00:00", &signer("mallory", 1));
    assert_eq!(judge(&foreign, "11T12:00:00", 1)["reason"], "agent_mismatch");
    assert_eq!(judge(&other("30T12:00:00", &alice(1)), "30T12:00:00", 1)["reason"], "expired");
    let rotation = rotation(2, "11T12:00:00", 1);
    let taken = judge(&rotation, "11T12:00:30", 0);
    assert_eq!(
        (&taken["status"], &taken["old_key_expires"]),
        (&"rotating".into(), &at("12T12:00:30").into())
    );
    assert_eq!(judge(&rotation, "11T12:02:00", 1)["reason"], "stale");
    assert_eq!(judge(&registration(), "10T12:00:00", 1)["reason"], "registered_twice");
    let ended = format!("{}\n{}\n", registration(), revocation("11T11:00:00", &alice(1)));
    fs::write(sandbox.path("known"), ended).unwrap();
    assert_eq!(judge(&hello, "11T12:00:00", 1)["reason"], "revoked");
}

/// The key alone says nothing about when it was valid.
#[test]
fn key_alone_checks_signatures_only() {
    let key = alice(1).public_key().to_string();
    for message in
        [rotation(2, "11T12:00:00", 1), revocation("11T12:00:00", &alice(1)), other("11T12:00:00", &alice(1))]
    {
        let reply = reply(&[message], &["--key", &key], 0);
        assert_eq!((&reply["status"], &reply["anchor"]), (&Value::Null, &"key_alone".into()));
    }
    let mut unproven = Rotate::new(&alice(2), time("11T12:00:00")).unwrap();
    unproven.new_key_signature = Rotate::new(&alice(3), time("11T12:00:00")).unwrap().new_key_signature;
    let forged = [
        ("signature_mismatch", vec![other("11T12:00:00", &alice(2))]),
        ("possession_mismatch", vec![signed(unproven, "11T12:00:00", &alice(1))]),
        (
            "agent_mismatch",
            vec![other("11T12:00:00", &alice(1)), other("11T12:00:00", &signer("mallory", 1))],
        ),
    ];
    for (reason, messages) in forged {
        assert_eq!(reply(&messages, &["--key", &key], 1)["reason"], reason);
    }
}

#[test]
fn files_lines_and_layouts_mean_the_same() {
    let sandbox = Sandbox::new();
    let messages = [registration(), rotation(2, "11T12:00:00", 1)];
    fs::write(sandbox.path("lines"), format!("{}\n\n{}\n", messages[0], messages[1])).unwrap();
    for (number, message) in messages.iter().enumerate() {
        let value: Value = serde_json::from_str(message).unwrap();
        fs::write(sandbox.path(&format!("{number}")), serde_json::to_string_pretty(&value).unwrap()).unwrap();
    }
    let now = at("11T13:00:00");
    let status = |files: &[&str]| {
        let reply = sandbox.json(&[&["identity", "verify", "--at", &now], files].concat());
        (reply["status"].clone(), reply["keys"].clone())
    };
    assert_eq!(status(&["lines"]), status(&["0", "1"]));
    assert_eq!(status(&["0", "1"]).0, "rotating");
}

#[test]
fn what_is_no_message_is_told_with_its_place() {
    let sandbox = Sandbox::new();
    let good = registration();
    let cases = [
        ("empty", String::new()),
        ("text", "hello".to_owned()),
        ("shape", "{\"message\": 1}".to_owned()),
        ("member", good.replace("\"identity_version\"", "\"extra\":1,\"identity_version\"")),
        ("key", good.replace("\"public_key\":\"ed25519:", "\"public_key\":\"rsa:")),
        ("time", good.replace("2026-05-10T12:00:00Z\"},\"signature", "2026-05-10\"},\"signature")),
        ("second", format!("{good}\n{{\"message\":{{}}}}\n")),
        ("last", rotation(2, "11T12:00:00", 1)),
    ];
    let mut told = String::new();
    for (name, text) in &cases {
        assert_ne!(*text, good, "{name} is changed");
        fs::write(sandbox.path(name), text).unwrap();
        told += &sandbox.run(&["identity", "verify", name]).to_string();
    }
    assert_snapshot!(told, @r#"
    exit 2
    --- stderr
    error: empty: expected a signed message: expected strict JSON within the limits: expected a value, found the end at byte 0
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: text: expected a signed message: expected strict JSON within the limits: expected a value, found byte 0x68 at byte 0
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: shape: expected a signed message: message: invalid type: integer `1`, expected struct Message
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: member: expected a signed message: message.payload.extra: unknown field `extra`, expected one of `type`, `identity_version`, `public_key`, `created_at`, `expires_at`, `did`
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: key: expected a signed message: message.payload.public_key: expected a text that begins with ed25519:, found 68 bytes that do not
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: time: expected a signed message: message.timestamp: expected a time as YYYY-MM-DDTHH:MM:SS.mmmZ, found 10 bytes
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: second:2: expected a signed message: message: missing field `agent_id`
    hint: a message is {"message": {"agent_id", "timestamp", "payload"}, "signature"}; docs/clarify.md, section 8, has the payloads
    exit 2
    --- stderr
    error: last: expected a registration first, found another message and no key to check it with
    hint: give the agent's earlier messages with --identity FILE, or its key with --key ed25519:HEX
    "#);
}

#[test]
fn what_is_no_file_or_no_key_is_told() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("text"), "hello").unwrap();
    let mut told = String::new();
    for call in [&["none"][..], &["."], &["-", "--identity", "-"], &["text", "--key", "ed25519:00"], &[]] {
        told += &sandbox.run(&[&["identity", "verify"], call].concat()).to_string();
    }
    assert_snapshot!(told, @r"
    exit 2
    --- stderr
    error: cannot read none: No such file or directory (os error 2)
    hint: `ls .` shows what is there
    exit 2
    --- stderr
    error: expected a file, found a folder: .
    hint: `ls .` shows the files in it
    exit 2
    --- stderr
    error: expected standard input once, found it twice
    hint: save one of them to a file first
    exit 2
    --- stderr
    error: --key: expected a public key of 64 lower-case hex digits, found 2 bytes
    hint: `demur identity verify --help` shows what can be typed
    exit 2
    --- stderr
    error: expected FILE... after `demur identity verify`, found nothing
    hint: `demur identity verify --help` shows what can be typed
    ");
}

#[test]
fn what_is_too_much_is_refused() {
    let sandbox = Sandbox::new();
    let good = registration();
    fs::write(sandbox.path("many"), format!("{good}\n").repeat(1025)).unwrap();
    assert_eq!(sandbox.json_error(&["identity", "verify", "many"], 2)["code"], "MESSAGE_MALFORMED");
    fs::write(sandbox.path("large"), " ".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(sandbox.json_error(&["identity", "verify", "large"], 2)["code"], "FILE_TOO_LARGE");
}
