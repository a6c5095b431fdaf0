//! The twelve types, read and written.

use demur_aaep::{
    envelope::Producer,
    event::{AgentEvent, EventReader, SoftLimitExcess},
    event_type::{CoreType, EventName},
    payload::{AwaitingClarification, Payload},
    word::{
        Urgency,
        Verbosity::{Detailed, Normal, Terse},
    },
};
use serde_json::{Value, json};

use crate::world::{TWELVE, after, complete, event, minimal, of, read, with};

/// AEP-13
#[test]
fn every_type_is_read_with_few_fields_and_with_all_and_written_with_the_same_meaning() {
    for (name, core) in TWELVE.into_iter().zip(CoreType::ALL) {
        for value in [minimal(name), complete(name)] {
            let found = event(&value);
            assert_eq!(found.payload.core_type(), Some(*core), "{name}");
            let written: Value = serde_json::from_str(&found.to_json().unwrap()).unwrap();
            let expected = with(value, "urgency", serde_json::to_value(found.urgency()).unwrap());
            assert_eq!(written, expected, "{name}");
            assert_eq!(event(&written).payload, found.payload, "{name}");
        }
    }
}

/// AEP-02
#[test]
fn what_must_be_critical_is_critical_without_saying_so_and_says_so_when_it_is_written() {
    for name in ["session.errored", "awaiting.confirmation", "awaiting.clarification", "handoff.requested"] {
        let found = event(&minimal(name));
        assert_eq!(found.envelope.urgency, None);
        assert!(found.is_critical(), "{name}");
        let written: Value = serde_json::from_str(&found.to_json().unwrap()).unwrap();
        assert_eq!(written["urgency"], "critical", "{name}");
    }
    assert_eq!(event(&minimal("tool.invoked")).urgency(), Urgency::Normal);
}

/// AEP-01 AEP-21
#[test]
fn an_event_of_ours_says_version_urgency_and_language() {
    let payload = AwaitingClarification::new(of("Which age?"), of("rpl_1"), 300.try_into().unwrap());
    let ids = (of("evt_1"), of("sess_1"));
    let ours = AgentEvent::new(ids, after(0).into(), Producer::new(of("desk")), of("ar"), payload.into());
    let written: Value =
        serde_json::from_str(&ours.numbered(3.try_into().unwrap()).to_json().unwrap()).unwrap();
    let expected = json!({
        "@context": "https://aaep-protocol.org/context/v1", "aaep_version": "1.0.0",
        "type": "aaep:agent.awaiting.clarification", "event_id": "evt_1", "session_id": "sess_1", "sequence_number": 3,
        "timestamp": "2026-05-24T14:22:12.000Z", "producer": {"agent_id": "desk"}, "verbosity": "normal",
        "urgency": "critical", "localization_hints": {"primary_language": "ar", "text_direction": "rtl"},
        "question": "Which age?", "reply_token": "rpl_1", "timeout_seconds": 300,
    });
    assert_eq!(written, expected);
    assert!(read(&written).is_ok());
}

#[test]
fn fields_are_written_in_the_recommended_order() {
    let written = event(&complete("tool.invoked")).to_json().unwrap();
    let places: Vec<usize> = [
        "@context",
        "aaep_version",
        "type",
        "event_id",
        "session_id",
        "sequence_number",
        "timestamp",
        "producer",
        "verbosity",
        "urgency",
        "localization_hints",
        "correlation_id",
        "tool",
        "extensions",
    ]
    .iter()
    .map(|name| written.find(&format!("\"{name}\":")).unwrap())
    .collect();
    assert!(places.is_sorted(), "{written}");
}

#[test]
fn a_type_may_come_as_an_address_and_is_written_compactly() {
    for namespace in ["https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"] {
        let value = with(minimal("state.changed"), "type", json!(format!("{namespace}agent.state.changed")));
        let found = event(&value);
        assert_eq!(found.payload.name(), EventName::Core(CoreType::StateChanged));
        assert!(found.to_json().unwrap().contains("\"aaep:agent.state.changed\""));
    }
}

/// AEP-07
#[test]
fn a_whole_number_may_come_with_a_fraction_of_zero_and_is_written_without() {
    let text = minimal("awaiting.clarification").to_string().replace("300", "30.0");
    let found = EventReader::default().read(text.as_bytes()).unwrap().event;
    assert!(found.to_json().unwrap().contains("\"timeout_seconds\":30}"));
    for timeout in ["0", "86401", "30.5", "-1", "1e300", "\"30\"", "0.0"] {
        let text = minimal("awaiting.clarification").to_string().replace("300", timeout);
        assert!(EventReader::default().read(text.as_bytes()).is_err(), "{timeout}");
    }
    for timeout in [1, 86_400] {
        assert!(read(&with(minimal("awaiting.clarification"), "timeout_seconds", json!(timeout))).is_ok());
    }
}

/// AEP-04 AEP-09 AEP-12
#[test]
fn texts_are_counted_in_code_points() {
    for (field, most) in [
        ("question", 16_384),
        ("summary_terse", 4096),
        ("summary_normal", 16_384),
        ("summary_detailed", 16_384),
        ("context", 4096),
        ("default_response", 4096),
    ] {
        let text = |length| with(minimal("awaiting.clarification"), field, json!("\u{1f600}".repeat(length)));
        assert!(read(&text(most)).is_ok(), "{field}");
        assert!(read(&text(most + 1)).is_err(), "{field}");
        assert!(read(&text(0)).is_err(), "{field}");
    }
}

/// AEP-09
#[test]
fn the_wording_is_that_of_the_verbosity_or_the_nearest_there_is() {
    let worded = |terse: bool, normal: bool, detailed: bool, verbosity| {
        let mut value = minimal("awaiting.clarification");
        for (name, is_there) in [("terse", terse), ("normal", normal), ("detailed", detailed)] {
            if is_there {
                value[format!("summary_{name}")] = json!(name);
            }
        }
        event(&value).payload.announcement(verbosity).unwrap().to_owned()
    };
    for (verbosity, name) in [(Terse, "terse"), (Normal, "normal"), (Detailed, "detailed")] {
        assert_eq!(worded(true, true, true, verbosity), name);
        assert_eq!(worded(false, false, false, verbosity), "Which age?");
    }
    assert_eq!(worded(false, true, true, Terse), "normal");
    assert_eq!(worded(true, false, true, Normal), "detailed");
    assert_eq!(worded(true, true, false, Detailed), "normal");
    assert_eq!(worded(true, false, false, Detailed), "terse");
}

#[test]
fn every_event_has_something_to_announce() {
    for name in TWELVE {
        let announcement = event(&complete(name)).payload.announcement(Normal).map(str::to_owned);
        let expected = if name == "output.streaming" { "" } else { "Normal." };
        assert_eq!(announcement.as_deref(), Some(expected), "{name}");
    }
    for (name, expected) in [
        ("awaiting.confirmation", "Transfer $500."),
        ("handoff.requested", "Too hard."),
        ("state.changed", "thinking"),
        ("output.streaming", "Hello."),
    ] {
        assert_eq!(event(&minimal(name)).payload.announcement(Terse), Some(expected));
    }
}

#[test]
fn soft_limits_are_noted_and_hard_ones_refuse() {
    let excesses =
        |value: &Value| EventReader::default().read(value.to_string().as_bytes()).unwrap().excesses;
    let started = minimal("session.started");
    assert_eq!(excesses(&started), []);
    let long = with(minimal("handoff.requested"), "packaged_context", json!({"a": "x".repeat(17_000)}));
    assert_eq!(excesses(&long), [SoftLimitExcess::Text]);
    let mut pieces = minimal("handoff.requested");
    pieces["packaged_context"] = json!({"a": vec!["x".repeat(1000); 80]});
    assert_eq!(excesses(&pieces), [SoftLimitExcess::Bytes]);
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }));
    let mut deep = minimal("handoff.requested");
    deep["packaged_context"] = nested(9);
    assert_eq!(excesses(&deep), [SoftLimitExcess::Depth]);
    let mut many = minimal("session.started");
    many["@context"] = json!(["https://aaep-protocol.org/context/v1", "https://example.org/x/v1"]);
    many["extensions"] = (0..32).map(|index| (format!("ext{index}"), json!({}))).collect();
    assert_eq!(excesses(&many), [SoftLimitExcess::Fields]);
    deep["packaged_context"] = nested(40);
    assert!(read(&deep).is_err());
    pieces["packaged_context"] = json!({"a": vec!["x".repeat(1000); 1200]});
    assert!(read(&pieces).is_err());
}

/// AEP-05
#[test]
fn another_token_leaves_every_other_byte_as_it_was() {
    let text = " { \"producer\" : {\"agent_id\":\"p\\u0041\"},\n\"reply_token\" : \"rpl_theirs\" , \"question\":\"Which? \\u00e9\",\
        \"timeout_seconds\":3e1, \"@context\":[\"https://aaep-protocol.org/context/v1\"],\
        \"type\":\"aaep:agent.awaiting.clarification\",\"event\\u005fid\":\"evt_theirs\",\
        \"session_id\":\"sess_1\",\"timestamp\":\"2026-05-24T16:22:12.890123+02:00\"}\n";
    let received = EventReader::default().read(text.as_bytes()).unwrap();
    assert_eq!(received.text, text);
    let ours = received.retokened(&of("evt_ours"), &of("rpl_ours")).unwrap();
    assert_eq!(ours, text.replace("evt_theirs", "evt_ours").replace("rpl_theirs", "rpl_ours"));
    let event = EventReader::default().read(ours.as_bytes()).unwrap().event;
    let Payload::AwaitingClarification(payload) = event.payload else { panic!() };
    assert_eq!(payload.reply_token, of("rpl_ours"));
}
