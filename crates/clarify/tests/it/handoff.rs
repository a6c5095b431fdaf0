//! Handoff packages: the receiver can check what was asked and answered.

use demur_clarify::{
    Error,
    audit::Known,
    chain::Break,
    handoff::{Context, Handoff},
    read,
};
use demur_core::canonical;
use serde_json::{Value, json};

use crate::{
    attestation::attestation,
    world::{after, agent, caller, keys, list, of, record, three_rounds},
};

pub(crate) fn handoff() -> Handoff {
    let mut context = Context::new(of("Build a compliance report"), record()).unwrap();
    context.attestation = Some(attestation());
    context.tools_required = list(&["terminal", "file"]);
    let id = of("0196bb7c-0000-7000-8000-0000000000bb");
    Handoff::sign(id, of("task-1"), context, list(&["no patient data in outputs"]), &agent()).unwrap()
}

/// CLR-70
#[test]
fn the_receiver_can_verify_the_chain() {
    let bytes = serde_json::to_vec(&handoff()).unwrap();
    let received: Handoff = read::from_slice(&bytes).unwrap();
    let known = Known { round: 3, hash: three_rounds().head().unwrap() };
    let verified = received.verify(&keys(), &keys(), after(300), &[known]).unwrap();
    assert_eq!((verified.rounds(), verified.recorded()), (3, 1));
}

/// CLR-70: the chain may be that of an agent before the sender.
#[test]
fn the_chain_of_an_earlier_agent_can_be_handed_on() {
    let context = Context::new(of("go on"), record()).unwrap();
    let id = of("0196bb7c-0000-7000-8000-0000000000bb");
    let handoff = Handoff::sign(id, of("task-1"), context, list(&[]), &caller()).unwrap();
    let sender = demur_clarify::keys::KeyHistory::single(&caller());
    handoff.verify(&sender, &keys(), after(300), &[]).unwrap();
    let error = handoff.verify(&keys(), &keys(), after(300), &[]).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "sender.agent_id"));
}

#[test]
fn every_member_is_signed() {
    for (pointer, other) in [
        ("/handoff_id", json!("0196bb7c-0000-7000-8000-0000000000bc")),
        ("/task_id", json!("task-2")),
        ("/sender/session_id", json!("0196bb7c-0000-7000-8000-000000000002")),
        ("/context/task_description", json!("other")),
        ("/context/tools_required", json!([])),
        ("/context/clarification_chain/all_resolved", json!(false)),
        ("/quality_checklist", json!([])),
    ] {
        let mut value = serde_json::to_value(handoff()).unwrap();
        *value.pointer_mut(pointer).unwrap() = other;
        let error = verify(&value).unwrap_err();
        assert!(matches!(error, Error::Signature { field: "sender.identity_sig", .. }), "{pointer}: {error}");
    }
}

/// CLR-70: a package that its sender signed with a chain that does not hold.
#[test]
fn refuses_a_broken_chain_under_a_good_signature() {
    let mut record = serde_json::to_value(record()).unwrap();
    record["chain"][0]["answer"] = "uswds-only".into();
    let context = Context::new(of("go on"), serde_json::from_value(record).unwrap()).unwrap();
    let id = of("0196bb7c-0000-7000-8000-0000000000bb");
    let handoff = Handoff::sign(id, of("task-1"), context, list(&[]), &agent()).unwrap();
    let error = handoff.verify(&keys(), &keys(), after(300), &[]).unwrap_err();
    assert!(matches!(error, Error::Chain(Break::AnswerSignature { round: 1, .. })));
}

#[test]
fn refuses_a_broken_attestation_under_a_good_signature() {
    let mut context = handoff().context;
    context.attestation.as_mut().unwrap().agent_version = of("9.9.9");
    let id = of("0196bb7c-0000-7000-8000-0000000000bb");
    let handoff = Handoff::sign(id, of("task-1"), context, list(&[]), &agent()).unwrap();
    let error = handoff.verify(&keys(), &keys(), after(300), &[]).unwrap_err();
    assert!(matches!(error, Error::Signature { field: "signature", .. }));
}

#[test]
fn refuses_the_chain_of_another_session() {
    let mut value = serde_json::to_value(handoff()).unwrap();
    value["sender"]["session_id"] = json!("0196bb7c-0000-7000-8000-000000000002");
    value["sender"].as_object_mut().unwrap().remove("identity_sig");
    value["sender"]["identity_sig"] = json!(agent().sign(&canonical::to_vec(&value).unwrap()).unwrap());
    assert!(matches!(verify(&value), Err(Error::Field(error)) if error.field == "sender.session_id"));
}

fn verify(value: &Value) -> Result<(), Error> {
    let handoff: Handoff = read::from_slice(value.to_string().as_bytes())?;
    handoff.verify(&keys(), &keys(), after(300), &[]).map(drop)
}
