//! Gaps and the document that asks, against the seed's example written by hand.

use demur_clarify::{
    Error,
    document::Document,
    gap::{Gap, Severity},
    keys::KeyHistory,
    name::GapId,
    read,
};
use demur_core::{
    canonical,
    limit::{List, Whole},
};
use serde_json::{Value, json};

use crate::world::{after, agent, caller, document, jurisdiction, keys, layout, list, of, session};

/// The example of seed 000, section 4, with values where the seed has placeholders.
fn of_the_seed() -> Value {
    json!({
        "$schema": "https://workswithagents.dev/specs/clarification-protocol.json",
        "protocol_version": "1.0.0",
        "session_id": "0196bb7c-0000-7000-8000-000000000001",
        "agent_id": "wwa-scaffold-v1.0.0",
        "agent_public_key": "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "timestamp": "2026-05-10T15:00:00Z",
        "status": "needs_clarification",
        "gaps": [
            {
                "id": "gap-001",
                "field": "compliance.jurisdiction",
                "severity": "BLOCK",
                "question": "JSP 440 (UK MOD) selected but deployment target is USWDS (USA). Which jurisdiction applies?",
                "context": "Compliance overlap: JSP 440 ↔ NATO STANAG. Possible UK/NATO deployment vs US system.",
                "suggestions": ["jsp-440-only", "uswds-only", "both-with-nato-stanag"],
                "blocked_operations": ["planner", "developer", "build"]
            }
        ],
        "accepted_gaps": 0,
        "blocking_gaps": 1,
        "warning_gaps": 0,
        "signature": "ed25519:07bf4fbc2fe83efbe7ce5bbe944124ca061a26a08e4a10a58af33fcc79bb517e3c277355c451e2aeae6722be8f3a08bebc3f8da934b5b7c4f66043eeb29e6200"
    })
}

fn document_at(seconds: u64) -> Document {
    let gaps = List::try_from(vec![jurisdiction()]).unwrap();
    Document::sign(session(), after(seconds), gaps, Whole::of::<0>(), &agent()).unwrap()
}

/// CLR-20, CLR-21
#[test]
fn equals_the_example_of_the_seed() {
    assert_eq!(serde_json::to_value(document()).unwrap(), of_the_seed());
    let read: Document = read::from_slice(of_the_seed().to_string().as_bytes()).unwrap();
    assert_eq!(read, document());
    read.verify(&keys()).unwrap();
}

/// CLR-22
#[test]
fn counts_follow_from_the_gaps() {
    let gaps = List::try_from(vec![jurisdiction(), layout()]).unwrap();
    let document = Document::sign(session(), after(0), gaps, Whole::of::<7>(), &agent()).unwrap();
    assert_eq!((document.blocking_gaps(), document.warning_gaps(), document.accepted_gaps()), (1, 1, 7));
}

/// CLR-22
#[test]
fn refuses_counts_that_disagree_with_the_gaps() {
    for (member, count) in [("blocking_gaps", 0), ("blocking_gaps", 2), ("warning_gaps", 1)] {
        let mut value = of_the_seed();
        value[member] = count.into();
        let error = read::from_slice::<Document>(value.to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().contains(&format!("{member}: expected")), "{error}");
    }
}

/// CLR-01: a refusal without a gap would refuse nothing.
#[test]
fn refuses_a_document_without_gaps() {
    let mut value = of_the_seed();
    (value["gaps"], value["blocking_gaps"]) = (json!([]), 0.into());
    let error = read::from_slice::<Document>(value.to_string().as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "gaps: expected 1 to 256 entries, found 0");
}

/// CLR-01: no status but the refusal.
#[test]
fn refuses_another_status() {
    let mut value = of_the_seed();
    value["status"] = "ready_to_proceed".into();
    let error = read::from_slice::<Document>(value.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, Error::Shape { ref field, .. } if field == "status"), "{error}");
}

#[test]
fn refuses_one_gap_twice() {
    let gaps = List::try_from(vec![jurisdiction(), jurisdiction()]).unwrap();
    let error = Document::sign(session(), after(0), gaps, Whole::of::<0>(), &agent()).unwrap_err();
    assert_eq!(error.to_string(), "gaps: expected each gap once, found gap-001 twice");
}

/// CLR-72
#[test]
fn every_signed_member_counts() {
    let verifies = |value: &Value| {
        let document = read::from_slice::<Document>(value.to_string().as_bytes());
        document.is_ok_and(|document| document.verify(&keys()).is_ok())
    };
    for (pointer, other) in [
        ("/session_id", json!("0196bb7c-0000-7000-8000-000000000002")),
        ("/agent_id", json!("another")),
        ("/timestamp", json!("2026-05-10T15:00:01Z")),
        ("/accepted_gaps", json!(1)),
        ("/gaps/0/field", json!("compliance.region")),
        ("/gaps/0/question", json!("Which?")),
        ("/gaps/0/context", json!("")),
        ("/gaps/0/suggestions/0", json!("uswds")),
        ("/gaps/0/blocked_operations", json!([])),
    ] {
        let mut value = of_the_seed();
        *value.pointer_mut(pointer).unwrap() = other;
        assert!(!verifies(&value), "{pointer} is not covered");
    }
    assert!(verifies(&of_the_seed()));
}

/// CLR-72
#[test]
fn refuses_the_key_of_another() {
    let other = KeyHistory::pinned(of("wwa-scaffold-v1.0.0"), caller().public_key());
    assert!(matches!(document().verify(&other), Err(Error::Signature { field: "signature", .. })));
    let renamed = KeyHistory::pinned(of("another"), agent().public_key());
    assert!(matches!(document().verify(&renamed), Err(Error::Field(error)) if error.field == "agent_id"));
}

/// CLR-72: during a rotation two keys are valid, and the document names the one that signed.
#[test]
fn refuses_a_document_that_names_another_key_than_its_own() {
    let keys = crate::identity::rotated().keys();
    let mut value = serde_json::to_value(document_at(200)).unwrap();
    value["agent_public_key"] = json!(crate::identity::new_agent().public_key());
    value.as_object_mut().unwrap().remove("signature");
    value["signature"] = json!(agent().sign(&canonical::to_vec(&value).unwrap()).unwrap());
    let forged: Document = read::from_slice(value.to_string().as_bytes()).unwrap();
    assert!(matches!(forged.verify(&keys), Err(Error::Field(error)) if error.field == "agent_public_key"));
    document_at(200).verify(&keys).unwrap();
}

#[test]
fn layout_and_order_are_free_and_the_signature_holds() {
    let value = of_the_seed();
    let members: Vec<String> = value
        .as_object()
        .unwrap()
        .iter()
        .rev()
        .map(|(name, value)| format!("  {name:?} :\n{value:#}"))
        .collect();
    let text = format!("{{\n{}\n}}\n", members.join(",\n"));
    read::from_slice::<Document>(text.as_bytes()).unwrap().verify(&keys()).unwrap();
}

/// CLR-62: what a gap blocks is by name.
#[test]
fn blocks_the_operations_it_names() {
    assert!(jurisdiction().blocks(&of("build")));
    assert!(!jurisdiction().blocks(&of("Build")));
    assert!(!layout().blocks(&of("build")));
}

#[test]
fn refuses_blocked_operations_of_a_warning() {
    let error = layout().with_blocked_operations(list(&["build"])).unwrap_err();
    assert_eq!(error.field, "blocked_operations");
}

#[test]
fn refuses_repeated_suggestions_and_operations() {
    assert_eq!(jurisdiction().with_suggestions(list(&["a", "b", "a"])).unwrap_err().field, "suggestions");
    let error = jurisdiction().with_blocked_operations(list(&["build", "build"])).unwrap_err();
    assert_eq!(error.to_string(), "blocked_operations: expected each operation once, found build twice");
}

#[test]
fn a_new_gap_asks_and_suggests_nothing() {
    let gap = Gap::new(GapId::number(12).unwrap(), of("output"), Severity::Warn, of("Where?")).unwrap();
    assert_eq!(gap.id().as_str(), "gap-012");
    assert!(gap.context().is_empty() && gap.suggestions().is_empty() && gap.blocked_operations().is_empty());
}
