//! What is granted: never more than was asked for, and every departure told.

use demur_aaep::{
    capability::Capabilities,
    envelope::Producer,
    error::Rule,
    extension::KnownExtension,
    handshake::SubscriptionRequest,
    language::LanguageTag,
    negotiation::{self, ServiceOffer, check_honored, honor},
    resolved,
    word::RejectionReason,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::of;

pub(crate) fn offer() -> ServiceOffer {
    ServiceOffer {
        producer: Producer::new(of("desk")),
        max_events_per_second: Some(20.try_into().unwrap()),
        languages: vec![of("en-US"), of("de")],
        extensions: vec![resolved::known().unwrap()],
        manifest_uri: Some(of("https://example.com/m")),
        signed_manifest: None,
    }
}

pub(crate) fn capabilities(value: Value) -> Capabilities {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn request(version: &str, asked: Value) -> SubscriptionRequest {
    serde_json::from_value(json!({"aaep_version": version, "subscriber_id": "reader", "capabilities": asked}))
        .unwrap()
}

fn reason(request: &SubscriptionRequest, offer: &ServiceOffer) -> Option<RejectionReason> {
    let refusal = negotiation::grant(request, offer).err()?;
    assert_eq!(refusal.alternative_manifest_uri, offer.manifest_uri);
    assert!(!refusal.reason_message.is_empty());
    Some(refusal.reason_code)
}

/// AEP-19
#[test]
fn one_version_is_spoken() {
    assert_eq!(reason(&request("1.0.0", json!({})), &offer()), None);
    for version in ["0.1.0-draft", "1.1.0", "2.0.0"] {
        assert_eq!(reason(&request(version, json!({})), &offer()), Some(RejectionReason::VersionUnsupported));
    }
}

/// AEP-19
#[test]
fn who_wants_a_signed_manifest_gets_one_or_nothing() {
    let asked = request("1.0.0", json!({"accept_signed_manifests_only": true}));
    assert_eq!(reason(&asked, &offer()), Some(RejectionReason::ManifestSignatureRequired));
    let signed = ServiceOffer { signed_manifest: Some("a.b.c".to_owned()), ..offer() };
    assert_eq!(reason(&asked, &signed), None);
}

/// AEP-19
#[test]
fn two_extensions_with_one_prefix_are_refused_by_its_name() {
    let other = KnownExtension { context: of("https://example.org/demur/v2"), ..resolved::known().unwrap() };
    let both = ServiceOffer { extensions: vec![resolved::known().unwrap(), other], ..offer() };
    let asked = json!({"supported_extensions": ["urn:demur:aaep:v1", "https://example.org/demur/v2"]});
    let refusal = negotiation::grant(&request("1.0.0", asked), &both).unwrap_err();
    assert_eq!(refusal.reason_code, RejectionReason::CapabilitiesIncompatible);
    assert!(refusal.reason_message.contains("demur"));
    let one = json!({"supported_extensions": ["urn:demur:aaep:v1"]});
    assert_eq!(reason(&request("1.0.0", one), &both), None);
}

/// AEP-19
#[test]
fn what_can_be_served_is_granted_and_the_rest_is_told() {
    let asked = json!({
        "max_events_per_second": 50, "languages": ["fr", "de-CH", "en"], "pace_wpm": 200, "coalesce_boundaries": ["word"],
        "supports_clarification_reply": true, "supported_extensions": ["urn:demur:aaep:v1", "https://example.org/x/v1"],
        "demur": {"a": 1}, "haptic": {"b": 2}, "event_filters": {"exclude": ["aaep:agent.tool.*"]},
    });
    let terms = honor(&capabilities(asked), &offer()).unwrap();
    let expected = json!({
        "max_events_per_second": 20, "languages": ["de-CH", "en"], "coalesce_boundaries": ["word"],
        "supports_clarification_reply": true, "supported_extensions": ["urn:demur:aaep:v1"], "demur": {"a": 1},
        "event_filters": {"exclude": ["aaep:agent.tool.*"]},
    });
    assert_eq!(serde_json::to_value(&terms.capabilities).unwrap(), expected);
    assert_eq!(terms.notes.len(), 4, "{:?}", terms.notes);
}

/// AEP-19
#[test]
fn no_common_language_is_told_and_no_empty_list_is_written() {
    let terms = honor(&capabilities(json!({"languages": ["fr"]})), &offer()).unwrap();
    assert_eq!(terms.capabilities.languages, None);
    assert!(terms.notes[1].contains("en-US, de"), "{:?}", terms.notes);
    let nothing = honor(&Capabilities::default(), &offer()).unwrap();
    assert_eq!(nothing.capabilities, capabilities(json!({"max_events_per_second": 20})));
}

#[test]
fn what_is_wider_than_asked_is_found() {
    for (asked, honored) in [
        (json!({"max_events_per_second": 5}), json!({"max_events_per_second": 6})),
        (json!({"max_events_per_second": 5}), json!({})),
        (json!({"languages": ["en"]}), json!({"languages": ["en", "de"]})),
        (json!({}), json!({"languages": ["de"]})),
        (json!({"coalesce_boundaries": ["sentence"]}), json!({"coalesce_boundaries": ["sentence", "word"]})),
        (json!({}), json!({"coalesce_boundaries": ["word"]})),
        (json!({}), json!({"supports_clarification_reply": true})),
        (json!({}), json!({"supports_confirmation_reply": true})),
        (json!({}), json!({"supported_extensions": ["urn:x:y"]})),
        (
            json!({"event_filters": {"include": ["aaep:agent.tool.*"]}}),
            json!({"event_filters": {"include": ["aaep:agent.*"]}}),
        ),
        (json!({"event_filters": {"include": ["aaep:agent.tool.*"]}}), json!({})),
        (
            json!({"event_filters": {"exclude": ["aaep:agent.tool.*"]}}),
            json!({"event_filters": {"exclude": ["aaep:agent.tool.invoked"]}}),
        ),
    ] {
        let found = check_honored(&capabilities(honored.clone()), &capabilities(asked.clone()));
        assert_eq!(found.map_err(|error| error.rule), Err(Rule::Honored), "{asked} {honored}");
    }
    for (asked, honored) in [
        (
            json!({}),
            json!({"max_events_per_second": 1, "languages": ["en-us"], "coalesce_boundaries": ["completion"]}),
        ),
        (
            json!({"event_filters": {"include": ["aaep:agent.*"]}}),
            json!({"event_filters": {"include": ["aaep:agent.tool.*", "aaep:agent.state.changed"]}}),
        ),
        (
            json!({"event_filters": {"exclude": ["aaep:agent.tool.invoked"]}}),
            json!({"event_filters": {"exclude": ["aaep:agent.tool.*"]}}),
        ),
    ] {
        assert_eq!(check_honored(&capabilities(honored), &capabilities(asked)), Ok(()));
    }
}

fn any_capabilities() -> impl Strategy<Value = Capabilities> {
    let language = prop::sample::select(vec!["en", "en-US", "de", "fr", "yo-NG", "zh-Hant"]);
    let languages = prop::collection::btree_set(language, 1..4);
    let boundaries = prop::collection::btree_set(
        prop::sample::select(vec!["none", "word", "sentence", "completion"]),
        1..4,
    );
    let patterns = || {
        prop::collection::btree_set(
            prop::sample::select(vec!["aaep:agent.*", "aaep:agent.tool.*", "demur:*"]),
            0..3,
        )
    };
    let parts = (
        prop::option::of(1_u64..50),
        prop::option::of(languages),
        prop::option::of(boundaries),
        any::<Option<bool>>(),
        prop::option::of((patterns(), patterns())),
        any::<bool>(),
    );
    parts.prop_map(|(rate, languages, boundaries, reply, filters, extension)| {
        let mut value = json!({});
        let mut put = |name: &str, part: Option<Value>| {
            if let Some(part) = part {
                value[name] = part;
            }
        };
        put("max_events_per_second", rate.map(|rate| json!(rate)));
        put("languages", languages.map(|languages| json!(languages)));
        put("coalesce_boundaries", boundaries.map(|boundaries| json!(boundaries)));
        put("supports_clarification_reply", reply.map(|reply| json!(reply)));
        put(
            "event_filters",
            filters.map(|(include, exclude)| json!({"include": include, "exclude": exclude})),
        );
        put("supported_extensions", extension.then(|| json!(["urn:demur:aaep:v1", "urn:x:y"])));
        capabilities(value)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// AEP-19
    #[test]
    fn what_is_honored_is_never_wider_than_what_was_asked_for(asked in any_capabilities()) {
        let honored = honor(&asked, &offer()).unwrap();
        prop_assert_eq!(check_honored(&honored.capabilities, &asked), Ok(()));
        // What was granted is granted again.
        let again = honor(&honored.capabilities, &offer()).unwrap();
        prop_assert_eq!(again.capabilities, honored.capabilities);
    }

    /// AEP-19
    #[test]
    fn what_is_not_renegotiated_stays(first in any_capabilities(), second in any_capabilities()) {
        let updated = first.updated(&second);
        prop_assert_eq!(&updated.languages, second.languages.as_ref().map_or(&first.languages, |_| &second.languages));
        prop_assert_eq!(updated.updated(&Capabilities::default()), updated.clone());
        prop_assert_eq!(updated.updated(&second), updated);
    }
}

#[test]
fn languages_that_are_served_are_asked_for_as_they_were_written() {
    let served: Vec<LanguageTag> = vec![of("EN-us")];
    let terms = honor(&capabilities(json!({"languages": ["EN-us"]})), &offer()).unwrap();
    assert_eq!(terms.capabilities.languages.unwrap().as_slice(), served);
}
