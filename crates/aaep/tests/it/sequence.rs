//! The order of a session: what is wrong with an event, and what it ends.

use demur_aaep::{
    prompt::PromptCancellation,
    sequence::{SequenceFault, SessionSequence},
};
use serde_json::{Value, json};

use crate::world::{event, minimal, of, with};

/// Returns a session that has started.
fn started() -> SessionSequence {
    let mut session = SessionSequence::new(of("sess_1"));
    assert_eq!(session.apply(&event(&minimal("session.started"))).faults, []);
    session
}

fn faults(session: &mut SessionSequence, value: &Value) -> Vec<SequenceFault> {
    session.apply(&event(value)).faults
}

fn state(from: &str, to: &str) -> Value {
    with(with(minimal("state.changed"), "from_state", json!(from)), "to_state", json!(to))
}

fn call(name: &str, id: Option<&str>) -> Value {
    with(minimal(name), "tool_call_id", json!(id))
}

fn chunk(text: &str, position: u64, complete: bool) -> Value {
    let value = with(minimal("output.streaming"), "chunk", json!(text));
    with(with(value, "position", json!(position)), "complete", json!(complete))
}

/// AEP-13
#[test]
fn a_whole_session_has_no_fault() {
    let mut session = started();
    for value in [
        state("idle", "calling_tool"),
        call("tool.invoked", Some("call_1")),
        call("tool.invoked", Some("call_2")),
        call("tool.completed", Some("call_2")),
        call("tool.completed", Some("call_1")),
        state("calling_tool", "writing_output"),
        chunk("Hé", 0, false),
        chunk("llo", 2, false),
        chunk("", 5, true),
        state("writing_output", "idle"),
        minimal("progress.updated"),
        minimal("session.completed"),
    ] {
        assert_eq!(faults(&mut session, &value), [], "{value}");
    }
    assert!(session.has_ended());
    let stored = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<SessionSequence>(&stored).unwrap(), session);
}

/// AEP-13
#[test]
fn nothing_comes_before_the_start_or_after_the_end_or_from_elsewhere() {
    let mut session = SessionSequence::new(of("sess_1"));
    assert_eq!(faults(&mut session, &minimal("tool.invoked")), [SequenceFault::NotStarted]);
    let mut session = started();
    assert_eq!(faults(&mut session, &minimal("session.started")), [SequenceFault::StartedTwice]);
    let other = with(minimal("tool.invoked"), "session_id", json!("sess_2"));
    assert_eq!(faults(&mut session, &other), [SequenceFault::OtherSession]);
    assert_eq!(session, started(), "a fatal fault changes nothing");
    for end in ["session.completed", "session.errored", "session.cancelled"] {
        let mut session = started();
        assert_eq!(faults(&mut session, &minimal(end)), []);
        for name in ["state.changed", "session.completed", "session.started"] {
            assert_eq!(faults(&mut session, &minimal(name)), [SequenceFault::Ended], "{name} after {end}");
        }
    }
}

/// AEP-13
#[test]
fn numbers_begin_at_zero_go_up_by_one_and_stand_on_all_events_or_none() {
    let numbered = |name, number: u64| with(minimal(name), "sequence_number", json!(number));
    let mut session = SessionSequence::new(of("sess_1"));
    assert_eq!(faults(&mut session, &numbered("session.started", 0)), []);
    assert_eq!(session.next_number(), Some(1));
    assert_eq!(faults(&mut session, &numbered("tool.invoked", 1)), []);
    assert_eq!(
        faults(&mut session, &numbered("progress.updated", 3)),
        [SequenceFault::Number { expected: 2, found: 3 }]
    );
    assert_eq!(faults(&mut session, &minimal("progress.updated")), [SequenceFault::NumberMixed]);
    assert_eq!(faults(&mut started(), &numbered("progress.updated", 1)), [SequenceFault::NumberMixed]);
    let mut session = SessionSequence::new(of("sess_1"));
    assert_eq!(
        faults(&mut session, &numbered("session.started", 1)),
        [SequenceFault::Number { expected: 0, found: 1 }]
    );
}

/// AEP-13
#[test]
fn times_do_not_go_back() {
    let at = |time: &str| with(minimal("progress.updated"), "timestamp", json!(time));
    let mut session = started();
    assert_eq!(faults(&mut session, &at("2026-05-24T16:22:12.000+02:00")), []);
    assert_eq!(faults(&mut session, &at("2026-05-24T14:22:11.999Z")), [SequenceFault::TimeBack]);
    assert_eq!(faults(&mut session, &at("2026-05-24T14:22:12.000Z")), []);
}

/// AEP-13
#[test]
fn states_follow_from_each_other() {
    let mut session = started();
    assert_eq!(session.state(), "idle");
    let fault = SequenceFault::StateChain { expected: "idle".to_owned(), found: "thinking".to_owned() };
    assert_eq!(faults(&mut session, &state("thinking", "deciding")), [fault]);
    assert_eq!(session.state(), "deciding");
    assert_eq!(faults(&mut session, &state("deciding", "my_own_state")), []);
}

/// AEP-13
#[test]
fn every_call_ends_once_before_its_state_and_its_session() {
    let mut session = started();
    faults(&mut session, &state("idle", "calling_tool"));
    assert_eq!(faults(&mut session, &call("tool.completed", None)), [SequenceFault::ToolUnknown]);
    assert_eq!(faults(&mut session, &call("tool.invoked", Some("call_1"))), []);
    assert_eq!(faults(&mut session, &call("tool.completed", Some("call_2"))), [SequenceFault::ToolUnknown]);
    let other = with(call("tool.completed", Some("call_1")), "tool", json!("other"));
    assert_eq!(faults(&mut session, &other), [SequenceFault::ToolUnknown]);
    assert_eq!(faults(&mut session, &state("calling_tool", "thinking")), [SequenceFault::ToolOpen]);
    assert_eq!(faults(&mut session, &call("tool.completed", Some("call_1"))), []);
    assert_eq!(faults(&mut session, &call("tool.completed", Some("call_1"))), [SequenceFault::ToolUnknown]);
    assert_eq!(faults(&mut session, &call("tool.invoked", Some("call_1"))), [SequenceFault::CallReused]);
    assert_eq!(faults(&mut session, &minimal("session.completed")), [SequenceFault::ToolOpen]);
    assert!(session.has_ended(), "the end counts all the same");
}

/// AEP-13
#[test]
fn an_output_goes_forward_and_ends_once() {
    let mut session = started();
    assert_eq!(faults(&mut session, &chunk("abc", 0, false)), []);
    assert_eq!(
        faults(&mut session, &chunk("x", 2, false)),
        [SequenceFault::OutputPosition { expected: 3, found: 2 }]
    );
    assert_eq!(faults(&mut session, &chunk("later", 10, false)), []);
    assert_eq!(faults(&mut session, &chunk("", 15, true)), []);
    assert_eq!(faults(&mut session, &chunk("", 15, true)), [SequenceFault::OutputEnded]);
    let other = with(chunk("a", 0, false), "output_id", json!("out_2"));
    assert_eq!(faults(&mut session, &other), []);
    assert_eq!(faults(&mut session, &minimal("session.errored")), [SequenceFault::OutputOpen]);
}

/// AEP-13
#[test]
fn a_session_of_any_length_is_followed_in_bounded_room() {
    let mut session = started();
    for index in 0..3000 {
        let id = format!("call_{index}");
        assert_eq!(faults(&mut session, &call("tool.invoked", Some(&id))), [], "{index}");
        assert_eq!(faults(&mut session, &call("tool.completed", Some(&id))), [], "{index}");
        let output = with(chunk("a", 0, true), "output_id", json!(format!("out_{index}")));
        assert_eq!(faults(&mut session, &output), [], "{index}");
    }
    assert!(serde_json::to_string(&session).unwrap().len() < 100_000);
    for _ in 0..256 {
        assert_eq!(faults(&mut session, &call("tool.invoked", None)), []);
    }
    assert_eq!(faults(&mut session, &call("tool.invoked", None)), [SequenceFault::TooMany]);
}

/// AEP-18
#[test]
fn what_cannot_be_undone_needs_a_yes_of_its_own() {
    let irreversible = |id: &str| with(call("tool.invoked", Some(id)), "irreversible", json!(true));
    let mut session = started();
    assert_eq!(faults(&mut session, &irreversible("call_1")), [SequenceFault::Unconfirmed]);
    assert_eq!(faults(&mut session, &minimal("awaiting.confirmation")), []);
    assert_eq!(
        faults(&mut session, &irreversible("call_2")),
        [SequenceFault::Unconfirmed],
        "asking is no yes"
    );
    session.resolved(&of("rpl_1"), false);
    assert_eq!(faults(&mut session, &irreversible("call_3")), [SequenceFault::Unconfirmed], "no is no yes");
    let again = with(minimal("awaiting.confirmation"), "reply_token", json!("rpl_2"));
    faults(&mut session, &again);
    session.resolved(&of("rpl_2"), true);
    assert_eq!(faults(&mut session, &irreversible("call_4")), []);
    assert_eq!(
        faults(&mut session, &irreversible("call_5")),
        [SequenceFault::Unconfirmed],
        "a yes is spent once"
    );
}

/// AEP-14
#[test]
fn an_answer_is_no_yes() {
    let mut session = started();
    faults(&mut session, &minimal("awaiting.clarification"));
    session.resolved(&of("rpl_1"), true);
    let irreversible = with(minimal("tool.invoked"), "irreversible", json!(true));
    assert_eq!(faults(&mut session, &irreversible), [SequenceFault::Unconfirmed]);
}

/// AEP-18
#[test]
fn one_action_is_asked_about_once_at_a_time_and_tokens_are_new() {
    let asked = |token: &str, action: &str| {
        with(with(minimal("awaiting.confirmation"), "reply_token", json!(token)), "action", json!(action))
    };
    let mut session = started();
    assert_eq!(faults(&mut session, &asked("rpl_1", "Pay.")), []);
    assert_eq!(faults(&mut session, &asked("rpl_2", "Pay.")), [SequenceFault::SameAction]);
    assert_eq!(faults(&mut session, &asked("rpl_1", "Send.")), [SequenceFault::TokenReused]);
    session.resolved(&of("rpl_1"), false);
    session.resolved(&of("rpl_2"), false);
    assert_eq!(faults(&mut session, &asked("rpl_3", "Pay.")), []);
    assert_eq!(session.open_prompts().collect::<Vec<_>>(), [&of("rpl_3")]);
}

/// AEP-18
#[test]
fn prompts_end_with_their_session_and_when_the_agent_says_why_it_goes_on() {
    let asked = || {
        let mut session = started();
        faults(&mut session, &state("idle", "awaiting_input"));
        faults(&mut session, &minimal("awaiting.clarification"));
        session
    };
    let cancelled = |value: &Value| asked().apply(&event(value)).cancelled;
    let all = |reason| vec![(of("rpl_1"), reason)];
    assert_eq!(cancelled(&minimal("session.cancelled")), all(PromptCancellation::SessionCancelled));
    assert_eq!(cancelled(&minimal("session.errored")), all(PromptCancellation::SessionEnded));
    assert_eq!(cancelled(&minimal("session.completed")), all(PromptCancellation::SessionEnded));
    let why = with(state("awaiting_input", "thinking"), "summary_normal", json!("No longer needed."));
    assert_eq!(cancelled(&why), all(PromptCancellation::Superseded));
    assert_eq!(cancelled(&state("awaiting_input", "thinking")), [], "without a word nothing is cancelled");
    assert_eq!(cancelled(&with(why, "to_state", json!("calling_tool"))), []);
}
