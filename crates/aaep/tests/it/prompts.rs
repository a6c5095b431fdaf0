//! Prompts under fake time: one reply counts, the deadline is a millisecond, and nothing is assumed.

use demur_aaep::{
    handshake::SubscriberMessage,
    prompt::{Prompt, PromptCancellation, PromptInput, PromptOutcome, PromptStep, ReplyRefusal, ReplySender},
    reply::{ClarificationReply, ConfirmationReply, Response},
    word::{ReplyDecision, ResponseKind},
};
use demur_core::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{after, complete, event, minimal, of, with};

/// When the prompts of these tests time out, in milliseconds.
const DEADLINE: u64 = 300_000;

fn clarification(fields: Value) -> Prompt {
    let mut value = minimal("awaiting.clarification");
    value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Prompt::open(&event(&value)).unwrap()
}

fn confirmation(fields: Value) -> Prompt {
    let mut value = minimal("awaiting.confirmation");
    value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Prompt::open(&event(&value)).unwrap()
}

fn sender() -> ReplySender {
    ReplySender { subscription: of("sub_1"), is_entitled: true }
}

fn answer(response: Value) -> ClarificationReply {
    let value = json!({
        "type": "clarification.reply", "reply_token": "rpl_1", "response": response, "subscription_id": "sub_1",
        "timestamp": after(1000), "decided_by": "user:ada",
    });
    match SubscriberMessage::read(value.to_string().as_bytes()).unwrap() {
        SubscriberMessage::Clarification(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn decide(decision: &str) -> ConfirmationReply {
    let value = json!({
        "type": "confirmation.reply", "reply_token": "rpl_1", "decision": decision, "subscription_id": "sub_1", "timestamp": after(1000),
    });
    match SubscriberMessage::read(value.to_string().as_bytes()).unwrap() {
        SubscriberMessage::Confirmation(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn replied(prompt: &mut Prompt, response: Value, now: Timestamp) -> PromptStep {
    prompt.handle(PromptInput::Clarification(&answer(response), &sender()), now)
}

/// Returns the kind by which a response is taken, or why it is ignored.
fn taken(kinds: &[&str], response: Value) -> Result<ResponseKind, ReplyRefusal> {
    let mut value = with(complete("awaiting.clarification"), "accepted_response_kinds", json!(kinds));
    value = with(value, "default_response", Value::Null);
    let mut prompt = Prompt::open(&event(&value)).unwrap();
    let step = replied(&mut prompt, response, after(2000));
    match step.resolution.map(|resolution| resolution.outcome) {
        Some(PromptOutcome::Answered { kind, .. }) => Ok(kind),
        Some(other) => panic!("{other:?}"),
        None => {
            assert!(
                prompt.is_open() && !step.is_changed,
                "a reply that is ignored leaves the prompt as it was"
            );
            Err(step.refusal.unwrap())
        }
    }
}

/// AEP-10 AEP-11
#[test]
fn a_response_counts_if_it_is_of_a_kind_that_is_accepted() {
    use ResponseKind::{Freetext, MultipleChoice, Numeric, YesNo};
    assert_eq!(taken(&["freetext"], json!("Anything.")), Ok(Freetext));
    assert_eq!(taken(&["yes_no"], json!(true)), Ok(YesNo));
    assert_eq!(taken(&["numeric"], json!(67.5)), Ok(Numeric));
    assert_eq!(taken(&["multiple_choice"], json!("65")), Ok(MultipleChoice));
    assert_eq!(taken(&["multiple_choice", "freetext"], json!("65")), Ok(MultipleChoice));
    assert_eq!(taken(&["multiple_choice", "freetext"], json!("66")), Ok(Freetext));
    assert_eq!(taken(&["multiple_choice", "numeric"], json!(66)), Ok(Numeric));
    assert_eq!(taken(&["multiple_choice"], json!("66")), Err(ReplyRefusal::Choice));
    assert_eq!(taken(&["multiple_choice"], json!("Age 65")), Err(ReplyRefusal::Choice));
    assert_eq!(taken(&["numeric"], json!("67")), Err(ReplyRefusal::Kind));
    assert_eq!(taken(&["freetext"], json!(67)), Err(ReplyRefusal::Kind));
    assert_eq!(taken(&["freetext"], json!(true)), Err(ReplyRefusal::Kind));
    assert_eq!(taken(&["yes_no"], json!("yes")), Err(ReplyRefusal::Kind));
}

/// AEP-10
#[test]
fn a_reply_that_is_ignored_keeps_the_token_alive() {
    let mut prompt = clarification(json!({"accepted_response_kinds": ["numeric"]}));
    for response in [json!("67"), json!(true), json!("x")] {
        let step = replied(&mut prompt, response, after(2000));
        assert_eq!((step.refusal, step.resolution), (Some(ReplyRefusal::Kind), None));
    }
    assert!(replied(&mut prompt, json!(67), after(3000)).resolution.is_some());
}

/// AEP-06
#[test]
fn the_second_reply_changes_nothing() {
    let mut prompt = clarification(json!({}));
    let first = replied(&mut prompt, json!("one"), after(2000));
    let stored = prompt.clone();
    let second = replied(&mut prompt, json!("two"), after(2001));
    assert_eq!(first.resolution.unwrap().at, after(2000));
    assert_eq!(second, PromptStep { refusal: Some(ReplyRefusal::Used), ..PromptStep::default() });
    assert_eq!(prompt, stored);
    assert_eq!(prompt.handle(PromptInput::Tick, after(DEADLINE)), PromptStep::default());
    assert_eq!(
        prompt.handle(PromptInput::Cancel(PromptCancellation::Superseded), after(1)),
        PromptStep::default()
    );
    assert_eq!(prompt.next_timeout(), None);
}

/// AEP-07 AEP-08
#[test]
fn a_reply_counts_before_the_deadline_and_not_at_it() {
    let mut prompt = clarification(json!({}));
    assert_eq!(prompt.deadline(), after(DEADLINE));
    assert!(replied(&mut prompt.clone(), json!("in time"), after(DEADLINE - 1)).resolution.is_some());
    let step = replied(&mut prompt, json!("late"), after(DEADLINE));
    assert_eq!(step.refusal, Some(ReplyRefusal::Late));
    assert_eq!(step.resolution.unwrap().outcome, PromptOutcome::Expired);
}

/// AEP-07 AEP-08
#[test]
fn time_is_up_at_the_deadline_and_not_before() {
    let mut prompt = clarification(json!({"timeout_seconds": 1}));
    assert_eq!(prompt.next_timeout(), Some(after(1000)));
    assert_eq!(prompt.handle(PromptInput::Tick, after(999)), PromptStep::default());
    let step = prompt.handle(PromptInput::Tick, after(1000));
    assert!(step.is_changed);
    assert_eq!(step.resolution.unwrap().at, after(1000));
    assert!(!prompt.is_open());
}

/// AEP-08
#[test]
fn a_default_is_recorded_as_a_default_of_the_kind_that_it_spells() {
    let default = |kinds: &[&str], text: &str| {
        let value = with(complete("awaiting.clarification"), "accepted_response_kinds", json!(kinds));
        let mut prompt = Prompt::open(&event(&with(value, "default_response", json!(text)))).unwrap();
        match prompt.handle(PromptInput::Tick, after(DEADLINE)).resolution.unwrap().outcome {
            PromptOutcome::AnswerDefaulted(answer) => (answer.response, answer.kind),
            other => panic!("{other:?}"),
        }
    };
    let text = |text: &str| Response::Text(text.try_into().unwrap());
    assert_eq!(default(&["multiple_choice", "numeric"], "65"), (text("65"), ResponseKind::MultipleChoice));
    assert_eq!(
        default(&["multiple_choice", "numeric"], "66"),
        (Response::Number(66.into()), ResponseKind::Numeric)
    );
    assert_eq!(default(&["yes_no", "freetext"], "true"), (Response::YesNo(true), ResponseKind::YesNo));
    assert_eq!(default(&["freetext"], "true"), (text("true"), ResponseKind::Freetext));
    assert_eq!(default(&["freetext", "numeric"], "sixty"), (text("sixty"), ResponseKind::Freetext));
}

/// AEP-18
#[test]
fn the_default_of_a_confirmation_is_what_the_safety_table_allows() {
    let default = |fields: Value| {
        let outcome =
            confirmation(fields).handle(PromptInput::Tick, after(DEADLINE)).resolution.unwrap().outcome;
        match outcome {
            PromptOutcome::DecisionDefaulted { decision } => decision,
            other => panic!("{other:?}"),
        }
    };
    let accept = |irreversible: bool, risk: &str| json!({"default_decision": "accept", "irreversible": irreversible, "risk_level": risk});
    assert_eq!(default(json!({})), ReplyDecision::Reject);
    for risk in ["low", "medium", "high"] {
        assert_eq!(default(accept(false, risk)), ReplyDecision::Accept, "{risk}");
    }
    assert_eq!(default(accept(true, "low")), ReplyDecision::Accept);
    // A reader refuses the rest of the table; a prompt that is stored all the same does not act on it.
    for risk in ["medium", "high"] {
        let mut stored = serde_json::to_value(confirmation(accept(true, "low"))).unwrap();
        stored["terms"]["confirmation"]["risk"] = json!(risk);
        let mut prompt: Prompt = serde_json::from_value(stored).unwrap();
        let outcome = prompt.handle(PromptInput::Tick, after(DEADLINE)).resolution.unwrap().outcome;
        assert_eq!(outcome, PromptOutcome::DecisionDefaulted { decision: ReplyDecision::Reject });
    }
}

/// AEP-18
#[test]
fn a_decision_counts_if_it_is_allowed_and_another_action_is_not_allowed_by_it() {
    let outcome = |prompt: &mut Prompt, reply: &ConfirmationReply| {
        let step = prompt.handle(PromptInput::Confirmation(reply, &sender()), after(2000));
        step.resolution.map(|resolution| resolution.outcome).ok_or(step.refusal.unwrap_or(ReplyRefusal::Late))
    };
    let decided = |outcome: Result<PromptOutcome, ReplyRefusal>| match outcome.unwrap() {
        PromptOutcome::Decided { decision, is_modified, .. } => (decision, is_modified),
        other => panic!("{other:?}"),
    };
    let mut prompt = confirmation(json!({}));
    assert_eq!(decided(outcome(&mut prompt.clone(), &decide("accept"))), (ReplyDecision::Accept, false));
    assert_eq!(decided(outcome(&mut prompt.clone(), &decide("reject"))), (ReplyDecision::Reject, false));
    let mut modified = decide("accept");
    modified.modified_action = Some(serde_json::Map::new());
    assert_eq!(decided(outcome(&mut prompt, &modified)), (ReplyDecision::Reject, true));
    let mut only_reject = confirmation(json!({"allowed_replies": ["reject"]}));
    assert_eq!(outcome(&mut only_reject, &decide("accept")), Err(ReplyRefusal::Decision));
    assert!(outcome(&mut only_reject, &decide("reject")).is_ok());
}

/// AEP-14
#[test]
fn an_answer_allows_nothing_and_a_decision_answers_nothing() {
    let mut asked = clarification(json!({"accepted_response_kinds": ["yes_no", "freetext"]}));
    let step = asked.handle(PromptInput::Confirmation(&decide("accept"), &sender()), after(2000));
    assert_eq!((step.refusal, step.is_changed), (Some(ReplyRefusal::Message), false));
    let mut waiting = confirmation(json!({}));
    for response in [json!(true), json!("accept")] {
        let step = replied(&mut waiting, response, after(2000));
        assert_eq!((step.refusal, step.is_changed), (Some(ReplyRefusal::Message), false));
    }
}

/// AEP-18
#[test]
fn a_reply_comes_from_who_may_reply_over_its_own_subscription() {
    let mut prompt = clarification(json!({}));
    let mut refused = |reply: ClarificationReply, sender: ReplySender, now| {
        let step = prompt.handle(PromptInput::Clarification(&reply, &sender), now);
        assert_eq!(step.resolution, None);
        step.refusal.unwrap()
    };
    let reply = || answer(json!("x"));
    assert_eq!(
        refused(ClarificationReply { reply_token: of("rpl_2"), ..reply() }, sender(), after(2000)),
        ReplyRefusal::Token
    );
    assert_eq!(
        refused(reply(), ReplySender { is_entitled: false, ..sender() }, after(2000)),
        ReplyRefusal::Sender
    );
    assert_eq!(
        refused(reply(), ReplySender { subscription: of("sub_2"), ..sender() }, after(2000)),
        ReplyRefusal::Subscription
    );
    let dated = |millis| ClarificationReply { timestamp: after(millis).into(), ..reply() };
    assert_eq!(refused(dated(DEADLINE + 60_000), sender(), after(2000)), ReplyRefusal::LateClaim);
    // A clock that is a little ahead is no reason: the reply came in time.
    let step =
        prompt.handle(PromptInput::Clarification(&dated(DEADLINE + 59_999), &sender()), after(DEADLINE - 1));
    assert!(step.resolution.is_some());
}

#[test]
fn who_replied_is_kept() {
    let mut prompt = clarification(json!({}));
    let PromptOutcome::Answered { by, .. } =
        replied(&mut prompt, json!("x"), after(2000)).resolution.unwrap().outcome
    else {
        panic!()
    };
    assert_eq!((by.subscription, by.decided_by.as_deref()), (of("sub_1"), Some("user:ada")));
}

#[test]
fn reminders_come_when_half_and_a_tenth_of_the_time_is_left() {
    let mut prompt = clarification(json!({}));
    assert_eq!(prompt.next_timeout(), Some(after(150_000)));
    assert_eq!(prompt.handle(PromptInput::Tick, after(149_999)), PromptStep::default());
    let step = prompt.handle(PromptInput::Tick, after(150_000));
    assert_eq!((step.remaining_ms, step.is_changed), (Some(150_000), true));
    assert_eq!(prompt.handle(PromptInput::Tick, after(150_001)), PromptStep::default());
    assert_eq!(prompt.next_timeout(), Some(after(270_000)));
    assert_eq!(prompt.handle(PromptInput::Tick, after(280_000)).remaining_ms, Some(20_000));
    assert_eq!(prompt.next_timeout(), Some(after(DEADLINE)));
    let mut missed = clarification(json!({}));
    assert_eq!(missed.handle(PromptInput::Tick, after(290_000)).remaining_ms, Some(10_000));
    assert_eq!(missed.next_timeout(), Some(after(DEADLINE)));
    let short = clarification(json!({"timeout_seconds": 60}));
    assert_eq!(short.next_timeout(), Some(after(60_000)));
}

/// AEP-18
#[test]
fn a_cancelled_prompt_takes_no_reply() {
    let mut prompt = confirmation(json!({}));
    let step = prompt.handle(PromptInput::Cancel(PromptCancellation::SessionCancelled), after(2000));
    assert_eq!(
        step.resolution.unwrap().outcome,
        PromptOutcome::Cancelled(PromptCancellation::SessionCancelled)
    );
    let step = prompt.handle(PromptInput::Confirmation(&decide("accept"), &sender()), after(2001));
    assert_eq!(step.refusal, Some(ReplyRefusal::Used));
}

/// AEP-18
#[test]
fn when_nobody_is_left_to_reply_the_default_holds_unless_it_would_accept() {
    let abandoned = |mut prompt: Prompt| prompt.handle(PromptInput::Abandon, after(2000)).resolution;
    let reject = abandoned(confirmation(json!({}))).unwrap();
    assert_eq!(
        (reject.at, reject.outcome),
        (after(2000), PromptOutcome::DecisionDefaulted { decision: ReplyDecision::Reject })
    );
    assert_eq!(abandoned(confirmation(json!({"default_decision": "accept", "risk_level": "low"}))), None);
    assert_eq!(abandoned(clarification(json!({}))).unwrap().outcome, PromptOutcome::Expired);
}

#[test]
fn other_events_open_no_prompt() {
    for name in ["session.started", "handoff.requested", "tool.invoked"] {
        assert_eq!(Prompt::open(&event(&minimal(name))), None);
    }
}

/// What a store does: it takes a change only to the version that was loaded.
struct Store {
    text: String,
    version: u64,
}

impl Store {
    fn load(&self) -> (Prompt, u64) {
        (serde_json::from_str(&self.text).unwrap(), self.version)
    }

    fn swap(&mut self, prompt: &Prompt, version: u64) -> bool {
        if self.version != version {
            return false;
        }
        self.text = serde_json::to_string(prompt).unwrap();
        self.version += 1;
        true
    }
}

/// Something that one of two processes does with the prompt that both share.
#[derive(Clone, Copy, Debug)]
enum Act {
    Load(usize),
    Reply(usize, u64),
    Tick(usize, u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let process = 0_usize..2;
    let act = prop_oneof![
        process.clone().prop_map(Act::Load),
        (process.clone(), 0..DEADLINE + 10).prop_map(|(process, at)| Act::Reply(process, at)),
        (process, DEADLINE - 10..DEADLINE + 10).prop_map(|(process, at)| Act::Tick(process, at)),
    ];
    prop::collection::vec(act, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// AEP-06 AEP-07: two processes that load, decide and store in any order resolve a prompt once; a prompt that was stored and loaded
    /// is the same prompt.
    #[test]
    fn one_resolution_however_processes_interleave(acts in acts()) {
        let prompt = clarification(json!({"default_response": "x"}));
        let mut store = Store { text: serde_json::to_string(&prompt).unwrap(), version: 0 };
        let mut loaded = [store.load(), store.load()];
        let mut effects = Vec::new();
        for act in acts {
            let (process, step) = match act {
                Act::Load(process) => {
                    loaded[process] = store.load();
                    continue;
                }
                Act::Reply(process, at) => (process, replied(&mut loaded[process].0, json!("y"), after(at))),
                Act::Tick(process, at) => (process, loaded[process].0.handle(PromptInput::Tick, after(at))),
            };
            if step.is_changed {
                let (prompt, version) = loaded[process].clone();
                if store.swap(&prompt, version) {
                    effects.extend(step.resolution);
                }
                loaded[process] = store.load();
            }
        }
        prop_assert!(effects.len() <= 1, "{:?}", effects);
        let (prompt, _) = store.load();
        prop_assert_eq!(effects.first(), prompt.resolution());
    }
}
