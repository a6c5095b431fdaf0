//! Statement, envelope and proof on the wire: one spelling each, nothing unknown, nothing missing.

use demur_core::{
    canonical,
    hash::{Purpose, digest},
    limit::Limits,
};
use demur_ledger::{
    envelope::{Disagreement, Event},
    event_type::{Content, EventType, Facts, TypeName},
    facts::ProposalCreated,
    proof::Proof,
    role::Role,
    signed::{Receipt, Signed},
    statement::Statement,
};
use serde_json::{Value, json};

use crate::world::World;

/// Returns an event as JSON, changed, and written canonically again.
pub(crate) fn changed(event: &Event, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(event.bytes()).unwrap();
    change(&mut value);
    canonical::to_vec(&value).unwrap()
}

#[test]
fn every_event_reads_back_as_it_was_written() {
    let world = World::auditing();
    for recorded in world.registry.iter().chain(&world.events) {
        let event = Event::parse(recorded.event.bytes()).unwrap();
        assert_eq!(event, recorded.event);
        assert_eq!(Event::seal(event.envelope().clone()).unwrap().bytes(), event.bytes());
        let statement = Statement::parse(event.statement_bytes().unwrap()).unwrap();
        assert_eq!(statement.to_bytes().unwrap(), event.statement_bytes().unwrap());
        assert!(event.agree().is_ok());
    }
}

/// LED-05
#[test]
fn each_event_names_the_hash_of_the_one_before() {
    let world = World::auditing();
    for pair in world.events.windows(2) {
        let hash = digest(Purpose::Envelope, &[pair[0].event.bytes()]);
        assert_eq!(pair[1].event.envelope().previous, Some(hash));
        assert!(pair[0].event.position().sequence < pair[1].event.position().sequence);
        assert!(pair[0].event.envelope().time <= pair[1].event.envelope().time);
    }
}

#[test]
fn a_list_in_the_place_of_an_object_is_refused_at_every_level() {
    let world = World::auditing();
    for recorded in world.registry.iter().chain(&world.events) {
        let value: Value = serde_json::from_slice(recorded.event.bytes()).unwrap();
        for path in ["", "/statement", "/statement/facts", "/proof/ed25519", "/registry", "/statement/seen"] {
            let Some(Value::Object(object)) = value.pointer(path) else { continue };
            let list = changed(&recorded.event, |value| {
                *value.pointer_mut(path).unwrap() = object.values().cloned().collect();
            });
            assert!(Event::parse(&list).is_err(), "{path} of {value}");
        }
    }
}

#[test]
fn a_list_is_no_receipt() {
    let world = World::auditing();
    let receipt = world.desk.receipt(&world.events[1].event).unwrap().unwrap();
    let whole = canonical::to_vec(&receipt).unwrap();
    assert_eq!(Signed::<Receipt>::parse(&whole).unwrap(), receipt);
    for path in ["", "/document", "/document/event", "/proof"] {
        let mut value: Value = serde_json::from_slice(&whole).unwrap();
        let part = value.pointer_mut(path).unwrap();
        *part = part.as_object().unwrap().values().cloned().collect();
        assert!(Signed::<Receipt>::parse(&canonical::to_vec(&value).unwrap()).is_err(), "{value}");
    }
}

#[test]
fn a_field_that_is_missing_or_unknown_is_refused_at_every_level() {
    let world = World::auditing();
    for recorded in world.registry.iter().chain(&world.events) {
        let value: Value = serde_json::from_slice(recorded.event.bytes()).unwrap();
        for path in ["", "/statement", "/statement/facts", "/proof/ed25519", "/registry", "/statement/seen"] {
            let Some(Value::Object(object)) = value.pointer(path) else { continue };
            let unknown = changed(&recorded.event, |value| {
                value.pointer_mut(path).unwrap()["unknown"] = json!(1);
            });
            assert!(Event::parse(&unknown).is_err(), "an unknown field in {path:?} was taken");
            for field in object.keys() {
                let missing = changed(&recorded.event, |value| {
                    value.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(field);
                });
                assert!(Event::parse(&missing).is_err(), "{path}/{field} may be left out");
            }
        }
    }
}

#[test]
fn any_other_spelling_of_an_event_is_refused() {
    let world = World::opened();
    let text = String::from_utf8(world.events[0].event.bytes().to_vec()).unwrap();
    for other in [
        text.replacen(':', ": ", 1),
        format!("{text}\n"),
        format!("\u{feff}{text}"),
        text.replace("\"epoch\":1,", "\"epoch\":1.0,"),
        text.replace("\"epoch\":1,", "\"epoch\":1,\"epoch\":1,"),
        text.replace("\"format\":1,", "\"format\":1e0,"),
        text.replace("planner", "pl\\u0061nner"),
    ] {
        assert_ne!(other, text);
        assert!(Event::parse(other.as_bytes()).is_err(), "{other}");
    }
}

#[test]
fn hashes_and_ids_have_one_spelling() {
    let world = World::opened();
    for (path, spell) in [
        ("/store", str::to_ascii_uppercase as fn(&str) -> String),
        ("/trace", str::to_ascii_lowercase),
        ("/actor", str::to_ascii_lowercase),
        ("/time", |time: &str| time.replace('Z', "+00:00")),
        ("/statement/command", str::to_ascii_lowercase),
        ("/statement/role", str::to_ascii_uppercase),
    ] {
        let bytes = changed(&world.events[0].event, |value| {
            let found = value.pointer(path).and_then(Value::as_str).unwrap();
            *value.pointer_mut(path).unwrap() = Value::String(spell(found));
        });
        assert!(Event::parse(&bytes).is_err(), "{path}");
    }
}

#[test]
fn envelope_and_statement_must_tell_one_story() {
    let mut world = World::opened();
    world.propose();
    let event = &world.events[1].event;
    let other_hash = world.events[0].event.hash().to_string();
    let other_id = world.desk.registry().trace().to_string();
    for (path, value, expected) in [
        ("/store", json!(other_hash), Disagreement::Field("store")),
        ("/trace", json!(other_id), Disagreement::Field("trace")),
        ("/content", json!(null), Disagreement::Field("content")),
        ("/proof", json!("none"), Disagreement::Field("proof")),
        ("/previous", json!(null), Disagreement::Field("previous")),
        ("/registry", json!(null), Disagreement::Field("registry")),
        ("/sequence", json!(0), Disagreement::Field("previous")),
        ("/statement/seen/sequence", json!(1), Disagreement::Field("seen")),
        ("/statement/seen", json!(null), Disagreement::Field("seen")),
        ("/statement", json!(null), Disagreement::NoBody),
    ] {
        let bytes = changed(event, |whole| *whole.pointer_mut(path).unwrap() = value);
        assert_eq!(Event::parse(&bytes).unwrap().agree().unwrap_err(), expected, "{path}");
    }
    let both = changed(event, |value| {
        value["record"] = json!({"cause": null, "facts": {}, "role": "desk", "type": "later"});
    });
    assert_eq!(Event::parse(&both).unwrap().agree().unwrap_err(), Disagreement::TwoBodies);
}

#[test]
fn an_unknown_event_type_keeps_its_bytes_and_has_no_meaning() {
    let world = World::opened();
    let bytes = changed(&world.events[0].event, |value| {
        value["statement"]["type"] = json!("question_asked_by_a_later_version");
        value["statement"]["facts"] = json!({"anything": [1, {"deep": true}]});
    });
    let event = Event::parse(&bytes).unwrap();
    let said = event.agree().unwrap();
    assert!(matches!(said.kind, TypeName::Unknown(_)));
    assert!(matches!(said.facts, Facts::Unknown(_)));
    assert_eq!(Event::seal(event.envelope().clone()).unwrap().bytes(), bytes);
    assert!(demur_ledger::state::State::new().apply(&event, demur_ledger::meaning::Known::NOTHING).is_err());
}

#[test]
fn unknown_formats_roles_proofs_and_type_names_are_refused() {
    let world = World::opened();
    for (path, value) in [
        ("/format", json!(2)),
        ("/epoch", json!(0)),
        ("/statement/role", json!("king")),
        ("/proof", json!({"telepathy": {}, "ed25519": {}})),
        ("/proof", json!("Telepathy")),
        ("/statement/type", json!("Bad-Name")),
        ("/statement/type", json!("")),
        ("/statement/type", json!("x".repeat(65))),
    ] {
        let bytes = changed(&world.events[0].event, |whole| *whole.pointer_mut(path).unwrap() = value);
        let error = Event::parse(&bytes).unwrap_err().to_string();
        assert!(error.contains("expected"), "{error}");
    }
}

/// LED-26
#[test]
fn every_claim_is_one_statement_signed_by_one_key() {
    let (world, claim, _) = World::claiming();
    let event = &world.events[usize::try_from(claim.number()).unwrap()].event;
    let Proof::Ed25519(proof) = &event.envelope().proof else { panic!("a claim without a key") };
    let executor = world.agent(Role::Executor).public();
    assert_eq!(proof.key, executor.fingerprint());
    assert!(executor.verify(Purpose::Statement, event.statement_bytes().unwrap(), &proof.signature).is_ok());
    assert_eq!(event.envelope().actor, world.agent(Role::Executor).principal());
}

#[test]
fn content_opens_its_commitment_and_nothing_else_does() {
    let world = World::opened();
    let opening = world.events[0].opening.clone().unwrap();
    assert_eq!(Some(opening.commitment()), world.events[0].event.envelope().content);
    let content = Content::parse(EventType::SessionInitialized, &opening.bytes).unwrap();
    assert_eq!(canonical::to_vec(&content).unwrap(), opening.bytes);
    let mut other = opening.clone();
    other.bytes.push(b' ');
    assert_ne!(other.commitment(), opening.commitment());
    // The boundary between salt and content cannot be shifted: the salt has exactly 32 bytes.
    let mut shifted = opening.salt.as_bytes().to_vec();
    shifted.extend_from_slice(&opening.bytes);
    assert_eq!(digest(Purpose::Content, &[&shifted]).to_string(), opening.commitment().to_string());
    assert!(serde_json::from_value::<demur_core::commitment::Salt>(json!("00".repeat(33))).is_err());
}

/// LED-13
#[test]
fn claims_carry_text_confidence_and_evidence() {
    let (world, claim, facts) = World::claiming();
    let recorded = &world.events[usize::try_from(claim.number()).unwrap()];
    let said: Value = serde_json::from_slice(recorded.event.statement_bytes().unwrap()).unwrap();
    assert_eq!(said["facts"]["evidence"], serde_json::to_value(&facts.evidence).unwrap());
    let content: Value = serde_json::from_slice(&recorded.opening.as_ref().unwrap().bytes).unwrap();
    assert_eq!(content, json!({"confidence": 90, "text": "five words"}));
    for bad in [
        json!({"confidence": 101, "text": "x"}),
        json!({"confidence": 90}),
        json!({"text": "x"}),
        json!({"confidence": 90, "text": ""}),
        json!({"confidence": 0.9, "text": "x"}),
    ] {
        let bytes = canonical::to_vec(&bad).unwrap();
        assert!(Content::parse(EventType::ClaimIssued, &bytes).is_err(), "{bad}");
    }
}

#[test]
fn an_event_larger_or_deeper_than_allowed_is_refused() {
    let world = World::opened();
    let deep = (0..20).fold(json!(1), |inner, _| json!([inner]));
    for value in [json!("x".repeat(70_000)), deep] {
        let bytes = changed(&world.events[0].event, |whole| {
            whole["statement"]["type"] = json!("later");
            whole["statement"]["facts"] = json!({ "x": value });
        });
        assert!(Event::parse(&bytes).is_err());
        assert!(bytes.len() > Limits::EVENT.bytes || bytes.len() < 2_000);
    }
}

#[test]
fn facts_cite_every_event_they_name() {
    let facts: Facts =
        ProposalCreated { fallback_for: Some(3_u32.into()), replaces: Some(2_u32.into()) }.into();
    let mut cited = Vec::new();
    facts.cites(&mut |sequence| cited.push(sequence.number()));
    assert_eq!(cited, [3, 2]);
}

/// LED-06 LED-07
#[test]
fn no_facts_hide_a_reference_from_the_check() {
    // Every number in the facts of a real run that is a reference must be visited: the check that an author had
    // seen what it cites depends on it.
    let mut world = World::auditing();
    world.verify(demur_ledger::facts::VerificationStatus::Pass).unwrap();
    let not_references = ["condition", "conditions", "evidence_minimum", "retry_limit", "meets"];
    for recorded in &world.events {
        let said = recorded.event.agree().unwrap();
        let mut cited = Vec::new();
        said.facts.cites(&mut |sequence| cited.push(sequence.number()));
        let facts = serde_json::to_value(said.facts).unwrap();
        let mut numbers = Vec::new();
        collect_numbers(&facts, &not_references, &mut numbers);
        cited.sort_unstable();
        numbers.sort_unstable();
        assert_eq!(cited, numbers, "{}", said.kind);
    }
}

fn collect_numbers(value: &Value, skip: &[&str], numbers: &mut Vec<u64>) {
    match value {
        Value::Number(number) => numbers.push(number.as_u64().unwrap()),
        Value::Array(items) => items.iter().for_each(|item| collect_numbers(item, skip, numbers)),
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !skip.contains(&key.as_str()))
            .for_each(|(_, member)| collect_numbers(member, skip, numbers)),
        _ => {}
    }
}
