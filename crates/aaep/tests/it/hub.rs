//! A hub in small: a producer's session goes through a log to two subscribers, both reply, one reply counts, and both learn which.
//! Everything that lasts is stored as text between two inputs, as in a shared store.

use std::collections::BTreeMap;

use demur_aaep::{
    event::{AgentEvent, EventReader},
    form::{ReplyToken, SubscriptionId},
    handshake::{SubscriberMessage, SubscriptionRequest},
    payload::Payload,
    prompt::{Prompt, PromptInput, PromptOutcome, PromptStep, ReplyRefusal, ReplySender},
    resolved::{self, PromptResolved, ResolvedOutcome},
    sequence::SessionSequence,
    subscription::{Delivery, DeliveryQueue, Subscription},
};
use demur_core::{random::Seeded, time::Timestamp};
use serde_json::{Value, json};

use crate::{
    committed::conformance,
    negotiation::offer,
    world::{after, minimal, of, with},
};

/// A log of texts, and one record for everything that lasts.
struct Hub {
    reader: EventReader,
    random: Seeded,
    log: Vec<String>,
    sequence: String,
    prompts: BTreeMap<ReplyToken, String>,
    subscribers: BTreeMap<SubscriptionId, (String, DeliveryQueue)>,
}

impl Hub {
    fn new() -> Self {
        let reader = EventReader { extensions: vec![resolved::known().unwrap()], ..EventReader::default() };
        let sequence = serde_json::to_string(&SessionSequence::new(of("sess_1"))).unwrap();
        let (prompts, subscribers) = (BTreeMap::new(), BTreeMap::new());
        Self { reader, random: Seeded::from_number(1), log: Vec::new(), sequence, prompts, subscribers }
    }

    fn subscribe(&mut self, capabilities: Value, now: Timestamp) -> SubscriptionId {
        let request = json!({"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "r", "capabilities": capabilities});
        let Ok(SubscriberMessage::Request(request)) = SubscriberMessage::read(request.to_string().as_bytes())
        else {
            panic!()
        };
        let request: SubscriptionRequest = *request;
        let id = SubscriptionId::random(&mut self.random);
        let (subscription, accepted) = Subscription::open(&request, &offer(), id.clone(), now).unwrap();
        assert_eq!(accepted.subscription_id, id);
        let queue = DeliveryQueue::new(subscription.terms(), self.log.len() as u64, now);
        self.subscribers.insert(id.clone(), (serde_json::to_string(&subscription).unwrap(), queue));
        id
    }

    /// Takes an event in and returns what each subscriber gets because of it.
    fn publish(&mut self, text: &str, now: Timestamp) -> BTreeMap<SubscriptionId, Vec<AgentEvent>> {
        let received = self.reader.read(text.as_bytes()).unwrap();
        assert!(!received.event.envelope.timestamp.is_dated_ahead(now));
        let mut sequence: SessionSequence = serde_json::from_str(&self.sequence).unwrap();
        assert_eq!(sequence.apply(&received.event).faults, []);
        self.sequence = serde_json::to_string(&sequence).unwrap();
        if let Some(prompt) = Prompt::open(&received.event) {
            self.prompts.insert(prompt.token().clone(), serde_json::to_string(&prompt).unwrap());
        }
        self.log.push(received.text.to_owned());
        let place = self.log.len() as u64;
        let ids: Vec<SubscriptionId> = self.subscribers.keys().cloned().collect();
        ids.into_iter()
            .map(|id| {
                let (subscription, queue) = self.subscribers.get_mut(&id).unwrap();
                let subscription: Subscription = serde_json::from_str(subscription).unwrap();
                let known = &self.reader.extensions;
                let deliveries =
                    queue.feed(place, &received.event, subscription.terms(), known, now).unwrap();
                let events = deliveries.iter().map(|delivery| self.delivered(&id, delivery)).collect();
                (id, events)
            })
            .collect()
    }

    /// Returns what a subscriber gets later.
    fn due(&mut self, id: &SubscriptionId, now: Timestamp) -> Vec<AgentEvent> {
        let deliveries = self.subscribers.get_mut(id).unwrap().1.due(now);
        deliveries.iter().map(|delivery| self.delivered(id, delivery)).collect()
    }

    /// Returns the event that goes over the wire: the exact text of the log, or a merged event.
    fn delivered(&self, id: &SubscriptionId, delivery: &Delivery) -> AgentEvent {
        let text = &self.log[usize::try_from(delivery.last).unwrap() - 1];
        let last = self.reader.read(text.as_bytes()).unwrap().event;
        let text = delivery.merged(&last, id).map_or_else(|| text.clone(), |event| event.to_json().unwrap());
        self.reader.read(text.as_bytes()).unwrap().event
    }

    /// Takes a reply in. The answer to the sender would be the same whatever comes of it.
    fn reply(&mut self, from: &SubscriptionId, message: &Value, now: Timestamp) -> PromptStep {
        let Ok(SubscriberMessage::Clarification(reply)) =
            SubscriberMessage::read(message.to_string().as_bytes())
        else {
            panic!()
        };
        let Some(stored) = self.prompts.get_mut(&reply.reply_token) else {
            return PromptStep { refusal: Some(ReplyRefusal::Token), ..PromptStep::default() };
        };
        let mut prompt: Prompt = serde_json::from_str(stored).unwrap();
        let sender = ReplySender { subscription: from.clone(), is_entitled: true };
        let step = prompt.handle(PromptInput::Clarification(&reply, &sender), now);
        if step.is_changed {
            *stored = serde_json::to_string(&prompt).unwrap();
        }
        step
    }
}

fn reply(token: &str, from: &SubscriptionId, response: Value, now: Timestamp) -> Value {
    json!({
        "type": "clarification.reply", "reply_token": token, "response": response, "subscription_id": from,
        "timestamp": now, "decided_by": "user:ada",
    })
}

fn state(from: &str, to: &str) -> Value {
    let value = with(with(minimal("state.changed"), "from_state", json!(from)), "to_state", json!(to));
    with(value, "session_id", json!("sess_1"))
}

/// AEP-01 AEP-06 AEP-10 AEP-18
#[test]
fn a_question_goes_from_a_producer_to_two_people_and_one_answer_comes_back() {
    let mut hub = Hub::new();
    let braille =
        hub.subscribe(json!({"max_events_per_second": 1, "supports_clarification_reply": true}), after(0));
    let screen = hub.subscribe(json!({"supports_clarification_reply": true}), after(0));
    hub.publish(&minimal("session.started").to_string(), after(0));
    hub.publish(&state("idle", "awaiting_input").to_string(), after(0));

    // The producer's own token stays with the producer: people reply to one of ours.
    let theirs = conformance("seed/example-2.json").replace("sess_2c91a7b4d23f1e88", "sess_1");
    let received = EventReader::default();
    let received = received.read(theirs.as_bytes()).unwrap();
    let ours = received.retokened(&of("evt_ours"), &of("rpl_ours")).unwrap();
    let got = hub.publish(&ours, after(1000));
    for id in [&braille, &screen] {
        let Payload::AwaitingClarification(question) = &got[id][0].payload else { panic!("{got:?}") };
        assert_eq!(question.reply_token.as_str(), "rpl_ours");
        assert_eq!(got[id].len(), 1, "a rate holds no question");
    }

    // A reply of a kind that is not accepted, one with the producer's token, and then the race.
    let refusal = |step: PromptStep| step.refusal;
    let step = hub.reply(&screen, &reply("rpl_ours", &screen, json!(true), after(2000)), after(2000));
    assert_eq!(refusal(step), Some(ReplyRefusal::Kind));
    let step =
        hub.reply(&screen, &reply("rpl_2c8e4a9f7b1d3a6e", &screen, json!("67"), after(2000)), after(2000));
    assert_eq!(refusal(step), Some(ReplyRefusal::Token));
    let first = hub.reply(&braille, &reply("rpl_ours", &braille, json!("67"), after(3000)), after(3000));
    let second = hub.reply(&screen, &reply("rpl_ours", &screen, json!("60"), after(3000)), after(3000));
    assert_eq!(refusal(second), Some(ReplyRefusal::Used));
    let resolution = first.resolution.unwrap();
    assert!(matches!(&resolution.outcome, PromptOutcome::Answered { by, .. } if by.subscription == braille));

    // Both learn it from the state that everybody gets, whatever they filter or list.
    let prompt: Prompt = serde_json::from_str(&hub.prompts[&of("rpl_ours")]).unwrap();
    let told = PromptResolved::of(&prompt, &resolution);
    let left = with(state("awaiting_input", "thinking"), "timestamp", json!("2026-05-24T14:22:15.000Z"));
    let left = told.told_in(hub.reader.read(left.to_string().as_bytes()).unwrap().event).unwrap();
    let got = hub.publish(&left.to_json().unwrap(), after(4000));
    for id in [&braille, &screen] {
        // One whose rate allows no more now gets it a moment later; it is not merged into what waits before it.
        let later = hub.due(id, after(5000));
        let mut told = got[id].iter().chain(&later).rev();
        let fields = told.find_map(|event| event.envelope.extensions.as_ref()).unwrap()[&of("demur")].clone();
        let fields = &fields;
        let told = PromptResolved::of_fields(fields).unwrap();
        assert_eq!((told.outcome, told.reply_token.as_str()), (ResolvedOutcome::Answered, "rpl_ours"));
        assert_eq!(told.resolved_by.as_deref(), Some("user:ada"));
    }
}
