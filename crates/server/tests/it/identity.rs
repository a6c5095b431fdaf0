//! Messages of identities over the wire: judged as the protocol judges them, with the place of each in the request.

use demur_clarify::{
    identity::{
        Found, FreePayload, IdentityVerification, Register, RevocationReason, Revoke, Rotate, SignedMessage,
    },
    seal::Signer,
    time::Time,
};
use demur_core::key::SecretKey;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{client::Reply, server::Server};

const DAY: u64 = 24 * 60 * 60;

fn signer(seed: u8) -> Signer {
    Signer::new("alice".parse().unwrap(), SecretKey::from_seed(&[seed; 32]))
}

/// Returns the time this many seconds after the registration.
fn after(seconds: u64) -> Time {
    "2020-05-10T15:00:00Z".parse::<Time>().unwrap().plus_millis(seconds * 1000)
}

fn signed<P: Serialize + DeserializeOwned>(payload: P, at: Time, by: &Signer) -> Value {
    serde_json::to_value(SignedMessage::sign(payload, at, by).unwrap()).unwrap()
}

pub(crate) fn registration() -> Value {
    signed(Register::new(&signer(1), after(0), None), after(0), &signer(1))
}

fn rotation() -> Value {
    signed(Rotate::new(&signer(2), after(100)).unwrap(), after(100), &signer(1))
}

fn revocation() -> Value {
    signed(Revoke::new(RevocationReason::Retired), after(3 * DAY), &signer(2))
}

fn hello(at: Time, by: &Signer) -> Value {
    let payload: FreePayload = json!({"says": "hello", "load": 0.3}).as_object().unwrap().clone();
    signed(payload, at, by)
}

fn verify(server: &Server, request: &Value) -> Reply {
    server.local("POST", "/v1/identities/verify").json(request).send()
}

/// Returns messages as the protocol finds them in a member of a request.
fn found(member: &str, messages: &[Value]) -> Vec<Found> {
    let read = |(index, message): (usize, &Value)| {
        Found::read(message.to_string().as_bytes(), format!("{member}.{index}")).unwrap()
    };
    messages.iter().enumerate().map(read).collect()
}

/// CLR-72
#[test]
fn the_route_says_what_the_protocol_says() {
    let server = Server::start();
    let all = &[registration(), rotation(), revocation()][..];
    let (none, history, later) = (&all[..0], &all[..1], &[hello(after(50), &signer(1))][..]);
    let (key, other) = (Some(signer(1).public_key()), Some(signer(9).public_key()));
    let cases = [
        (none, all, None, after(200), true),
        (none, all, key, after(2 * DAY), true),
        (none, all, None, after(3 * DAY), false),
        (none, all, other, after(200), false),
        (history, later, None, after(50), true),
        (history, later, None, after(500), false),
        (none, later, key, after(500), true),
        (none, later, other, after(500), false),
    ];
    for (identity, messages, key, at, valid) in cases {
        let request = json!({"messages": messages, "identity": identity, "key": key, "at": at});
        let reply = verify(&server, &request);
        assert_eq!(reply.status, 200, "{reply:?}");
        let said =
            IdentityVerification::of(&found("identity", identity), &found("messages", messages), key, at)
                .unwrap();
        assert_eq!(said.valid, valid, "{said:?}");
        assert_eq!(reply.json(), serde_json::to_value(said).unwrap());
    }
}

#[test]
fn a_flaw_is_told_with_the_place_of_its_message() {
    let server = Server::start();
    let messages = [hello(after(10), &signer(1)), hello(after(10), &signer(2))];
    let said =
        verify(&server, &json!({"messages": messages, "identity": [registration()], "at": after(10)})).json();
    assert_eq!((&said["valid"], &said["holds"]), (&json!(false), &json!(false)));
    let problem = &said["problem"];
    assert_eq!((&problem["message"], &problem["place"]), (&json!(3), &json!("messages.1")));
    assert_eq!((&problem["reason"], &said["reason"]), (&json!("signature_mismatch"), &problem["reason"]));
    assert_eq!(said["messages"][0]["place"], "identity.0");
}

#[test]
fn messages_that_nothing_anchors_are_refused() {
    let server = Server::start();
    let later = json!({"messages": [hello(after(1), &signer(1))], "at": after(1)});
    let reply = verify(&server, &later);
    assert_eq!((reply.status, reply.code().as_str()), (400, "NO_IDENTITY"));
    assert_eq!(reply.json()["field"], "messages.0");
    assert!(reply.json()["hint"].as_str().unwrap().contains("`identity`"), "{reply:?}");
}

#[test]
fn a_message_that_cannot_be_read_is_named_by_its_place() {
    let server = Server::start();
    let mut spare = hello(after(1), &signer(1));
    spare["message"]["more"] = json!(1);
    let (good, bad) = (registration(), [json!({}), json!(null), json!(7), spare]);
    for bad in bad {
        for (request, place) in [
            (json!({"messages": [good, bad]}), "messages.1"),
            (json!({"messages": [good], "identity": [good, good, bad]}), "identity.2"),
        ] {
            let reply = verify(&server, &request);
            assert_eq!((reply.status, reply.code().as_str()), (400, "MESSAGE_MALFORMED"), "{request}");
            let problem = reply.json();
            assert_eq!(problem["field"], place);
            assert!(problem["detail"].as_str().unwrap().starts_with(&format!("{place}: ")), "{problem}");
        }
    }
}

/// As many as a history may have, and one more; what stands around them is as strict.
#[test]
fn a_request_holds_1_to_1024_messages_and_nothing_else() {
    let server = Server::start();
    let mut messages = vec![hello(after(1), &signer(1)); IdentityVerification::MOST];
    messages[0] = registration();
    let full = verify(&server, &json!({"messages": messages, "at": after(1)}));
    assert_eq!((full.status, &full.json()["valid"]), (200, &json!(true)));
    messages.push(registration());
    for request in [
        json!({"messages": messages}),
        json!({"messages": []}),
        json!({"identity": [registration()]}),
        json!({"messages": [registration()], "identity": messages}),
        json!({"messages": [registration()], "identity": null}),
        json!({"messages": [registration()], "key": "ed25519:12"}),
        json!({"messages": [registration()], "at": "yesterday"}),
        json!({"messages": [registration()], "more": 1}),
    ] {
        let reply = verify(&server, &request);
        assert_eq!((reply.status, reply.code().as_str()), (400, "MALFORMED"), "{}", reply.text());
    }
}

#[test]
fn it_is_judged_now_unless_a_time_is_given() {
    let server = Server::start();
    let said = verify(&server, &json!({"messages": [registration()]})).json();
    let at: Time = said["at"].as_str().unwrap().parse().unwrap();
    assert!(at > after(0), "{at}");
    assert_eq!((&said["status"], &said["valid"]), (&json!("active"), &json!(true)));
    assert_eq!(said["anchor"], "own_word");
}
