//! Events of a later version: their meaning is not known, and everything else about them is checked.

use demur_core::{canonical, hash::Purpose, key::SecretKey};
use demur_ledger::{
    author::Author,
    content::PolicyDocument,
    envelope::Event,
    name::PrincipalId,
    proof::KeySignature,
    role::Role,
    verify::{Code, Options, Verdict},
};
use serde_json::json;

use crate::{
    export::export,
    format::changed,
    verify::check,
    world::{World, usual_policy},
};

/// Returns a run whose last event is of a type that this version does not know, signed as it should be.
fn world() -> World {
    let mut world = World::new();
    let key = SecretKey::generate(&mut world.random);
    let principal = PrincipalId::new(world.now, &mut world.random);
    world.register(&Author::new(SecretKey::from_seed(&key.seed()), principal, Role::Planner)).unwrap();
    let opening = world.opening(usual_policy());
    world.say(opening).unwrap();
    world.record_policy(PolicyDocument::of_numbers(usual_policy())).unwrap();
    world.propose();
    let bytes = changed(&world.events[2].event, |event| {
        event["actor"] = json!(principal.to_string());
        event["statement"]["type"] = json!("consent_asked");
        let statement = canonical::to_vec(&event["statement"]).unwrap();
        event["proof"] = json!({"ed25519": KeySignature::sign(&key, Purpose::Statement, &statement)});
    });
    world.events[2].event = Event::parse(&bytes).unwrap();
    world
}

#[test]
fn a_receipt_holds_for_an_event_of_a_later_type() {
    let world = world();
    let receipt = world.desk.receipt(&world.events[2].event).unwrap().unwrap();
    let options = Options { receipts: vec![receipt], ..Options::default() };
    let report = check(&export(&world, &[]), &options);
    assert_eq!(report.verdict, Verdict::NotEstablished, "{}", report.to_text());
    assert!(report.findings.iter().any(|finding| finding.code == Code::TypeUnknown));
    assert_eq!(report.anchors.receipts, 1);
}

/// Returns a run whose last event has a proof that this version does not know.
fn with_later_proof() -> World {
    let mut world = World::opened();
    world.propose();
    let bytes = changed(&world.events[2].event, |event| {
        event["proof"] = json!({"http_signature": {"key": "es256:00", "more": [1]}});
    });
    world.events[2].event = Event::parse(&bytes).unwrap();
    world
}

/// ONE-10
#[test]
fn a_proof_of_a_later_version_leaves_the_verdict_open() {
    let world = with_later_proof();
    let report = check(&export(&world, &[]), &Options::default());
    assert_eq!(report.verdict, Verdict::NotEstablished, "{}", report.to_text());
    let found: Vec<_> = report.findings.iter().map(|finding| finding.code).collect();
    assert!(found.contains(&Code::ProofUnknown), "{found:?}");
    assert_eq!(report.desk_word.records.get("proposal_created"), None, "nothing is said of who said it");
}

/// What it proves nobody knows; a lie beside it is found all the same.
///
/// ONE-10
#[test]
fn around_a_proof_of_a_later_version_everything_is_checked() {
    for spoiled in ["content", "pin", "epoch"] {
        let mut world = with_later_proof();
        let bytes = changed(&world.events[2].event, |event| match spoiled {
            "content" => event["content"] = json!("0".repeat(64)),
            "pin" => event["registry"]["sequence"] = json!(1),
            _ => event["epoch"] = json!(2),
        });
        world.events[2].event = Event::parse(&bytes).unwrap();
        let report = check(&export(&world, &[]), &Options::default());
        assert_eq!(report.verdict, Verdict::Fail, "{spoiled}: {}", report.to_text());
    }
}

/// A proof has one name; what is known under a name has the shape it is known in.
#[test]
fn what_cannot_be_a_proof_is_malformed() {
    let world = with_later_proof();
    for proof in [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!("ed25519"),
        json!("webauthn"),
        json!({"none": {}}),
        json!({"webauthn": {}}),
        json!({"http_signature": {}, "webauthn": {}}),
        json!({"Later": {}}),
        json!(""),
    ] {
        let bytes = changed(&world.events[2].event, |event| event["proof"] = proof.clone());
        assert!(Event::parse(&bytes).is_err(), "{proof}");
    }
    for proof in [json!("later"), json!({"later": null}), json!({"http_signature": "x"})] {
        let bytes = changed(&world.events[2].event, |event| event["proof"] = proof.clone());
        let event = Event::parse(&bytes).unwrap();
        assert_eq!(canonical::to_vec(event.envelope()).unwrap(), bytes, "{proof}");
    }
}
