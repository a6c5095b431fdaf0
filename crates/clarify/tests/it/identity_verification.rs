//! Messages of an identity judged together: what they rest on, what the identity is, and where the first flaw is.

use demur_clarify::{
    identity::{
        Anchor, Flaw, Found, IdentityStanding, IdentityVerification, MessageKind, RevocationReason, Revoke,
        Rotate, SignedMessage, VerificationError,
    },
    seal::Signer,
    time::Time,
};
use demur_core::canonical;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    identity::{new_agent, registration},
    world::{after, agent, caller},
};

const DAY: u64 = 24 * 60 * 60;

/// Returns messages as they are found, each at the place of its number.
fn found(messages: &[&[u8]]) -> Vec<Found> {
    let read = |(at, bytes): (usize, &&[u8])| Found::read(bytes, format!("place {at}")).unwrap();
    messages.iter().enumerate().map(read).collect()
}

fn bytes<P: Serialize>(signed: &SignedMessage<P>) -> Vec<u8> {
    canonical::to_vec(signed).unwrap()
}

fn signed<P: Serialize + DeserializeOwned>(payload: P, at: Time, by: &Signer) -> Vec<u8> {
    bytes(&SignedMessage::sign(payload, at, by).unwrap())
}

fn rotation(at: Time, by: &Signer) -> Vec<u8> {
    signed(Rotate::new(&new_agent(), at).unwrap(), at, by)
}

fn revocation(at: Time, by: &Signer) -> Vec<u8> {
    signed(Revoke::new(RevocationReason::Retired), at, by)
}

fn hello(at: Time, by: &Signer) -> Vec<u8> {
    signed(json!({"says": "hello"}).as_object().unwrap().clone(), at, by)
}

/// CLR-72
#[test]
fn an_identity_stands_as_its_messages_and_the_time_say() {
    let history = found(&[
        &bytes(&registration()),
        &rotation(after(100), &agent()),
        &revocation(after(3 * DAY), &new_agent()),
    ]);
    let (old, new) = (agent().public_key(), new_agent().public_key());
    for (at, standing, keys, flaw) in [
        (after(50), IdentityStanding::Active, vec![old], None),
        (after(100), IdentityStanding::Rotating, vec![old, new], None),
        (after(100 + DAY), IdentityStanding::Active, vec![new], None),
        (after(3 * DAY), IdentityStanding::Revoked, vec![], Some(Flaw::Revoked)),
    ] {
        let said = IdentityVerification::of(&[], &history, None, at).unwrap();
        assert_eq!((said.status, &said.keys, said.reason), (Some(standing), &keys, flaw), "{at}");
        assert_eq!((said.holds, said.valid), (true, flaw.is_none()));
        let expires = (standing == IdentityStanding::Rotating).then_some(after(100 + DAY));
        assert_eq!(said.old_key_expires, expires);
        assert_eq!(
            IdentityVerification::of(&history, &[], None, at),
            Ok(said),
            "a history is one, wherever it stands"
        );
    }
}

#[test]
fn what_it_rests_on_is_said() {
    let (key, other) = (agent().public_key(), caller().public_key());
    let registered = found(&[&bytes(&registration())]);
    let later = found(&[&rotation(after(100), &agent())]);
    let anchor =
        |history, came, key| IdentityVerification::of(history, came, key, after(100)).map(|said| said.anchor);
    assert_eq!(anchor(&[], &registered, None), Ok(Anchor::OwnWord));
    assert_eq!(anchor(&[], &registered, Some(key)), Ok(Anchor::Pinned));
    assert_eq!(anchor(&registered, &later, Some(key)), Ok(Anchor::Pinned));
    assert_eq!(anchor(&[], &later, Some(key)), Ok(Anchor::KeyAlone));
    let pinned = IdentityVerification::of(&[], &registered, Some(other), after(100)).unwrap();
    assert_eq!(pinned.reason, Some(Flaw::KeyMismatch));
}

#[test]
fn messages_without_an_anchor_are_not_judged() {
    let later = found(&[&hello(after(1), &agent())]);
    let error = IdentityVerification::of(&[], &later, None, after(1)).unwrap_err();
    assert_eq!((error.code(), error.place()), ("NO_IDENTITY", Some("place 0")));
    for key in [None, Some(agent().public_key())] {
        assert_eq!(IdentityVerification::of(&[], &[], key, after(1)), Err(VerificationError::Empty));
    }
    let error = Found::read(b"{}", "place 7".to_owned()).unwrap_err();
    assert_eq!((error.code(), error.place()), ("MESSAGE_MALFORMED", Some("place 7")));
    assert!(error.to_string().starts_with("place 7: expected a signed message: "), "{error}");
}

/// The first flaw is told with its number and its place, and nothing is said about the identity.
#[test]
fn first_flaw_is_told_with_its_place() {
    let history = found(&[&bytes(&registration())]);
    let came = found(&[&hello(after(100), &agent()), &hello(after(100), &caller())]);
    let said = IdentityVerification::of(&history, &came, None, after(100)).unwrap();
    let problem = said.problem.unwrap();
    assert_eq!((problem.message, problem.place.as_str()), (3, "place 1"));
    assert_eq!((problem.reason, said.reason), (Flaw::AgentMismatch, Some(Flaw::AgentMismatch)));
    assert_eq!((said.valid, said.holds, said.status, said.keys), (false, false, None, vec![]));
    let kinds: Vec<_> = said.messages.iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [MessageKind::Register, MessageKind::Other, MessageKind::Other]);
}

/// CLR-72: the new key has to sign for itself, with a history and without one.
#[test]
fn a_new_key_in_other_hands_is_a_flaw() {
    let mut stolen = Rotate::new(&new_agent(), after(100)).unwrap();
    stolen.new_public_key = caller().public_key();
    let came = found(&[&signed(stolen, after(100), &agent())]);
    let history = found(&[&bytes(&registration())]);
    for history in [&[][..], &history] {
        let said = IdentityVerification::of(history, &came, Some(agent().public_key()), after(100)).unwrap();
        assert_eq!(said.reason, Some(Flaw::PossessionMismatch));
    }
}

#[test]
fn a_flaw_is_the_same_word_for_people_and_for_programs() {
    for flaw in [
        Flaw::AgentMismatch,
        Flaw::Expired,
        Flaw::KeyMismatch,
        Flaw::KeyReused,
        Flaw::NotYetValid,
        Flaw::OutOfOrder,
        Flaw::PossessionMismatch,
        Flaw::RegisteredTwice,
        Flaw::Revoked,
        Flaw::Rotating,
        Flaw::SignatureMismatch,
        Flaw::Stale,
    ] {
        assert_eq!(serde_json::to_value(flaw).unwrap(), flaw.as_str());
    }
    for standing in [
        IdentityStanding::Active,
        IdentityStanding::Rotating,
        IdentityStanding::Revoked,
        IdentityStanding::Expired,
        IdentityStanding::NotYetValid,
    ] {
        assert_eq!(serde_json::to_value(standing).unwrap(), standing.as_str());
    }
}
