//! What is delivered when: critical events at once, everything else filtered, paced, and merged where that loses nothing.

use std::collections::BTreeSet;

use demur_aaep::{
    capability::Capabilities,
    event::AgentEvent,
    payload::Payload,
    resolved,
    subscription::{Delivery, DeliveryQueue, Merge, QueueFull, TokenBucket},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    negotiation::capabilities,
    world::{after, event, minimal, of, with},
};

/// A queue with its terms and the events that it was fed, by place.
struct Fed {
    queue: DeliveryQueue,
    terms: Capabilities,
    events: Vec<AgentEvent>,
}

impl Fed {
    fn new(terms: Value) -> Self {
        let terms = capabilities(terms);
        Self { queue: DeliveryQueue::new(&terms, 0, after(0)), terms, events: Vec::new() }
    }

    fn feed(&mut self, value: &Value, at: u64) -> Vec<Delivery> {
        self.try_feed(value, at).unwrap()
    }

    fn try_feed(&mut self, value: &Value, at: u64) -> Result<Vec<Delivery>, QueueFull> {
        let event = event(value);
        let place = self.events.len() as u64 + 1;
        let fed = self.queue.feed(place, &event, &self.terms, &[resolved::known().unwrap()], after(at))?;
        self.events.push(event);
        Ok(fed)
    }

    /// Returns the output that deliveries carry, in their order.
    fn output(&self, deliveries: &[Delivery]) -> Vec<String> {
        deliveries
            .iter()
            .map(|delivery| match self.delivered(delivery).payload {
                Payload::OutputStreaming(output) => output.chunk.to_string(),
                other => other.name().to_string(),
            })
            .collect()
    }

    fn at(&self, place: u64) -> &AgentEvent {
        &self.events[usize::try_from(place).unwrap() - 1]
    }

    fn delivered(&self, delivery: &Delivery) -> AgentEvent {
        let last = self.at(delivery.last);
        delivery.merged(last, &of("sub_1")).unwrap_or_else(|| last.clone())
    }
}

fn places(deliveries: &[Delivery]) -> Vec<(u64, u64)> {
    deliveries.iter().map(|delivery| (delivery.first, delivery.last)).collect()
}

fn chunk(text: &str, position: u64, hint: &str) -> Value {
    let value = with(minimal("output.streaming"), "chunk", json!(text));
    with(with(value, "position", json!(position)), "coalesce_hint", json!(hint))
}

fn state(from: &str, to: &str) -> Value {
    with(with(minimal("state.changed"), "from_state", json!(from)), "to_state", json!(to))
}

fn in_session(value: Value, session: &str) -> Value {
    with(value, "session_id", json!(session))
}

/// AEP-19
#[test]
fn without_terms_everything_goes_out_at_once_as_it_is() {
    let mut fed = Fed::new(json!({}));
    for (index, name) in
        ["session.started", "state.changed", "tool.invoked", "progress.updated"].iter().enumerate()
    {
        let place = index as u64 + 1;
        let expected = Delivery { first: place, last: place, merge: None, settled: place };
        assert_eq!(fed.feed(&minimal(name), 0), [expected], "{name}");
    }
    assert_eq!(fed.queue.next_timeout(), None);
}

/// AEP-02 AEP-19
#[test]
fn critical_events_pass_every_filter_rate_and_boundary() {
    let mut fed = Fed::new(json!({
        "max_events_per_second": 1, "cognitive_load": "low",
        "event_filters": {"include": [], "exclude": ["aaep:agent.*"]},
    }));
    for round in 0..20 {
        for name in
            ["awaiting.clarification", "awaiting.confirmation", "handoff.requested", "session.errored"]
        {
            assert_eq!(fed.feed(&minimal(name), round).len(), 1, "{name}");
        }
        let critical = with(minimal("tool.invoked"), "urgency", json!("critical"));
        assert_eq!(fed.feed(&critical, round).len(), 1);
        assert_eq!(fed.feed(&minimal("tool.invoked"), round), [], "a filtered event");
    }
    assert_eq!(fed.queue.settled(), 120);
}

/// AEP-19
#[test]
fn filters_include_and_exclude_and_exclusion_wins() {
    let passes = |filters: Value, name: &str| {
        !Fed::new(json!({"event_filters": filters})).feed(&minimal(name), 0).is_empty()
    };
    assert!(passes(json!({"include": ["aaep:agent.tool.*"]}), "tool.invoked"));
    assert!(!passes(json!({"include": ["aaep:agent.tool.*"]}), "state.changed"));
    assert!(passes(json!({"include": ["aaep:agent.tool.invoked"]}), "tool.invoked"));
    assert!(!passes(json!({"include": ["aaep:agent.tool"]}), "tool.invoked"));
    assert!(!passes(json!({"exclude": ["aaep:agent.tool.*"]}), "tool.invoked"));
    assert!(!passes(
        json!({"include": ["aaep:agent.*"], "exclude": ["aaep:agent.tool.invoked"]}),
        "tool.invoked"
    ));
    assert!(!passes(json!({"include": ["aaep:agent.tool.invoked"], "exclude": ["*"]}), "tool.invoked"));
    assert!(!passes(json!({"include": []}), "tool.invoked"));
    assert!(passes(json!({}), "tool.invoked"));
}

#[test]
fn a_low_cognitive_load_leaves_progress_out() {
    let mut fed = Fed::new(json!({"cognitive_load": "low"}));
    assert_eq!(fed.feed(&minimal("progress.updated"), 0), []);
    assert_eq!(fed.feed(&minimal("state.changed"), 0).len(), 1);
    assert_eq!(fed.queue.settled(), 2);
}

#[test]
fn events_of_an_extension_go_to_who_understands_it_or_asks_for_them() {
    let mut ours = with(minimal("session.started"), "type", json!(resolved::RESOLVED_TYPE));
    ours["@context"] = json!(["https://aaep-protocol.org/context/v1", "urn:demur:aaep:v1"]);
    for (terms, expected) in [
        (json!({}), 0),
        (json!({"supported_extensions": ["urn:demur:aaep:v1"]}), 1),
        (json!({"event_filters": {"include": ["demur:*"]}}), 1),
        (
            json!({"supported_extensions": ["urn:demur:aaep:v1"], "event_filters": {"exclude": ["demur:*"]}}),
            0,
        ),
    ] {
        assert_eq!(Fed::new(terms.clone()).feed(&ours, 0).len(), expected, "{terms}");
    }
}

/// AEP-19
#[test]
fn a_slow_subscriber_gets_one_event_at_a_time_and_everything_in_order() {
    let mut fed = Fed::new(json!({"max_events_per_second": 2}));
    let mut all = Vec::new();
    for _ in 0..4 {
        all.extend(fed.feed(&minimal("tool.invoked"), 0));
    }
    assert_eq!(places(&all), [(1, 1)]);
    assert_eq!(fed.queue.next_timeout(), Some(after(500)));
    assert_eq!(fed.queue.due(after(499)), []);
    for (at, place) in [(500, 2), (1000, 3), (1500, 4)] {
        assert_eq!(fed.queue.settled(), place - 1);
        assert_eq!(places(&fed.queue.due(after(at))), [(place, place)]);
    }
    assert_eq!((fed.queue.next_timeout(), fed.queue.settled()), (None, 4));
}

/// AEP-02 AEP-19
#[test]
fn a_critical_event_overtakes_what_waits_and_what_waits_is_not_lost() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1}));
    fed.feed(&minimal("tool.invoked"), 0);
    fed.feed(&minimal("tool.completed"), 0);
    let out = fed.feed(&minimal("awaiting.clarification"), 0);
    assert_eq!(out, [Delivery { first: 3, last: 3, merge: None, settled: 1 }]);
    assert_eq!(fed.queue.due(after(1000)), [Delivery { first: 2, last: 2, merge: None, settled: 3 }]);
}

/// AEP-13 AEP-19
#[test]
fn nothing_of_a_session_comes_after_its_end_and_the_rate_makes_up_for_it() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1, "coalesce_boundaries": ["completion"]}));
    fed.feed(&minimal("session.started"), 0);
    fed.feed(&minimal("tool.invoked"), 0);
    fed.feed(&in_session(minimal("tool.invoked"), "sess_2"), 0);
    fed.feed(&chunk("Half a sen", 0, "none"), 0);
    let out = fed.feed(&minimal("session.errored"), 0);
    assert_eq!(places(&out), [(2, 2), (4, 4), (5, 5)]);
    assert_eq!(out.last().unwrap().settled, 2);
    assert_eq!(fed.queue.due(after(2999)), [], "two events were owed");
    assert_eq!(places(&fed.queue.due(after(3000))), [(3, 3)]);
}

/// AEP-19
#[test]
fn output_is_cut_where_the_subscriber_wants_it() {
    let mut fed = Fed::new(json!({}));
    assert_eq!(fed.feed(&chunk("Hel", 0, "none"), 0), []);
    assert_eq!(fed.feed(&chunk("lo ", 3, "word"), 0), []);
    let out = fed.feed(&chunk("wörld.", 6, "sentence"), 0);
    assert_eq!(fed.output(&out), ["Hello wörld."]);
    let merged = fed.delivered(&out[0]);
    let Payload::OutputStreaming(output) = &merged.payload else { panic!() };
    assert_eq!(output.position.as_u64(), 0);
    assert_eq!((out[0].first, out[0].last, out[0].settled), (1, 3, 3));
    let out = fed.feed(&chunk(" Bye.", 12, "paragraph"), 0);
    assert_eq!(fed.output(&out), [" Bye."]);
    assert_eq!(out[0].merge, None);
    assert_eq!(fed.feed(&chunk("The e", 17, "none"), 0), []);
    let last = with(chunk("nd", 22, "none"), "complete", json!(true));
    let out = fed.feed(&last, 0);
    assert_eq!(fed.output(&out), ["The end"]);
}

/// AEP-19
#[test]
fn who_wants_every_piece_gets_every_piece_and_who_wants_the_whole_gets_the_whole() {
    let pieces = [("a ", "word"), ("b. ", "sentence"), ("c", "none")];
    let out = |boundaries: Value| {
        let mut fed = Fed::new(json!({"coalesce_boundaries": boundaries}));
        let (mut all, mut position) = (Vec::new(), 0);
        for (text, hint) in pieces {
            let deliveries = fed.feed(&chunk(text, position, hint), 0);
            all.extend(fed.output(&deliveries));
            position += text.len() as u64;
        }
        let deliveries = fed.feed(&with(chunk("", position, "completion"), "complete", json!(true)), 0);
        all.extend(fed.output(&deliveries));
        all
    };
    assert_eq!(out(json!(["none"])), ["a ", "b. ", "c", ""]);
    assert_eq!(out(json!(["word"])), ["a ", "b. ", "c"]);
    assert_eq!(out(json!(["completion"])), ["a b. c"]);
}

#[test]
fn a_producer_that_gives_no_hints_is_understood_by_its_marks() {
    let unhinted = |text: &str, position| with(chunk(text, position, "none"), "coalesce_hint", Value::Null);
    let mut fed = Fed::new(json!({}));
    assert_eq!(fed.feed(&unhinted("你好", 0), 0), []);
    let out = fed.feed(&unhinted("。", 2), 0);
    assert_eq!(fed.output(&out), ["你好。"]);
}

/// AEP-19
#[test]
fn output_that_does_not_go_on_is_not_joined() {
    for other in [
        chunk("more", 9, "none"),
        with(chunk("more", 3, "none"), "output_id", json!("out_2")),
        with(chunk("more", 3, "none"), "language", json!("fr")),
        with(chunk("more", 3, "none"), "content_type", json!("text/html")),
    ] {
        let mut fed = Fed::new(json!({}));
        fed.feed(&chunk("abc", 0, "none"), 0);
        let out = fed.feed(&other, 0);
        assert_eq!(fed.output(&out), ["abc"], "{other}");
    }
    let mut fed = Fed::new(json!({"coalesce_boundaries": ["completion"]}));
    fed.feed(&chunk(&"x".repeat(16_384), 0, "none"), 0);
    let out = fed.feed(&chunk("y", 16_384, "none"), 0);
    assert_eq!(out.len(), 1, "a piece has at most 16384 characters");
}

#[test]
fn what_follows_in_a_session_does_not_wait_for_the_rest_of_a_sentence() {
    let mut fed = Fed::new(json!({}));
    fed.feed(&chunk("Half", 0, "none"), 0);
    let other = fed.feed(&in_session(minimal("tool.invoked"), "sess_2"), 0);
    assert_eq!(places(&other), [(2, 2)], "another session does not wait");
    let out = fed.feed(&minimal("tool.invoked"), 0);
    assert_eq!(fed.output(&out), ["Half", "aaep:agent.tool.invoked"]);
}

/// AEP-19
#[test]
fn waiting_progress_is_replaced_and_waiting_states_become_one_step() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1}));
    fed.feed(&minimal("session.started"), 0);
    for percent in [10, 20, 30] {
        fed.feed(&with(minimal("progress.updated"), "progress", json!({"percent": percent})), 0);
    }
    let out = fed.queue.due(after(1000));
    assert_eq!(out, [Delivery { first: 2, last: 4, merge: None, settled: 4 }]);
    fed.feed(&state("idle", "thinking"), 1000);
    fed.feed(&state("thinking", "deciding"), 1000);
    fed.feed(&state("idle", "thinking"), 1000);
    let out = fed.queue.due(after(2000));
    assert_eq!(out[0].merge, Some(Merge::State { from_state: of("idle") }));
    let Payload::StateChanged(merged) = fed.delivered(&out[0]).payload else { panic!() };
    assert_eq!((&*merged.from_state, &*merged.to_state), ("idle", "deciding"));
    assert_eq!(places(&fed.queue.due(after(3000))), [(7, 7)], "states that do not follow are not joined");
}

/// AEP-19
#[test]
fn a_state_that_says_more_is_not_joined() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1}));
    fed.feed(&minimal("session.started"), 0);
    let context = json!(["https://aaep-protocol.org/context/v1", "https://example.org/context/v1"]);
    let told = with(state("thinking", "thinking"), "extensions", json!({"acme": {"resolved": true}}));
    let told = with(told, "@context", context);
    for value in [state("idle", "thinking"), told, state("thinking", "deciding")] {
        assert_eq!(fed.feed(&value, 0), []);
    }
    let out: Vec<_> = (1..4).flat_map(|second| places(&fed.queue.due(after(1000 * second)))).collect();
    assert_eq!(out, [(2, 2), (3, 3), (4, 4)]);
}

/// AEP-19: where everything waits for the rest of a sentence, and nothing more comes in before there is room, the oldest goes out.
#[test]
fn a_full_queue_of_halves_lets_the_oldest_go() {
    let mut fed = Fed::new(json!({}));
    let half = |number: u64| in_session(chunk("Half", 0, "none"), &format!("sess_{number}"));
    let mut sessions = 0;
    while fed.try_feed(&half(sessions), 0).is_ok() {
        sessions += 1;
        assert!(sessions < 1000);
    }
    assert!(!fed.queue.has_room() && fed.queue.next_timeout().is_some());
    assert_eq!(places(&fed.queue.due(after(0))), [(1, 1)]);
    assert!(fed.queue.holds(2) && !fed.queue.holds(1));
    assert!(fed.try_feed(&half(sessions), 0).is_ok());
}

/// AEP-19
#[test]
fn a_merged_event_has_an_id_of_its_own_that_is_the_same_everywhere() {
    let mut fed = Fed::new(json!({}));
    fed.feed(&chunk("a", 0, "none"), 0);
    let out = fed.feed(&chunk("b.", 1, "sentence"), 0);
    let last = &fed.events[1];
    let merged = out[0].merged(last, &of("sub_1")).unwrap();
    assert_eq!(out[0].merged(last, &of("sub_1")).unwrap(), merged);
    assert_ne!(merged.envelope.event_id, last.envelope.event_id);
    assert_ne!(merged.envelope.event_id, out[0].merged(last, &of("sub_2")).unwrap().envelope.event_id);
    let other = Delivery { first: out[0].first + 1, ..out[0].clone() };
    assert_ne!(merged.envelope.event_id, other.merged(last, &of("sub_1")).unwrap().envelope.event_id);
    assert_eq!(merged.envelope.event_id.as_str().len(), 36);
}

/// AEP-19
#[test]
fn a_full_queue_takes_critical_events_alone_and_looking_ahead_delivers_them_once() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1}));
    let mut count = 0;
    while fed.try_feed(&minimal("tool.invoked"), 0).is_ok() {
        count += 1;
        assert!(count < 1000);
    }
    assert!(!fed.queue.has_room());
    let place = fed.queue.fed();
    let prompt = event(&minimal("awaiting.clarification"));
    assert_eq!(places(&fed.queue.look_ahead(place + 5, &prompt, after(0))), [(place + 5, place + 5)]);
    assert_eq!(fed.queue.look_ahead(place + 5, &prompt, after(0)), []);
    assert_eq!(fed.queue.look_ahead(place + 2, &event(&minimal("tool.invoked")), after(0)), []);
    assert_eq!(fed.queue.fed(), place);
    // Once there is room, feeding goes on and comes past what is out already.
    assert_eq!(fed.queue.due(after(1000)).len(), 1);
    let known = [];
    for next in place + 1..place + 5 {
        let mut at = 1000;
        while fed.queue.feed(next, &event(&minimal("tool.invoked")), &fed.terms, &known, after(at)).is_err() {
            at += 1000;
            fed.queue.due(after(at));
        }
    }
    assert_eq!(fed.queue.feed(place + 5, &prompt, &fed.terms, &known, after(1000)).unwrap(), []);
    assert_eq!(fed.queue.fed(), place + 5);
}

#[test]
fn a_place_that_was_fed_is_left_out() {
    let mut fed = Fed::new(json!({}));
    assert_eq!(fed.feed(&minimal("tool.invoked"), 0).len(), 1);
    assert_eq!(fed.queue.feed(1, &fed.events[0], &fed.terms, &[], after(0)), Ok(vec![]));
    let mut resumed = DeliveryQueue::new(&fed.terms, 7, after(0));
    assert_eq!(resumed.feed(7, &fed.events[0], &fed.terms, &[], after(0)), Ok(vec![]));
    assert_eq!(resumed.feed(8, &fed.events[0], &fed.terms, &[], after(0)).unwrap().len(), 1);
}

/// AEP-19
#[test]
fn new_terms_hold_for_what_is_delivered_from_then_on() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1, "coalesce_boundaries": ["completion"]}));
    fed.feed(&minimal("tool.invoked"), 0);
    fed.feed(&chunk("Half", 0, "none"), 0);
    assert_eq!(fed.queue.next_timeout(), None);
    let terms = capabilities(json!({"max_events_per_second": 10}));
    fed.queue.renegotiated(&terms, &[], after(0));
    assert_eq!(fed.queue.next_timeout(), Some(after(100)));
    assert_eq!(places(&fed.queue.due(after(100))), [(2, 2)]);
}

/// AEP-19
#[test]
fn what_new_terms_exclude_does_not_go_out_any_more() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1}));
    for name in ["session.started", "tool.invoked", "progress.updated", "tool.completed"] {
        fed.feed(&minimal(name), 0);
    }
    let terms = capabilities(
        json!({"max_events_per_second": 1, "cognitive_load": "low", "event_filters": {"exclude": ["aaep:agent.tool.invoked"]}}),
    );
    fed.queue.renegotiated(&terms, &[], after(0));
    assert_eq!(fed.queue.due(after(1000)), [Delivery { first: 4, last: 4, merge: None, settled: 4 }]);
}

/// AEP-19
#[test]
fn a_bucket_fills_smoothly_holds_a_tenth_of_a_second_and_remembers_debts() {
    let rate = |rate: u64| Some(rate.try_into().unwrap());
    let mut bucket = TokenBucket::new(rate(100), after(0));
    assert_eq!((0..20).filter(|_| bucket.take(after(0))).count(), 10);
    assert_eq!(bucket.next_token(), after(10));
    assert!(!bucket.take(after(9)) && bucket.take(after(10)));
    assert_eq!((0..200).filter(|_| bucket.take(after(100_000))).count(), 10);
    bucket.owe(after(100_000));
    assert_eq!(bucket.next_token(), after(100_020));
    assert!(!bucket.take(after(0)), "a clock that goes back fills nothing");
    let mut free = TokenBucket::new(None, after(0));
    assert!((0..100_000).all(|_| free.take(after(0))));
    let mut slow = TokenBucket::new(rate(1), after(0));
    assert!(slow.take(after(0)) && !slow.take(after(999)) && slow.take(after(1000)));
}

/// AEP-19
#[test]
fn what_was_taken_without_a_rate_is_not_owed_under_one() {
    let mut bucket = TokenBucket::new(None, after(0));
    for _ in 0..1000 {
        assert!(bucket.take(after(0)));
        bucket.owe(after(0));
    }
    bucket.change(Some(1.try_into().unwrap()), after(0));
    assert!(bucket.take(after(0)) && !bucket.take(after(999)) && bucket.take(after(1000)));
    bucket.owe(after(1000));
    bucket.change(None, after(1000));
    assert!(bucket.take(after(1000)));
}

/// AEP-19
#[test]
fn what_a_subscriber_does_not_want_needs_no_room() {
    let mut fed = Fed::new(json!({"max_events_per_second": 1, "cognitive_load": "low"}));
    while fed.try_feed(&minimal("tool.invoked"), 0).is_ok() {}
    assert_eq!(fed.try_feed(&minimal("progress.updated"), 0), Ok(vec![]));
    assert!(fed.try_feed(&minimal("tool.invoked"), 0).is_err());
}

/// Events that a session of any kind can have.
fn any_event() -> impl Strategy<Value = (Value, u64)> {
    let session = prop::sample::select(vec!["sess_1", "sess_2"]);
    let kind = prop::sample::select(vec![
        "tool.invoked",
        "progress.updated",
        "output.streaming",
        "state.changed",
        "awaiting.clarification",
        "session.errored",
    ]);
    (kind, session, 0_u64..1500).prop_map(|(kind, session, wait)| (in_session(minimal(kind), session), wait))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// AEP-02 AEP-19: whatever happens, every event is delivered or covered exactly once, critical events at once, all others within the
    /// rate and in the order of their session, and the queue survives being stored.
    #[test]
    fn nothing_is_lost_doubled_or_too_fast(events in prop::collection::vec(any_event(), 1..60), rate in 1_u64..5) {
        let mut fed = Fed::new(json!({"max_events_per_second": rate}));
        let (mut now, mut out, mut paced) = (0, Vec::new(), Vec::new());
        for (value, wait) in &events {
            now += wait;
            while let Some(due) = fed.queue.next_timeout().filter(|due| *due <= after(now)) {
                let deliveries = fed.queue.due(due);
                paced.extend(deliveries.iter().map(|_| due));
                out.extend(deliveries);
            }
            fed.queue = serde_json::from_str(&serde_json::to_string(&fed.queue).unwrap()).unwrap();
            let deliveries = fed.feed(value, now);
            let is_critical = fed.events.last().unwrap().is_critical();
            prop_assert!(!is_critical || deliveries.last().is_some_and(|last| last.last == fed.events.len() as u64));
            if !is_critical {
                paced.extend(deliveries.iter().map(|_| after(now)));
            }
            out.extend(deliveries);
        }
        while let Some(due) = fed.queue.next_timeout() {
            let deliveries = fed.queue.due(due);
            paced.extend(deliveries.iter().map(|_| due));
            out.extend(deliveries);
        }
        let mut covered = BTreeSet::new();
        for delivery in &out {
            let session = &fed.at(delivery.last).envelope.session_id;
            for place in (delivery.first..=delivery.last).filter(|place| fed.at(*place).envelope.session_id == *session) {
                prop_assert!(covered.insert(place) || fed.at(place).is_critical(), "place {} twice", place);
            }
            prop_assert!((1..=delivery.settled).all(|place| covered.contains(&place)), "{:?} settles what is not out", delivery);
        }
        prop_assert_eq!(covered.len(), events.len());
        prop_assert_eq!(fed.queue.settled(), events.len() as u64);
        for window in paced.windows(usize::try_from(rate).unwrap() + 1) {
            let span = window[window.len() - 1].as_millis() - window[0].as_millis();
            prop_assert!(span >= 999, "{} events in {} ms at {} a second", window.len(), span, rate);
        }
        for session in ["sess_1", "sess_2"] {
            let places = out.iter().filter(|delivery| {
                let event = fed.at(delivery.last);
                event.envelope.session_id.as_str() == session && !event.is_critical()
            });
            prop_assert!(places.map(|delivery| delivery.first).is_sorted());
        }
    }
}
