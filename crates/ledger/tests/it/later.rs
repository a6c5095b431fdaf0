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
