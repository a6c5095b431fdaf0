//! Manifests: read, signed, verified.

use demur_aaep::{error::Rule, handshake::SubscriptionAccepted, manifest::Manifest};
use demur_core::{
    jws::{self, HeaderText, JwsSecretKey},
    key::SecretKey,
    limit::List,
};
use serde_json::{Value, json};

use crate::{
    messages::manifest,
    world::{of, with},
};

fn keys() -> [JwsSecretKey; 2] {
    [JwsSecretKey::EdDsa(SecretKey::from_seed(&[7; 32])), JwsSecretKey::es256(&[7; 32]).unwrap()]
}

fn read(value: &Value) -> Result<Manifest, (Rule, String)> {
    Manifest::read(value.to_string().as_bytes()).map_err(|error| (error.rule, error.field))
}

/// AEP-19
#[test]
fn a_manifest_is_read_and_written_back_as_it_was() {
    assert_eq!(serde_json::to_value(read(&manifest()).unwrap()).unwrap(), manifest());
    let levels = List::try_from(vec![1.try_into().unwrap()]).unwrap();
    let ours = Manifest::new(of("desk"), levels, List::try_from(vec![of("sse")]).unwrap()).unwrap();
    assert_eq!(read(&serde_json::to_value(&ours).unwrap()), Ok(ours));
}

/// AEP-19
#[test]
fn a_manifest_is_closed_and_says_what_it_must() {
    for (field, wrong) in [
        ("unknown", json!(1)),
        ("@context", json!("https://example.org")),
        ("type", json!("aaep:other")),
        ("agent_id", json!("")),
        ("aaep_versions_supported", json!([])),
        ("conformance_levels_supported", json!([4])),
        ("transports_supported", Value::Null),
        ("contact", json!(7)),
        ("max_concurrent_subscriptions", json!(0)),
        ("languages_supported", json!(["not a tag"])),
        ("transports_supported", json!(["sse", "sse"])),
    ] {
        assert_eq!(read(&with(manifest(), field, wrong)), Err((Rule::Manifest, field.to_owned())));
    }
    assert_eq!(Manifest::read(b"[]").map_err(|error| error.rule), Err(Rule::Object));
}

/// AEP-19
#[test]
fn a_signed_manifest_verifies_for_its_key_and_its_agent_alone() {
    let manifest = read(&manifest()).unwrap();
    let kid = HeaderText::try_from("key-1").unwrap();
    for (key, other) in [(0, 1), (1, 0)].map(|(key, other)| (keys()[key].clone(), keys()[other].clone())) {
        let signed = manifest.sign(&key, &kid).unwrap();
        assert_eq!(jws::header(&signed).unwrap().key_id, Some(kid.clone()));
        assert_eq!(Manifest::verify(&signed, &key.public(), "desk"), Ok(manifest.clone()));
        let rule = |found: Result<Manifest, demur_aaep::error::RuleViolation>| {
            found.map_err(|error| (error.rule, error.field))
        };
        assert_eq!(
            rule(Manifest::verify(&signed, &key.public(), "other")),
            Err((Rule::Manifest, "agent_id".to_owned()))
        );
        assert_eq!(
            rule(Manifest::verify(&signed, &other.public(), "desk")),
            Err((Rule::Manifest, "message".to_owned()))
        );
        let payload = jws::sign(&key, None, None, b"{\"agent_id\":\"desk\"}").unwrap();
        assert!(
            Manifest::verify(&payload, &key.public(), "desk").is_err(),
            "a signature over something else"
        );
    }
}

/// AEP-19
#[test]
fn a_producer_grants_what_its_manifest_claims() {
    let manifest = read(&manifest()).unwrap();
    let accepted = |path: &str, new: Value| -> SubscriptionAccepted {
        let accepted = json!({
            "subscription_id": "sub_1", "aaep_version": "1.0.0", "producer": {"agent_id": "desk"},
            "honored_capabilities": {"languages": ["en-GB"], "supported_extensions": ["urn:demur:aaep:v1"]},
        });
        serde_json::from_value(with(accepted, path, new)).unwrap()
    };
    assert_eq!(manifest.check_accepted(&accepted("aaep_version", json!("1.0.0"))), Ok(()));
    for (path, wrong, field) in [
        ("producer/agent_id", json!("other"), "producer.agent_id"),
        ("aaep_version", json!("0.9.0"), "aaep_version"),
        ("honored_capabilities/languages", json!(["en", "fr"]), "honored_capabilities.languages"),
        (
            "honored_capabilities/supported_extensions",
            json!(["urn:x:y"]),
            "honored_capabilities.supported_extensions",
        ),
    ] {
        let found =
            manifest.check_accepted(&accepted(path, wrong)).map_err(|error| (error.rule, error.field));
        assert_eq!(found, Err((Rule::Manifest, field.to_owned())));
    }
}
