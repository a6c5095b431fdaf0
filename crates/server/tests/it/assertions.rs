//! Bad input: each field of an assertion wrong once, everything else right and signed, and credentials that are no good. Each has the code
//! that is named, and nothing is recorded as a person's act (ONE-10).

use demur_testing::authenticator::{Authenticator, Touch};
use serde_json::{Value, json};

use crate::{
    browser::{Browser, origin},
    passkeys::Person,
    server::{Server, until},
};

/// Asks for an answer by passkey; returns the id.
fn asked(server: &Server) -> String {
    let question = json!({"question": "Ship it?", "kinds": ["yes_no"], "assurance": "passkey"});
    server.local("POST", "/v1/questions").json(&question).send().json()["id"].as_str().unwrap().to_owned()
}

fn yes(question: &str) -> Value {
    json!([{"act": "answer", "question": question, "answer": true}])
}

/// Returns how many events there are, and whether the question is open.
fn standing(server: &Server, question: &str) -> (usize, Value) {
    let trace = question.split_once('.').unwrap().0;
    let events = server.local("GET", &format!("/v1/traces/{trace}/events")).send().json();
    let state = server.local("GET", &format!("/v1/questions/{question}")).send().json()["state"].clone();
    (events["events"].as_array().unwrap().len(), state)
}

/// Returns the code with which an answer is refused whose document this makes of the challenge; nothing is recorded, and what is right
/// counts afterwards.
fn refused(make: impl FnOnce(&Authenticator, &str) -> Value) -> String {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let question = asked(&server);
    let before = standing(&server, &question);
    let prepared = pat.prepare(&yes(&question));
    let sent = make(&pat.passkey, prepared["touch"]["challenge"].as_str().unwrap());
    let refused = pat.send(&prepared, &sent);
    assert!((400..500).contains(&refused.status), "{refused:?}");
    assert_eq!(standing(&server, &question), before, "{refused:?}");
    assert_eq!(pat.finish(&prepared).json()["acts"][0]["status"], "signed");
    refused.code()
}

/// The same for an assertion that is signed as it stands.
fn bent(bend: impl FnOnce(&mut Touch)) -> String {
    refused(|passkey, challenge| document(passkey.answer_bent(challenge, bend)))
}

fn client(from: &str, to: &str) -> String {
    bent(|touch| {
        assert!(touch.client.contains(from), "{}", touch.client);
        touch.client = touch.client.replace(from, to);
    })
}

fn flags(change: impl FnOnce(u8) -> u8) -> String {
    bent(|touch| touch.authenticator[32] = change(touch.authenticator[32]))
}

fn document([authenticator, client, credential, signature]: [String; 4]) -> Value {
    json!({"authenticator": authenticator, "client": client, "credential": credential, "signature": signature})
}

/// The same with another text in one member.
fn other(member: &str, text: &str) -> String {
    refused(|passkey, challenge| {
        let mut made = document(passkey.answer(challenge));
        made[member] = json!(text);
        made
    })
}

#[test]
fn another_type_of_ceremony() {
    assert_eq!(client("webauthn.get", "webauthn.create"), "PASSKEY_INVALID");
}

#[test]
fn another_challenge() {
    assert_eq!(client("\"challenge\":\"", "\"challenge\":\"A"), "PASSKEY_INVALID");
}

#[test]
fn another_origin_of_the_same_host() {
    assert_eq!(client("demur.localhost:", "demur.localhost:1"), "PASSKEY_INVALID");
}

#[test]
fn a_frame_of_another_site() {
    assert_eq!(client("\"crossOrigin\":false", "\"crossOrigin\":true"), "PASSKEY_INVALID");
    assert_eq!(client("}", ",\"topOrigin\":\"https://demur.example\"}"), "PASSKEY_INVALID");
}

#[test]
fn client_data_that_is_no_json_or_has_a_member_twice() {
    assert_eq!(client("}", ""), "PASSKEY_INVALID");
    assert_eq!(client("{", "{\"type\":\"webauthn.create\","), "PASSKEY_INVALID");
}

#[test]
fn client_data_that_is_too_long() {
    // 4,098 bytes, and more letters than any document has.
    for letters in [5_464, 5_468] {
        assert_eq!(other("client", &"A".repeat(letters)), "MALFORMED");
    }
}

#[test]
fn another_rp() {
    assert_eq!(bent(|touch| touch.authenticator[0] ^= 1), "PASSKEY_INVALID");
}

#[test]
fn nobody_there_or_nobody_verified() {
    assert_eq!(flags(|flags| flags & !0x01), "PASSKEY_INVALID");
    assert_eq!(flags(|flags| flags & !0x04), "PASSKEY_INVALID");
}

#[test]
fn flags_that_the_passkey_did_not_have() {
    for flag in [0x08, 0x10, 0x40] {
        assert_eq!(flags(|flags| flags | flag), "PASSKEY_INVALID", "{flag}");
    }
}

#[test]
fn authenticator_data_that_is_cut_or_goes_on() {
    assert_eq!(bent(|touch| touch.authenticator.truncate(36)), "PASSKEY_INVALID");
    assert_eq!(bent(|touch| touch.authenticator.push(0)), "PASSKEY_INVALID");
}

#[test]
fn a_signature_over_something_else() {
    let other = |passkey: &Authenticator, challenge: &str| {
        let mut made = document(passkey.answer(challenge));
        made["signature"] = json!(passkey.answer("AAAA")[3]);
        made
    };
    assert_eq!(refused(other), "SIG_INVALID");
}

#[test]
fn a_signature_that_is_none() {
    assert_eq!(other("signature", "MAYCAQECAQE"), "SIG_INVALID");
    assert_eq!(other("signature", "AAAA"), "MALFORMED");
}

#[test]
fn members_that_are_no_base64url() {
    for member in ["authenticator", "client", "credential", "signature"] {
        assert_eq!(other(member, "*"), "MALFORMED", "{member}");
    }
}

#[test]
fn a_credential_of_nobody() {
    assert_eq!(other("credential", "AAAA"), "PASSKEY_MISSING");
}

#[test]
fn a_touch_that_was_sent_before() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::ed25519(1));
    let question = asked(&server);
    let prepared = pat.prepare(&yes(&question));
    assert_eq!(pat.finish(&prepared).json()["acts"][0]["status"], "signed");
    let before = standing(&server, &question);
    assert_eq!(pat.finish(&prepared).code(), "TOUCH_UNKNOWN");
    assert_eq!(standing(&server, &question), before);
}

#[test]
fn leaves_of_another_list() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::ed25519(1));
    let (one, two) = (asked(&server), asked(&server));
    let both = json!([yes(&one)[0], yes(&two)[0]]);
    let (list, alone) = (pat.prepare(&both), pat.prepare(&yes(&one)));
    let of =
        |prepared: &Value| document(pat.passkey.answer(prepared["touch"]["challenge"].as_str().unwrap()));
    assert_eq!(pat.send(&list, &of(&alone)).code(), "PASSKEY_INVALID");
    assert_eq!(pat.send(&alone, &of(&list)).code(), "PASSKEY_INVALID");
    assert_eq!((standing(&server, &one), standing(&server, &two)), ((1, json!("open")), (1, json!("open"))));
}

#[test]
fn a_passkey_of_somebody_else_and_one_that_was_removed() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let zoe = Person {
        browser: Browser::of_new(&server, "zoe", "answerer"),
        passkey: Authenticator::ed25519(2).at(&origin(&server)),
    };
    zoe.enrol(None);
    let key = zoe.passkey.fingerprint();
    assert_eq!(pat.touch(&json!([{"act": "add_passkey", "key": key}])), ["signed"]);
    let question = asked(&server);
    let prepared = zoe.prepare(&yes(&question));
    let challenge = prepared["touch"]["challenge"].as_str().unwrap();
    let by_pat = zoe.send(&prepared, &document(pat.passkey.answer(challenge)));
    assert_eq!(by_pat.code(), "PASSKEY_MISSING");
    assert_eq!(pat.touch(&json!([{"act": "remove_passkey", "key": key}])), ["signed"]);
    assert_eq!(zoe.finish(&prepared).code(), "KEY_REVOKED");
    assert_eq!(standing(&server, &question).1, "open");
}

/// Returns what is told to a token that answers a question of an agent; nothing is recorded.
fn answered_with(server: &Server, token: &str) -> (u16, String) {
    let question =
        server.ask(&server.token("agent", &["ask"]), &json!({"question": "Which?", "answering": "anybody"}));
    let before = standing(server, &question);
    let reply = server.call("POST", &format!("/v1/questions/{question}/answer")).token(token);
    let reply = reply.json(&json!({"answer": "blue", "by": "pat"})).send();
    assert_eq!(standing(server, &question), before, "{reply:?}");
    (reply.status, reply.code())
}

#[test]
fn a_token_that_expired() {
    let server = Server::start();
    let short = json!({"name": "robot", "scopes": ["relay"], "for_anyone": true, "seconds": 1});
    let made = server.local("POST", "/v1/tokens").json(&short).send().json();
    let secret = made["secret"].as_str().unwrap();
    until("it expires", || server.call("GET", "/v1/questions").token(secret).send().status == 401);
    assert_eq!(answered_with(&server, secret), (401, "UNAUTHENTICATED".to_owned()));
}

#[test]
fn a_token_that_was_taken_back() {
    let server = Server::start();
    let new = json!({"name": "robot", "scopes": ["relay"], "for_anyone": true});
    let made = server.local("POST", "/v1/tokens").json(&new).send().json();
    let secret = made["secret"].as_str().unwrap();
    let id = secret.split('_').nth(1).unwrap();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
    assert_eq!(answered_with(&server, secret), (401, "UNAUTHENTICATED".to_owned()));
}

#[test]
fn a_token_of_another_folder() {
    let (server, elsewhere) = (Server::start(), Server::start());
    let token = elsewhere.token_for("robot", &["relay"], &["pat"]);
    assert_eq!(answered_with(&server, &token), (401, "UNAUTHENTICATED".to_owned()));
}
