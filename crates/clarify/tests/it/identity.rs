//! Identities: registered, checked, rotated with an overlap of 24 h, revoked.

use demur_clarify::{
    Error,
    identity::{
        Check, Identity, IdentityError, Reason, Register, RevocationReason, Revoke, Rotate, SignedMessage,
        Status,
    },
    seal::Signer,
    time::Time,
};
use demur_core::key::SecretKey;
use serde_json::json;

use crate::world::{after, agent, caller, of};

const DAY: u64 = 24 * 60 * 60;

/// Returns the agent with its next key.
pub(crate) fn new_agent() -> Signer {
    Signer::new(agent().agent_id().clone(), SecretKey::from_seed(&[7; 32]))
}

pub(crate) fn registration() -> SignedMessage<Register> {
    SignedMessage::sign(Register::new(&agent(), after(0), None), after(0), &agent()).unwrap()
}

fn registered() -> Identity {
    Identity::register(&registration(), after(1)).unwrap()
}

fn rotation(new: &Signer, by: &Signer, at: Time) -> SignedMessage<Rotate> {
    SignedMessage::sign(Rotate::new(new, at).unwrap(), at, by).unwrap()
}

/// Returns the identity after a rotation, 100 s after the seed's example.
pub(crate) fn rotated() -> Identity {
    let mut identity = registered();
    identity.rotate(&rotation(&new_agent(), &agent(), after(100)), after(100)).unwrap();
    identity
}

fn heartbeat(by: &Signer, at: Time) -> Check {
    let payload = json!({"type": "heartbeat", "load": 0.3, "note": "café ↔"}).as_object().unwrap().clone();
    Check::new(SignedMessage::sign(payload, at, by).unwrap())
}

fn outcome(identity: &Identity, by: &Signer, at: Time) -> Result<Status, Reason> {
    let reply = identity.check(&heartbeat(by, at), at).unwrap();
    assert_eq!(reply.valid, reply.status.is_some());
    reply.status.ok_or_else(|| reply.reason.unwrap())
}

/// CLR-72
#[test]
fn a_registered_identity_is_checked() {
    assert_eq!(outcome(&registered(), &agent(), after(2)), Ok(Status::Active));
    assert_eq!(outcome(&registered(), &new_agent(), after(2)), Err(Reason::SignatureMismatch));
    assert_eq!(outcome(&registered(), &caller(), after(2)), Err(Reason::AgentMismatch));
}

/// CLR-72: whoever registers a key has it.
#[test]
fn refuses_to_register_the_key_of_another() {
    let theirs = Register::new(&caller(), after(0), None);
    let signed = SignedMessage::sign(theirs, after(0), &agent()).unwrap();
    let error = Identity::register(&signed, after(1)).unwrap_err();
    assert!(matches!(error, IdentityError::Message(Error::Signature { .. })));
}

#[test]
fn refuses_to_register_a_key_that_has_ended() {
    let ended = Register::new(&agent(), after(0), Some(after(1)));
    let signed = SignedMessage::sign(ended, after(0), &agent()).unwrap();
    assert_eq!(Identity::register(&signed, after(1)), Err(IdentityError::Expired));
    let identity = Identity::register(&signed, after(0)).unwrap();
    assert_eq!(outcome(&identity, &agent(), after(1)), Err(Reason::Expired));
}

#[test]
fn a_message_is_fresh_for_60_seconds() {
    let check = heartbeat(&agent(), after(100));
    for (now, valid) in [(after(160), true), (after(161), false), (after(40), true), (after(39), false)] {
        let reply = registered().check(&check, now).unwrap();
        assert_eq!((reply.valid, reply.reason == Some(Reason::Stale)), (valid, !valid), "{now}");
    }
    assert!(matches!(Identity::register(&registration(), after(61)), Err(IdentityError::Stale { .. })));
}

/// CLR-72: the old key is valid for 24 h after a rotation, to the millisecond.
#[test]
fn a_rotation_has_an_overlap_of_24_hours() {
    let mut identity = registered();
    let reply = identity.rotate(&rotation(&new_agent(), &agent(), after(100)), after(100)).unwrap();
    assert_eq!(
        serde_json::to_value(reply).unwrap(),
        json!({"status": "rotating", "old_key_expires": "2026-05-11T15:01:40Z"})
    );
    let last = after(100 + DAY - 1).plus_millis(999);
    for key in [agent(), new_agent()] {
        assert_eq!(outcome(&identity, &key, after(100)), Ok(Status::Rotating));
        assert_eq!(outcome(&identity, &key, last), Ok(Status::Rotating));
    }
    assert_eq!(outcome(&identity, &agent(), after(100 + DAY)), Err(Reason::SignatureMismatch));
    assert_eq!(outcome(&identity, &new_agent(), after(100 + DAY)), Ok(Status::Active));
    assert_eq!(outcome(&identity, &new_agent(), after(99)), Err(Reason::SignatureMismatch), "not before");
}

#[test]
fn the_overlap_does_not_outlive_the_old_key() {
    let ending = Register::new(&agent(), after(0), Some(after(500)));
    let signed = SignedMessage::sign(ending, after(0), &agent()).unwrap();
    let mut identity = Identity::register(&signed, after(1)).unwrap();
    let reply = identity.rotate(&rotation(&new_agent(), &agent(), after(100)), after(100)).unwrap();
    assert_eq!(reply.old_key_expires, after(500));
}

#[test]
fn refuses_rotations_that_do_not_hold() {
    let mut identity = registered();
    let by_the_new_key = rotation(&new_agent(), &new_agent(), after(100));
    assert!(matches!(
        identity.rotate(&by_the_new_key, after(100)),
        Err(IdentityError::Message(Error::Signature { field: "signature", .. }))
    ));
    let mut stolen = Rotate::new(&new_agent(), after(100)).unwrap();
    stolen.new_public_key = caller().public_key();
    let stolen = SignedMessage::sign(stolen, after(100), &agent()).unwrap();
    assert!(matches!(
        identity.rotate(&stolen, after(100)),
        Err(IdentityError::Message(Error::Signature { field: "new_key_signature", .. }))
    ));
    let to_itself = rotation(&agent(), &agent(), after(100));
    assert_eq!(identity.rotate(&to_itself, after(100)), Err(IdentityError::KeyReused));
    let stale = rotation(&new_agent(), &agent(), after(100));
    assert!(matches!(identity.rotate(&stale, after(161)), Err(IdentityError::Stale { .. })));
    assert_eq!(identity, registered(), "nothing changed");
    let mut identity = rotated();
    let third = Signer::new(of("wwa-scaffold-v1.0.0"), SecretKey::from_seed(&[8; 32]));
    assert_eq!(
        identity.rotate(&rotation(&third, &new_agent(), after(200)), after(200)),
        Err(IdentityError::Rotating)
    );
    identity.rotate(&rotation(&third, &new_agent(), after(100 + DAY)), after(100 + DAY)).unwrap();
}

/// CLR-72
#[test]
fn a_revoked_identity_says_nothing_more() {
    let mut identity = rotated();
    let revoke =
        |by: &Signer, at| SignedMessage::sign(Revoke::new(RevocationReason::Compromised), at, by).unwrap();
    let error = identity.revoke(&revoke(&caller(), after(200)), after(200)).unwrap_err();
    assert!(
        matches!(error, IdentityError::Message(Error::Field(error)) if error.field == "message.agent_id")
    );
    identity.revoke(&revoke(&new_agent(), after(200)), after(200)).unwrap();
    for key in [agent(), new_agent()] {
        assert_eq!(outcome(&identity, &key, after(201)), Err(Reason::Revoked));
    }
    assert_eq!(
        (identity.status(after(199)), identity.status(after(200))),
        (Status::Rotating, Status::Revoked)
    );
    assert_eq!(identity.revoke(&revoke(&agent(), after(201)), after(201)), Err(IdentityError::Revoked));
    let third = rotation(
        &Signer::new(of("wwa-scaffold-v1.0.0"), SecretKey::from_seed(&[8; 32])),
        &agent(),
        after(201),
    );
    assert_eq!(identity.rotate(&third, after(201)), Err(IdentityError::Revoked));
    assert_eq!(identity.keys().at(after(150)).count(), 2, "what was signed before can still be checked");
    assert_eq!(identity.keys().at(after(200)).count(), 0);
}

/// A message for one purpose does not serve another.
#[test]
fn a_payload_cannot_be_read_as_another() {
    let revoke = SignedMessage::sign(Revoke::new(RevocationReason::Retired), after(0), &agent()).unwrap();
    let bytes = serde_json::to_vec(&revoke).unwrap();
    assert!(demur_clarify::read::from_slice::<SignedMessage<Rotate>>(&bytes).is_err());
    assert!(demur_clarify::read::from_slice::<SignedMessage<Register>>(&bytes).is_err());
    assert_eq!(demur_clarify::read::from_slice::<SignedMessage<Revoke>>(&bytes), Ok(revoke));
}
