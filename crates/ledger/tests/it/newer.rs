//! What a newer version wrote is told apart from damage.

use demur_core::{hash::Digest, key::Batch};
use demur_ledger::{
    envelope::{Event, event_hash},
    newer::{Newer, Reading},
};
use serde_json::{Value, json};

use crate::{format::changed, world::World};

/// Returns what is not known of an event that was changed so, and recorded as it is now.
fn newer(event: &Event, change: impl Fn(&mut Value)) -> Option<Newer> {
    let bytes = changed(event, change);
    match Reading::of(&bytes, &event_hash(&bytes)) {
        Reading::Newer(event) => Some(event.newer().clone()),
        Reading::Known(_) | Reading::Damaged => None,
    }
}

#[test]
fn new_formats_types_proofs_and_values_are_newer() {
    let mut world = World::opened();
    world.propose();
    let event = &world.events[2].event;
    let found = |change: &dyn Fn(&mut Value)| newer(event, change).map(|newer| newer.to_string());
    assert_eq!(found(&|event| event["format"] = json!(2)).unwrap(), "format 2");
    let kind = |event: &mut Value| event["statement"]["type"] = json!("consent_asked");
    assert_eq!(found(&kind).unwrap(), "the event type consent_asked");
    let proof = |event: &mut Value| event["proof"] = json!({"http_signature": {"key": "k"}});
    assert_eq!(found(&proof).unwrap(), "the proof http_signature");
    assert_eq!(found(&|event| event["proof"] = json!("sworn")).unwrap(), "the proof sworn");
    let role = |event: &mut Value| event["statement"]["role"] = json!("witness");
    assert_eq!(found(&role).unwrap(), "a new value in proposal_created");
    let value = |event: &mut Value| event["statement"]["facts"]["fallback_for"] = json!("later");
    assert_eq!(found(&value).unwrap(), "a new value in proposal_created");
}

#[test]
fn what_no_version_writes_is_damage() {
    let world = World::opened();
    let event = &world.events[0].event;
    assert_eq!(newer(event, |_| ()), None, "a known event is known");
    assert_eq!(newer(event, |event| event["format"] = json!(0)), None);
    assert_eq!(newer(event, |event| event["proof"] = json!({"a": 1, "b": 2})), None);
    assert_eq!(newer(event, |event| event["proof"] = json!("Not a name")), None);
    assert_eq!(newer(event, |event| event["statement"]["type"] = json!("Not a name")), None);
    assert_eq!(newer(event, |event| event["sequence"] = json!("first")), None);
    for bytes in [&b""[..], b"{}", b"null", b"{\"format\":2", b"{\"format\": 2}"] {
        assert!(matches!(Reading::of(bytes, &event_hash(bytes)), Reading::Damaged));
    }
}

#[test]
fn bytes_under_another_hash_are_never_newer() {
    let world = World::opened();
    let event = &world.events[0].event;
    let bytes = changed(event, |event| event["statement"]["type"] = json!("consent_asked"));
    assert!(matches!(Reading::of(&bytes, event.hash()), Reading::Damaged));
    let bytes = changed(event, |event| event["format"] = json!(2));
    assert!(matches!(Reading::of(&bytes, event.hash()), Reading::Damaged));
}

#[test]
fn known_event_under_another_hash_is_damage() {
    let mut world = World::opened();
    world.propose();
    let [first, second] = [0, 1].map(|place: usize| &world.events[place].event);
    assert!(matches!(Reading::of(first.bytes(), first.hash()), Reading::Known(_)));
    assert!(matches!(Reading::of(first.bytes(), second.hash()), Reading::Damaged));
}

#[test]
fn place_and_signature_of_a_newer_event_are_seen() {
    let world = World::opened();
    let event = &world.events[0].event;
    let bytes = changed(event, |event| event["statement"]["type"] = json!("consent_asked"));
    let Reading::Newer(newer) = Reading::of(&bytes, &event_hash(&bytes)) else { panic!("not newer") };
    let (trace, sequence) = (event.envelope().trace, event.envelope().sequence);
    assert_eq!(newer.trace(), Some(trace));
    assert!(newer.stands(trace, sequence, None));
    assert!(!newer.stands(trace, sequence.next(), None));
    assert!(!newer.stands(trace, sequence, Some(Digest::from_bytes([1; 32]))));
    assert_eq!(newer.registry(), event.envelope().registry);
    assert_eq!(newer.shown(), Some((event.envelope().time, event.envelope().content)));
    // Signed as something else, so somebody changed it.
    let mut batch = Batch::new();
    newer.check(Some(world.desk.registry()), &mut batch).unwrap();
    assert_eq!(batch.verify(), Err(vec![0]));
}
