//! Handshake and replies: closed on all sides.

use demur_aaep::{
    error::Rule,
    handshake::{ProducerMessage, SubscriberMessage},
    reply::Response,
    schema,
};
use serde_json::{Value, json};

use crate::{json_schema::misfit, world::with};

/// Every message with every field.
pub(crate) fn all() -> Vec<Value> {
    let mut all = subscriber();
    all.extend(producer());
    all.push(manifest());
    all
}

pub(crate) fn subscriber() -> Vec<Value> {
    vec![
        request(),
        json!({"type": "subscription.renegotiate", "subscription_id": "sub_1", "capabilities": {"max_events_per_second": 1, "cognitive_load": "low"}}),
        json!({"type": "subscription.close", "subscription_id": "sub_1", "reason_code": "subscriber_shutdown", "reason_message": "Bye."}),
        json!({
            "type": "confirmation.reply", "reply_token": "rpl_1", "decision": "accept", "subscription_id": "sub_1",
            "timestamp": "2026-05-24T14:22:24.812Z", "decided_by": "user:ada", "decision_rationale": "Fine.",
            "modified_action": {"amount": 400}, "correlation_id": "c",
        }),
        clarification(json!("67")),
        clarification(json!(true)),
        clarification(json!(-1200.5)),
        clarification(json!(67)),
    ]
}

fn producer() -> Vec<Value> {
    vec![
        json!({
            "type": "subscription.accepted", "subscription_id": "sub_1", "aaep_version": "1.0.0", "producer": {"agent_id": "desk"},
            "honored_capabilities": capabilities(), "manifest_uri": "https://example.com/m", "signed_manifest": "a.b.c",
            "negotiation_notes": "Less.",
        }),
        json!({
            "type": "subscription.rejected", "reason_code": "rate_limit", "reason_message": "Too many.",
            "retry_after_seconds": 60, "alternative_manifest_uri": "https://example.com/m",
        }),
        json!({"type": "subscription.close", "subscription_id": "sub_1"}),
    ]
}

pub(crate) fn request() -> Value {
    json!({
        "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "reader", "subscriber_name": "Reader 1",
        "subscriber_version": "1.0", "subscriber_manifest_uri": "https://example.com/r", "correlation_id": "c",
        "capabilities": capabilities(), "extensions": {"haptic": {"a": 1}},
    })
}

fn capabilities() -> Value {
    json!({
        "max_events_per_second": 5, "preferred_verbosity": "terse", "languages": ["yo-NG", "en"],
        "supports_confirmation_reply": true, "supports_clarification_reply": true, "coalesce_boundaries": ["sentence"],
        "event_filters": {"include": ["aaep:agent.*"], "exclude": ["aaep:agent.progress.updated"]},
        "supported_conformance_levels": [1, 2, 3], "supported_extensions": ["https://example.org/x/v1"], "cognitive_load": "low",
        "pace_wpm": 180, "accept_signed_manifests_only": false, "haptic": {"patterns": ["pulse"]},
    })
}

fn clarification(response: Value) -> Value {
    json!({
        "type": "clarification.reply", "reply_token": "rpl_1", "response": response, "subscription_id": "sub_1",
        "timestamp": "2026-05-24T14:22:24.812Z", "decided_by": "user:ada", "confidence": 0.87, "correlation_id": "c",
    })
}

pub(crate) fn manifest() -> Value {
    json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:producer.manifest", "agent_id": "desk",
        "agent_version": "1.4.2", "agent_name": "Desk", "aaep_versions_supported": ["1.0.0"],
        "conformance_levels_supported": [1, 2, 3], "transports_supported": ["sse", "websocket"],
        "languages_supported": ["en"], "event_types_emitted": ["aaep:agent.session.*"],
        "extensions_supported": ["urn:demur:aaep:v1"], "default_verbosity": "normal", "max_concurrent_subscriptions": 16,
        "contact": "help@example.com",
    })
}

fn subscriber_rule(value: &Value) -> Result<SubscriberMessage, (Rule, String)> {
    SubscriberMessage::read(value.to_string().as_bytes()).map_err(|error| (error.rule, error.field))
}

/// AEP-18 AEP-19
#[test]
fn messages_are_read_and_written_back_as_they_were() {
    for value in subscriber() {
        let message = subscriber_rule(&value).unwrap_or_else(|error| panic!("{error:?}: {value}"));
        assert_eq!(serde_json::to_value(&message).unwrap(), value);
        assert_eq!(message.name(), value["type"]);
    }
    for value in producer() {
        let message = ProducerMessage::read(value.to_string().as_bytes()).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), value);
        assert_eq!(message.name(), value["type"]);
    }
}

/// AEP-19
#[test]
fn messages_fit_the_schemas_and_nothing_more_does() {
    let schemas: Vec<(&str, Value)> =
        schema::all().into_iter().map(|(name, schema)| (name, schema.to_value())).collect();
    for value in all() {
        let name = value["type"].as_str().unwrap().trim_start_matches("aaep:");
        let (_, schema) = schemas.iter().find(|(known, _)| *known == name).unwrap();
        assert_eq!(misfit(schema, &value), None, "{name}");
        assert!(misfit(schema, &with(value.clone(), "unknown", json!(1))).is_some(), "{name}");
        assert!(misfit(schema, &with(value.clone(), "type", json!("other"))).is_some(), "{name}");
    }
}

#[test]
fn what_is_unknown_missing_or_of_another_shape_is_refused() {
    for (index, field, wrong) in [
        (0, "unknown", json!(1)),
        (0, "aaep_version", json!("one")),
        (0, "capabilities", json!([])),
        (0, "subscriber_id", json!("")),
        (1, "extensions", json!({})),
        (2, "reason_code", json!("Not A Word")),
        (3, "decision", json!("maybe")),
        (3, "extensions", json!({})),
        (3, "reply_token", json!("token")),
        (3, "timestamp", json!("now")),
        (4, "response", json!("")),
        (4, "response", json!(["67"])),
        (4, "response", json!({})),
        (4, "confidence", json!(1.5)),
        (4, "subscription_id", json!("sub_quickstart-demo")),
    ] {
        let value = with(subscriber()[index].clone(), field, wrong);
        assert_eq!(subscriber_rule(&value), Err((Rule::Message, field.to_owned())), "{value}");
    }
    for (index, field) in
        [(0, "capabilities"), (1, "subscription_id"), (3, "decision"), (4, "response"), (4, "timestamp")]
    {
        let value = with(subscriber()[index].clone(), field, Value::Null);
        assert_eq!(subscriber_rule(&value), Err((Rule::Message, field.to_owned())));
    }
    for (name, wrong) in [
        ("max_events_per_second", json!(0)),
        ("max_events_per_second", json!(100_001)),
        ("languages", json!([])),
        ("languages", json!(["en", "en"])),
        ("languages", json!(["not a tag"])),
        ("coalesce_boundaries", json!(["sentence", "sentence"])),
        ("event_filters", json!({"include": ["a*b"]})),
        ("event_filters", json!({"other": []})),
        ("event_filters", json!([["a"], ["b"]])),
        ("supported_conformance_levels", json!([4])),
        ("pace_wpm", json!(49)),
        ("haptic", json!(7)),
        ("supports_clarification_reply", json!("yes")),
    ] {
        let value = with(request(), &format!("capabilities/{name}"), wrong);
        assert!(subscriber_rule(&value).is_err_and(|(rule, _)| rule == Rule::Message), "{value}");
    }
    let null = request().to_string().replace("\"terse\"", "null");
    assert!(SubscriberMessage::read(null.as_bytes()).is_err());
}

#[test]
fn another_message_is_refused_by_its_name() {
    for name in [json!("subscription.accepted"), json!("aaep:agent.session.started"), json!(7), Value::Null] {
        assert_eq!(subscriber_rule(&with(request(), "type", name)), Err((Rule::Message, "type".to_owned())));
    }
    assert_eq!(SubscriberMessage::read(b"[]").map_err(|error| error.rule), Err(Rule::Object));
    assert_eq!(SubscriberMessage::read(b"{").map_err(|error| error.rule), Err(Rule::Json));
    let long = with(clarification(json!("x")), "correlation_id", json!("x".repeat(300_000)));
    assert_eq!(
        SubscriberMessage::read(long.to_string().as_bytes()).map_err(|error| error.rule),
        Err(Rule::Limit)
    );
}

/// AEP-10
#[test]
fn a_response_keeps_its_kind() {
    let response = |value: Value| match subscriber_rule(&clarification(value)).unwrap() {
        SubscriberMessage::Clarification(reply) => reply.response,
        other => panic!("{other:?}"),
    };
    assert_eq!(response(json!("67")), Response::Text("67".try_into().unwrap()));
    assert_eq!(response(json!(67)), Response::Number(67.into()));
    assert_eq!(response(json!(false)), Response::YesNo(false));
    assert!(matches!(response(json!(6.5)), Response::Number(_)));
}
