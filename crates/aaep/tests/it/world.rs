//! What most tests begin with: one event of each type as literal JSON, times, and short ways to read and write.

use std::str::FromStr;

use demur_aaep::{
    error::{Rule, RuleViolation},
    event::{AgentEvent, EventReader},
};
use demur_core::time::Timestamp;
use serde_json::{Value, json};

/// Returns the value that a text spells.
pub(crate) fn of<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Returns the time this many milliseconds after the events of these tests.
pub(crate) fn after(millis: u64) -> Timestamp {
    of::<Timestamp>("2026-05-24T14:22:12.000Z").plus_millis(millis)
}

/// Returns what a reader makes of an event.
pub(crate) fn read(value: &Value) -> Result<AgentEvent, RuleViolation> {
    EventReader::default().read(value.to_string().as_bytes()).map(|received| received.event)
}

/// Returns the event that a value is.
#[track_caller]
pub(crate) fn event(value: &Value) -> AgentEvent {
    read(value).unwrap_or_else(|error| panic!("{error}: {value:#}"))
}

/// Checks that a reader names this rule and this field.
#[track_caller]
pub(crate) fn breaks(value: &Value, rule: Rule, field: &str) {
    match read(value) {
        Ok(_) => panic!("expected that {rule} is broken: {value:#}"),
        Err(error) => assert_eq!((error.rule, error.field.as_str()), (rule, field), "{error}: {value:#}"),
    }
}

/// Returns a value with another value at the dotted path of a field; null takes the field away.
pub(crate) fn with(mut value: Value, path: &str, new: Value) -> Value {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut object = &mut value;
    for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
        object = &mut object[parent];
    }
    if new.is_null() {
        object.as_object_mut().unwrap().remove(name);
    } else {
        object[name] = new;
    }
    value
}

/// Returns an event of the core with its required fields.
pub(crate) fn minimal(name: &str) -> Value {
    let mut value = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{name}"),
        "event_id": "evt_1",
        "session_id": "sess_1",
        "timestamp": "2026-05-24T14:22:12.000Z",
        "producer": {"agent_id": "planner"},
    });
    let payload = match name {
        "session.started" | "session.completed" => json!({"summary_normal": "Planning."}),
        "session.errored" => json!({"error_category": "transient", "summary_normal": "It failed."}),
        "session.cancelled" => json!({"cancelled_by": "user", "summary_normal": "Stopped."}),
        "state.changed" => json!({"from_state": "idle", "to_state": "thinking"}),
        "progress.updated" => json!({"progress": {"percent": 47.5}}),
        "tool.invoked" => json!({"tool": "fetch_balance", "summary_normal": "Fetching."}),
        "tool.completed" => json!({"tool": "fetch_balance", "status": "success"}),
        "output.streaming" => json!({"chunk": "Hello.", "position": 0, "complete": false}),
        "awaiting.confirmation" => json!({
            "action": "Transfer $500.", "consequence": "Money moves.", "reply_token": "rpl_1",
            "timeout_seconds": 300, "default_decision": "reject",
        }),
        "awaiting.clarification" => {
            json!({"question": "Which age?", "reply_token": "rpl_1", "timeout_seconds": 300})
        }
        "handoff.requested" => json!({"reason": "Too hard.", "target_kind": "human"}),
        other => panic!("{other}"),
    };
    value.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
    value
}

/// The names of the twelve.
pub(crate) const TWELVE: [&str; 12] = [
    "session.started",
    "session.completed",
    "session.errored",
    "session.cancelled",
    "state.changed",
    "progress.updated",
    "tool.invoked",
    "tool.completed",
    "output.streaming",
    "awaiting.confirmation",
    "awaiting.clarification",
    "handoff.requested",
];

/// Returns an event of the core with every field that it can have.
pub(crate) fn complete(name: &str) -> Value {
    let mut value = minimal(name);
    let object = value.as_object_mut().unwrap();
    object.extend(envelope().as_object().unwrap().clone());
    object.extend(payload(name).as_object().unwrap().clone());
    let is_critical = matches!(
        name,
        "session.errored" | "awaiting.confirmation" | "awaiting.clarification" | "handoff.requested"
    );
    object.insert("urgency".to_owned(), if is_critical { json!("critical") } else { json!("background") });
    value
}

fn envelope() -> Value {
    json!({
        "@context": ["https://aaep-protocol.org/context/v1", "https://example.org/medai/context/v1"],
        "aaep_version": "1.0.0",
        "sequence_number": 7,
        "producer": {
            "agent_id": "planner", "agent_version": "1.4.2", "agent_name": "Planner", "model": "m",
            "manifest_uri": "https://example.com/.well-known/aaep-manifest.json",
        },
        "verbosity": "detailed",
        "localization_hints": {
            "primary_language": "ar-SA", "text_direction": "rtl", "available_languages": ["ar-SA", "en-US"],
            "fallback_chain": ["en-US", "en"], "script": "Arab", "calendar": "islamic",
        },
        "correlation_id": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "extensions": {"medai": {"phi": ["history"], "deep": {"er": [1, null]}}},
    })
}

fn payload(name: &str) -> Value {
    let mut payload = match name {
        "session.started" => json!({
            "expected_duration_ms": 30_000, "requested_by": "user:ada", "request_text": "Plan.",
            "tools_available": ["a", "b"],
        }),
        "session.completed" => json!({
            "duration_ms": 1, "tool_invocations_count": 0, "output_summary": "", "result_uri": "https://example.com/r",
        }),
        "session.errored" => json!({
            "error_code": "TOOL_TIMEOUT", "error_uri": "https://example.com/e", "recoverable": true,
            "remediation_hint": "Try again.",
        }),
        "session.cancelled" => json!({"cancellation_reason": "user_stop", "partial_result": "half"}),
        "state.changed" => json!({"expected_duration_ms": 86_400_000}),
        "progress.updated" => json!({
            "progress": {"percent": 60.0, "step": 3, "total_steps": 5, "description": "Adding."}, "eta_ms": 12_000,
        }),
        "tool.invoked" => json!({
            "description": "Gets it.", "args_summary": "account: 1", "expected_duration_ms": 1, "risk_level": "low",
            "irreversible": false, "tool_call_id": "call_1",
        }),
        "tool.completed" => {
            json!({"status": "error", "tool_call_id": "call_1", "duration_ms": 2, "error_message": "No."})
        }
        "output.streaming" => {
            return json!({
                "chunk": "", "complete": true, "coalesce_hint": "completion", "output_id": "out_1",
                "content_type": "text/markdown", "language": "yo-NG",
            });
        }
        "awaiting.confirmation" => json!({
            "risk_level": "high", "irreversible": true, "reversibility": "irreversible",
            "allowed_replies": ["accept", "reject"], "extra_context": {"account": {"id": 7}},
        }),
        "awaiting.clarification" => json!({
            "accepted_response_kinds": ["multiple_choice", "numeric", "yes_no", "freetext"],
            "choices": [{"value": "60", "label": "Age 60"}, {"value": "65", "label": "Age 65"}],
            "context": "It changes the savings.", "default_response": "65",
        }),
        "handoff.requested" => json!({
            "target_uri": "queue://support/tax", "packaged_context": {"tools": ["a"]}, "urgency_for_handoff": "medium",
        }),
        other => panic!("{other}"),
    };
    let summaries =
        json!({"summary_terse": "Short.", "summary_normal": "Normal.", "summary_detailed": "Detailed."});
    payload.as_object_mut().unwrap().extend(summaries.as_object().unwrap().clone());
    payload
}

/// Returns how many cases to try: all of them where the full proof is asked for.
#[expect(clippy::disallowed_methods, reason = "tests read how much is asked of them")]
pub(crate) fn cases(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").is_ok_and(|proof| proof == "full") { full } else { reduced }
}
