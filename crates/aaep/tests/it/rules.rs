//! Every rule of an event broken once, and the order in which they are looked at.

use demur_aaep::{
    error::Rule,
    event::EventReader,
    extension::{KnownExtension, Strictness},
    payload::Payload,
};
use serde_json::{Value, json};

use crate::world::{breaks, complete, event, minimal, of, read, with};

/// Returns a minimal event with one other field.
fn changed(name: &str, path: &str, new: Value) -> Value {
    with(minimal(name), path, new)
}

fn text_breaks(text: &[u8], rule: Rule) {
    let found = EventReader::default().read(text).map(|_| ()).map_err(|error| error.rule);
    assert_eq!(found, Err(rule), "{}", String::from_utf8_lossy(text));
}

/// AEP-13
#[test]
fn what_is_no_object_of_strict_json_is_refused() {
    for text in
        ["", "{", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud800\"}", "{\"a\":9007199254740993}", "{} {}", "{a:1}"]
    {
        text_breaks(text.as_bytes(), Rule::Json);
    }
    text_breaks(b"{\"a\":\"\xff\"}", Rule::Json);
    for text in ["[]", "null", "7", "\"{}\""] {
        text_breaks(text.as_bytes(), Rule::Object);
    }
    text_breaks(format!("{}1{}", "[".repeat(50), "]".repeat(50)).as_bytes(), Rule::Limit);
    text_breaks(" ".repeat(2 << 20).as_bytes(), Rule::Limit);
}

/// AEP-13
#[test]
fn required_fields_are_there_and_have_their_types() {
    for name in ["@context", "type", "event_id", "session_id", "timestamp", "producer"] {
        breaks(&changed("session.started", name, Value::Null), Rule::Required, name);
        breaks(&changed("session.started", name, json!(7)), Rule::FieldType, name);
        breaks(&changed("session.started", name, json!({"a": 1})), Rule::FieldType, name);
    }
    breaks(&changed("session.started", "type", json!("")), Rule::FieldType, "type");
    breaks(&changed("session.started", "@context", json!([])), Rule::FieldType, "@context");
    let contexts = json!(["https://aaep-protocol.org/context/v1", "no address"]);
    breaks(&changed("session.started", "@context", contexts), Rule::FieldType, "@context");
    for producer in [
        json!({}),
        json!({"agent_id": ""}),
        json!({"agent_id": "a", "other": 1}),
        json!(["a"]),
        json!({"agent_id": "a", "model": null}),
    ] {
        breaks(&changed("session.started", "producer", producer), Rule::FieldType, "producer");
    }
    let text = minimal("session.started").to_string().replace("\"evt_1\"", "null");
    text_breaks(text.as_bytes(), Rule::FieldType);
}

/// AEP-13
#[test]
fn the_core_context_comes_first() {
    let core = "https://aaep-protocol.org/context/v1";
    for contexts in [
        json!("https://example.org/v1"),
        json!(["https://example.org/v1", core]),
        json!("https://aaep-protocol.org/context/v2"),
    ] {
        breaks(&changed("session.started", "@context", contexts), Rule::CoreContext, "@context");
    }
    assert!(read(&changed("session.started", "@context", json!([core]))).is_ok());
}

/// AEP-13
#[test]
fn the_type_is_one_of_the_twelve_or_of_a_declared_extension() {
    for name in [
        "aaep:agent.purple.flamingo",
        "aaep:producer.manifest",
        "https://aaep-protocol.org/types/x",
        "nothing",
        "medai:seen",
        "https://example.org/medai/seen",
        "aaep",
        "x:y",
        "rdf:type",
        " aaep:agent.state.changed",
    ] {
        breaks(&changed("session.started", "type", json!(name)), Rule::KnownType, "type");
    }
    let declared = |name| with(with(minimal("session.started"), "type", json!(name)), "@context", contexts());
    for name in ["medai:patient.seen", "https://example.org/medai/seen"] {
        let found = event(&declared(name));
        let Payload::Extension(payload) = &found.payload else { panic!("{name}") };
        assert_eq!(payload.summary_normal.as_deref(), Some("Planning."));
        assert_eq!(found.payload.name().as_str(), name);
    }
    breaks(&with(declared("medai:patient.seen"), "summary_terse", json!("")), Rule::Payload, "summary_terse");
}

fn contexts() -> Value {
    json!(["https://aaep-protocol.org/context/v1", "https://example.org/medai/context/v1"])
}

/// AEP-05 AEP-13
#[test]
fn ids_and_times_have_their_form() {
    let long = format!("evt_{}", "a".repeat(65));
    for id in ["evt_", "evt_a-b", "evt_a_b", "EVT_1", "1", "", "sess_1", " evt_1", "evt_é", &long] {
        breaks(&changed("session.started", "event_id", json!(id)), Rule::FieldForm, "event_id");
    }
    breaks(&changed("session.started", "session_id", json!("evt_1")), Rule::FieldForm, "session_id");
    for time in [
        "May 24, 2026",
        "2026-05-24",
        "2026-05-24T14:22:12",
        "2026-05-24T14:22:12.1Z",
        "2026-05-24T14:22:12.1234Z",
        "2026-02-30T14:22:12Z",
        "2026-05-24 14:22:12Z",
        "2026-05-24T14:22:12z",
        "2026-05-24T14:22:12+1:00",
        "",
    ] {
        breaks(&changed("session.started", "timestamp", json!(time)), Rule::FieldForm, "timestamp");
    }
    for token in ["rpl_", "rpl_a-b", "tok_1", "rpl_\u{e9}"] {
        breaks(&changed("awaiting.clarification", "reply_token", json!(token)), Rule::Payload, "reply_token");
    }
}

/// AEP-13
#[test]
fn optional_fields_of_the_envelope_have_their_types() {
    for (field, wrong) in [
        ("sequence_number", json!(-1)),
        ("sequence_number", json!(1.5)),
        ("verbosity", json!("loud")),
        ("urgency", json!("urgent")),
        ("urgency", json!({"critical": null})),
        ("localization_hints", json!({"primary_language": "not a tag"})),
        ("localization_hints", json!({"other": 1})),
        ("localization_hints", json!(["en"])),
        ("localization_hints", json!({"primary_language": null})),
        ("correlation_id", json!(7)),
        ("extensions", json!({"medai": 7})),
        ("extensions", json!([])),
        ("aaep_version", json!("one")),
    ] {
        breaks(&changed("session.started", field, wrong), Rule::OptionalField, field);
    }
    let text = minimal("session.started").to_string().replacen('{', "{\"urgency\":null,", 1);
    text_breaks(text.as_bytes(), Rule::OptionalField);
    for version in ["0.1.0-draft", "1.1.0", "2.0.0"] {
        breaks(&changed("session.started", "aaep_version", json!(version)), Rule::Version, "aaep_version");
    }
}

/// AEP-13
#[test]
fn names_that_are_reserved_or_unknown_are_refused() {
    for name in ["aaep_secret", "@id", "@graph", "@base", "@vocab"] {
        breaks(&changed("session.started", name, json!(1)), Rule::ReservedField, name);
    }
    for name in ["custom_field", "summary_normal_yo", "error_message", "question"] {
        breaks(&changed("session.started", name, json!("x")), Rule::UnknownField, name);
    }
}

/// AEP-01 AEP-11 AEP-12
#[test]
fn the_payload_has_the_shape_of_its_type() {
    for (name, field, wrong) in [
        ("session.started", "summary_normal", json!("")),
        ("session.started", "tools_available", json!(["a", "a"])),
        ("session.completed", "result_uri", json!("no address")),
        ("session.errored", "error_category", json!("timeout")),
        ("session.errored", "error_code", json!("lower")),
        ("session.cancelled", "cancelled_by", json!("nobody")),
        ("session.cancelled", "cancellation_reason", json!("Upper")),
        ("state.changed", "to_state", json!("x".repeat(65))),
        ("progress.updated", "progress", json!({"percent": 100.5})),
        ("progress.updated", "progress", json!({})),
        ("progress.updated", "progress", json!({"percent": null})),
        ("progress.updated", "progress", json!({"other": 1})),
        ("progress.updated", "eta_ms", json!(86_400_001)),
        ("tool.invoked", "tool", json!("1tool")),
        ("tool.completed", "status", json!("ok")),
        ("output.streaming", "position", json!(-1)),
        ("output.streaming", "complete", json!("no")),
        ("output.streaming", "content_type", json!("text")),
        ("awaiting.confirmation", "default_decision", json!("maybe")),
        ("awaiting.confirmation", "allowed_replies", json!(["accept", "accept"])),
        ("awaiting.confirmation", "extra_context", json!([])),
        ("awaiting.clarification", "accepted_response_kinds", json!([])),
        ("awaiting.clarification", "accepted_response_kinds", json!(["freetext", "freetext"])),
        ("awaiting.clarification", "accepted_response_kinds", json!(["voice"])),
        ("awaiting.clarification", "choices", json!([{"value": "a", "label": "A"}])),
        (
            "awaiting.clarification",
            "choices",
            json!([{"value": "a", "label": "A", "more": 1}, {"value": "b", "label": "B"}]),
        ),
        ("awaiting.clarification", "choices", json!([["a", "A"], ["b", "B"]])),
        (
            "awaiting.clarification",
            "choices",
            json!([{"value": "", "label": "A"}, {"value": "b", "label": "B"}]),
        ),
        ("awaiting.clarification", "default_response", json!(65)),
        ("handoff.requested", "target_kind", json!("robot")),
    ] {
        breaks(&changed(name, field, wrong), Rule::Payload, field);
    }
    for (name, field) in [
        ("session.started", "summary_normal"),
        ("session.errored", "error_category"),
        ("state.changed", "from_state"),
        ("tool.invoked", "summary_normal"),
        ("output.streaming", "chunk"),
        ("awaiting.confirmation", "default_decision"),
        ("awaiting.clarification", "timeout_seconds"),
        ("handoff.requested", "reason"),
    ] {
        breaks(&changed(name, field, Value::Null), Rule::Payload, field);
    }
    let text = minimal("awaiting.clarification").to_string().replacen('{', "{\"context\":null,", 1);
    text_breaks(text.as_bytes(), Rule::Payload);
}

/// AEP-02
#[test]
fn what_must_be_critical_says_nothing_else() {
    for name in ["session.errored", "awaiting.confirmation", "awaiting.clarification", "handoff.requested"] {
        for urgency in ["normal", "background"] {
            breaks(&changed(name, "urgency", json!(urgency)), Rule::Urgency, "urgency");
        }
        assert!(read(&changed(name, "urgency", json!("critical"))).is_ok());
    }
    assert!(read(&changed("tool.invoked", "urgency", json!("critical"))).is_ok());
}

#[test]
fn a_step_is_not_beyond_the_last() {
    let progress =
        |step, total| changed("progress.updated", "progress", json!({"step": step, "total_steps": total}));
    breaks(&progress(6, 5), Rule::ProgressSteps, "progress.step");
    assert!(read(&progress(5, 5)).is_ok());
}

/// AEP-11
#[test]
fn who_may_choose_has_choices_with_different_values() {
    let kinds = |kinds| changed("awaiting.clarification", "accepted_response_kinds", kinds);
    breaks(&kinds(json!(["multiple_choice"])), Rule::Choices, "choices");
    breaks(&kinds(json!(["freetext", "multiple_choice"])), Rule::Choices, "choices");
    let twice = json!([{"value": "a", "label": "A"}, {"value": "a", "label": "Another"}]);
    breaks(&with(kinds(json!(["multiple_choice"])), "choices", twice), Rule::ChoiceValues, "choices");
}

/// AEP-16
#[test]
fn a_default_that_no_kind_takes_is_refused() {
    let default = |kinds: Value, default| {
        let value = with(complete("awaiting.clarification"), "accepted_response_kinds", kinds);
        with(value, "default_response", json!(default))
    };
    for (kinds, text) in [
        (json!(["multiple_choice"]), "61"),
        (json!(["numeric"]), "sixty"),
        (json!(["numeric"]), "1e999"),
        (json!(["numeric"]), "+1"),
        (json!(["numeric"]), "0x10"),
        (json!(["yes_no"]), "yes"),
        (json!(["freetext"]), ""),
        (json!(["yes_no", "numeric"]), "True"),
    ] {
        breaks(&default(kinds, text), Rule::DefaultResponse, "default_response");
    }
    for (kinds, text) in [
        (json!(["multiple_choice"]), "60"),
        (json!(["numeric"]), "-1.5e3"),
        (json!(["yes_no"]), "false"),
        (json!(["freetext"]), "60"),
        (json!(["numeric", "multiple_choice"]), "7"),
    ] {
        assert!(read(&default(kinds, text)).is_ok(), "{text}");
    }
}

/// AEP-18
#[test]
fn replies_are_accept_and_reject() {
    for replies in [json!(["accept", "later"]), json!(["yes"])] {
        breaks(
            &changed("awaiting.confirmation", "allowed_replies", replies),
            Rule::AllowedReplies,
            "allowed_replies",
        );
    }
    assert!(read(&changed("awaiting.confirmation", "allowed_replies", json!(["reject"]))).is_ok());
}

/// AEP-18: either field says that an action cannot be undone, and a risk that is not told is high.
#[test]
fn what_cannot_be_undone_is_not_done_without_a_reply() {
    let accept = |fields: Value| {
        let mut value = changed("awaiting.confirmation", "default_decision", json!("accept"));
        value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        value
    };
    for fields in [
        json!({"irreversible": true, "risk_level": "high"}),
        json!({"irreversible": true, "risk_level": "medium"}),
        json!({"irreversible": true}),
        json!({"reversibility": "irreversible"}),
        json!({"reversibility": "irreversible", "irreversible": false, "risk_level": "medium"}),
    ] {
        breaks(&accept(fields), Rule::SafeDefault, "default_decision");
    }
    for fields in [
        json!({"irreversible": true, "risk_level": "low"}),
        json!({"irreversible": false, "risk_level": "high"}),
        json!({"reversibility": "reversible_with_effort", "risk_level": "medium"}),
        json!({}),
    ] {
        assert!(read(&accept(fields)).is_ok());
    }
}

#[test]
fn extensions_are_declared_and_have_the_shape_that_they_demand() {
    let fields = |prefix: &str| changed("session.started", "extensions", json!({ prefix: {"ok": true} }));
    for prefix in ["ab", "aaep", "RDF", "xsd", "@id", "much_too_long_", "1abc", "a.bc"] {
        breaks(&with(fields(prefix), "@context", contexts()), Rule::ExtensionPrefix, "extensions");
    }
    breaks(&fields("medai"), Rule::ExtensionDeclared, "extensions.medai");
    assert!(read(&with(fields("medai"), "@context", contexts())).is_ok());
    let check: fn(&serde_json::Map<String, Value>) -> Result<(), String> =
        |fields| if fields.contains_key("ok") { Ok(()) } else { Err("the field ok".to_owned()) };
    let medai =
        KnownExtension { prefix: of("medai"), context: of("https://example.org/medai/context/v1"), check };
    let reader = EventReader { extensions: vec![medai], ..EventReader::default() };
    let rule =
        |value: Value| reader.read(value.to_string().as_bytes()).map(|_| ()).map_err(|error| error.rule);
    assert_eq!(rule(with(fields("medai"), "@context", contexts())), Ok(()));
    let wrong = with(fields("medai"), "extensions", json!({"medai": {"other": 1}}));
    assert_eq!(rule(with(wrong, "@context", contexts())), Err(Rule::ExtensionSchema));
    // The address of a known extension declares no other prefix, and no other address declares a known one.
    assert_eq!(rule(with(fields("other"), "@context", contexts())), Err(Rule::ExtensionDeclared));
    let other = json!(["https://aaep-protocol.org/context/v1", "https://example.org/other/v1"]);
    assert_eq!(rule(with(fields("medai"), "@context", other.clone())), Err(Rule::ExtensionDeclared));
    assert_eq!(rule(with(fields("other"), "@context", other)), Ok(()));
}

/// AEP-13: with several rules broken, the first by section 3.9 is named.
#[test]
fn rules_are_looked_at_in_the_order_of_the_specification() {
    let steps: [(&str, Value, Rule); 10] = [
        ("producer", Value::Null, Rule::Required),
        ("timestamp", json!(7), Rule::FieldType),
        ("@context", json!("https://example.org/v1"), Rule::CoreContext),
        ("type", json!("aaep:agent.none"), Rule::KnownType),
        ("event_id", json!("none"), Rule::FieldForm),
        ("verbosity", json!("loud"), Rule::OptionalField),
        ("@id", json!(1), Rule::ReservedField),
        ("question", json!(""), Rule::Payload),
        ("urgency", json!("normal"), Rule::Urgency),
        ("extensions", json!({"medai": {}}), Rule::ExtensionDeclared),
    ];
    for start in 0..steps.len() {
        let broken =
            steps[start..].iter().fold(minimal("awaiting.clarification"), |value, (field, wrong, _)| {
                with(value, field, wrong.clone())
            });
        assert_eq!(read(&broken).map_err(|error| error.rule), Err(steps[start].2), "{broken:#}");
    }
}

#[test]
fn who_follows_a_later_producer_lets_through_what_is_new() {
    let reader = EventReader { strictness: Strictness::Tolerant, ..EventReader::default() };
    let takes = |value: &Value| reader.read(value.to_string().as_bytes()).map(|received| received.event);
    let mut later = changed("session.started", "brand_new", json!([1]));
    later["aaep_version"] = json!("1.3.0");
    assert!(takes(&later).is_ok());
    let unknown = takes(&changed("session.started", "type", json!("aaep:agent.purple.flamingo")));
    assert_eq!(unknown.unwrap().payload.summaries().normal, Some("Planning."));
    assert!(takes(&changed("session.started", "aaep_version", json!("2.0.0"))).is_err());
    assert!(takes(&changed("session.started", "@id", json!(1))).is_err());
    assert!(takes(&changed("session.started", "summary_normal", json!(""))).is_err());
}

#[test]
fn every_rule_has_a_code_of_its_own_and_a_section() {
    let mut codes: Vec<&str> = Rule::ALL.iter().map(|rule| rule.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Rule::ALL.len());
    assert!(Rule::ALL.iter().all(|rule| rule.section().starts_with(|first: char| first.is_ascii_digit())));
}

#[test]
fn an_error_says_where_and_shows_no_outside_text_that_deceives() {
    let error = read(&changed("session.started", "event_id", json!("evt_\u{202e}\n"))).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("event_id: expected evt_ and 1 to 64 letters and digits, found "), "{text}");
    assert!(text.ends_with("(FIELD_FORM, section 3.9 step 6)"), "{text}");
    assert!(!text.contains('\u{202e}') && !text.contains('\n'), "{text}");
    let long = read(&changed("session.started", &"x".repeat(5000), json!(1))).unwrap_err();
    assert!(long.to_string().len() < 400);
}
