//! Producers and subscribers of accessibility events at desks of this process. Everything that a subscriber is sent is validated here.

mod questions;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use demur_aaep::{event::EventReader, handshake::ProducerMessage, resolved};
use demur_api::refusal::Refusal;
use demur_desk::{
    aaep::{EventFrame, EventWatch, OutcomeParameters, Published, Received, Subscribed},
    access::Caller,
};
use serde_json::{Value, json};
use tokio::time;

use crate::desk::House;

static NUMBER: AtomicU64 = AtomicU64::new(1);

/// Returns a number that no other call returned.
fn number() -> u64 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// Returns the present time as events have it.
fn now(house: &House) -> String {
    house.desk.now().unwrap().to_string()
}

/// A session that is published.
pub(crate) struct Session {
    pub(crate) id: String,
}

impl Session {
    /// Begins a session.
    pub(crate) fn begin(house: &House) -> Self {
        let session = Self { id: format!("sess_{}", number()) };
        session.say(house, "session.started", json!({"summary_normal": "The agent begins."})).unwrap();
        session
    }

    /// Returns an event of the session.
    pub(crate) fn event(&self, house: &House, kind: &str, mut fields: Value) -> Value {
        let own = fields.as_object_mut().unwrap();
        own.insert("@context".to_owned(), "https://aaep-protocol.org/context/v1".into());
        own.insert("type".to_owned(), format!("aaep:agent.{kind}").into());
        own.insert("event_id".to_owned(), format!("evt_{}", number()).into());
        own.insert("session_id".to_owned(), self.id.as_str().into());
        own.insert("timestamp".to_owned(), now(house).into());
        own.insert("producer".to_owned(), json!({"agent_id": "planner"}));
        fields
    }

    /// Publishes an event.
    pub(crate) fn say(&self, house: &House, kind: &str, fields: Value) -> Result<Published, Refusal> {
        self.publish(house, &self.event(house, kind, fields))
    }

    pub(crate) fn publish(&self, house: &House, event: &Value) -> Result<Published, Refusal> {
        house.desk.publish_event(&house.local(), &self.id, event.to_string().as_bytes())
    }

    /// Asks a question that is answered with yes or no; returns the producer's token and ours.
    pub(crate) fn ask(&self, house: &House, seconds: u64, default: Option<&str>) -> (String, String) {
        let token = format!("rpl_{}", number());
        let mut fields = json!({
            "question": "Go on?", "reply_token": token, "timeout_seconds": seconds, "accepted_response_kinds": ["yes_no"],
        });
        if let Some(default) = default {
            fields["default_response"] = default.into();
        }
        let published = self.say(house, "awaiting.clarification", fields).unwrap();
        (token, published.reply_token.unwrap().as_str().to_owned())
    }

    /// Returns what became of the prompts of the session after a place.
    pub(crate) async fn outcomes(&self, house: &House, after: u64, seconds: u64) -> Vec<Value> {
        let parameters = json!({"after": after, "seconds": seconds});
        let parameters: OutcomeParameters = serde_json::from_value(parameters).unwrap();
        let found = house.desk.prompt_outcomes(&house.local(), &self.id, parameters).await.unwrap();
        serde_json::to_value(found).unwrap()["outcomes"].as_array().unwrap().clone()
    }
}

/// A subscription of the user of this machine.
pub(crate) struct Subscriber {
    pub(crate) id: String,
    caller: Caller,
}

impl Subscriber {
    /// Subscribes with these capabilities.
    pub(crate) fn new(house: &House, capabilities: &Value) -> Self {
        Self::of(house, house.local(), capabilities)
    }

    /// Subscribes as this caller.
    pub(crate) fn of(house: &House, caller: Caller, capabilities: &Value) -> Self {
        let request = json!({
            "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "reader", "capabilities": capabilities,
        });
        match house.desk.subscribe(&caller, request.to_string().as_bytes()).unwrap() {
            Subscribed::Accepted(accepted) => {
                let id = accepted.subscription_id.as_str().to_owned();
                Self { id, caller }
            }
            Subscribed::Rejected(rejected) => panic!("{rejected:?}"),
        }
    }

    /// Follows the subscription at a desk.
    pub(crate) async fn follow(&self, house: &House, last: Option<&str>) -> Followed {
        let watch = house.desk.follow_events(&self.caller, &self.id, last).await.unwrap();
        Followed { watch, last: last.map(str::to_owned) }
    }

    /// Answers a question with yes or no.
    pub(crate) fn answer(&self, house: &House, token: &str, yes: bool) {
        let reply = json!({
            "type": "clarification.reply", "reply_token": token, "response": yes, "subscription_id": self.id,
            "timestamp": now(house),
        });
        self.send(house, &reply);
    }

    pub(crate) fn send(&self, house: &House, message: &Value) -> Received {
        house.desk.receive_message(&self.caller, message.to_string().as_bytes()).unwrap()
    }
}

/// A connection that a subscriber follows.
pub(crate) struct Followed {
    watch: EventWatch,
    /// After which event to go on.
    pub(crate) last: Option<String>,
}

impl Followed {
    /// Returns the next message.
    pub(crate) async fn next(&mut self) -> Value {
        let frame = time::timeout(Duration::from_secs(10), self.watch.next()).await.expect("a message comes");
        let EventFrame { id, text } = frame.unwrap().expect("the connection goes on");
        if let Some(id) = id {
            self.last = Some(id.as_str().to_owned());
        }
        validate(&text)
    }

    /// Returns the next message of this type; everything before it is passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Returns how the next prompt was resolved that a state tells about.
    pub(crate) async fn resolved(&mut self) -> Value {
        loop {
            let message = self.next_of("aaep:agent.state.changed").await;
            if let Some(told) = message["extensions"].get("demur") {
                return told.clone();
            }
        }
    }

    /// Returns whether nothing comes for a while.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        time::timeout(Duration::from_millis(400), self.watch.next()).await.is_err()
    }
}

/// Returns a message, once it is an event or a message of a producer that breaks no rule.
fn validate(text: &str) -> Value {
    let reader = EventReader { extensions: vec![resolved::known().unwrap()], ..EventReader::default() };
    let message: Value = serde_json::from_str(text).unwrap();
    if message["type"].as_str().unwrap().starts_with("subscription.") {
        ProducerMessage::read(text.as_bytes()).unwrap();
    } else {
        reader.read(text.as_bytes()).unwrap_or_else(|violation| panic!("{violation}: {text}"));
    }
    assert!(!text.contains(['\n', '\r']), "a frame is one line");
    message
}

const CLARIFIES: &str = "aaep:agent.awaiting.clarification";

/// Everything of a session reaches whoever follows it, in order and as it was sent; a prompt under our ids.
#[tokio::test]
async fn session_is_followed() {
    let house = House::open();
    let subscriber = Subscriber::new(&house, &json!({"supports_clarification_reply": true}));
    let session = Session::begin(&house);
    let state = json!({"from_state": "idle", "to_state": "thinking", "summary_normal": "The agent thinks."});
    let state = session.event(&house, "state.changed", state);
    assert!(session.publish(&house, &state).unwrap().notes.is_empty());
    let (theirs, ours) = session.ask(&house, 300, None);
    assert_ne!(theirs, ours);
    let mut followed = subscriber.follow(&house, None).await;
    assert_eq!(followed.next_of("aaep:agent.session.started").await["session_id"], session.id.as_str());
    assert_eq!(followed.next().await, state);
    let prompt = followed.next().await;
    assert_eq!((&prompt["type"], &prompt["reply_token"]), (&json!(CLARIFIES), &json!(ours)));
    assert_eq!(
        followed.last.as_deref(),
        prompt["event_id"].as_str(),
        "the id of a frame is that of its event"
    );

    subscriber.answer(&house, &ours, true);
    let told = followed.resolved().await;
    assert_eq!((&told["reply_token"], &told["outcome"]), (&json!(ours), &json!("answered")));
    assert_eq!(told["resolved_by"], "user:somebody");
    let outcomes = session.outcomes(&house, 0, 0).await;
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    let expected =
        [("reply_token", json!(theirs)), ("outcome", json!("answered")), ("response", json!(true))];
    for (field, value) in expected {
        assert_eq!(outcomes[0][field], value, "{outcomes:?}");
    }
    session.say(&house, "session.completed", json!({"summary_normal": "Done."})).unwrap();
    followed.next_of("aaep:agent.session.completed").await;
}

/// AEP-10: a reply of another kind changes nothing, and so does one without the right token or subscription.
#[tokio::test]
async fn reply_that_does_not_count_leaves_the_prompt_open() {
    let house = House::open();
    let subscriber = Subscriber::new(&house, &json!({}));
    let session = Session::begin(&house);
    let (_, ours) = session.ask(&house, 300, None);
    let good = json!({
        "type": "clarification.reply", "reply_token": ours, "response": false, "subscription_id": subscriber.id,
        "timestamp": now(&house), "decided_by": "user:somebody",
    });
    for (field, value) in [
        ("response", json!("no")),
        ("response", json!(0)),
        ("reply_token", json!("rpl_1")),
        ("subscription_id", json!("sub_1")),
        ("timestamp", json!("2099-01-01T00:00:00Z")),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        assert_eq!(subscriber.send(&house, &bad), Received::Nothing, "{bad}");
        assert!(session.outcomes(&house, 0, 0).await.is_empty(), "{bad}");
    }
    let decided = json!({
        "type": "confirmation.reply", "reply_token": ours, "decision": "accept", "subscription_id": subscriber.id,
        "timestamp": now(&house),
    });
    assert_eq!(subscriber.send(&house, &decided), Received::Nothing);
    assert!(session.outcomes(&house, 0, 0).await.is_empty(), "AEP-14");
    assert_eq!(subscriber.send(&house, &good), Received::Nothing);
    assert_eq!(session.outcomes(&house, 0, 0).await[0]["response"], false);
    // AEP-06
    subscriber.answer(&house, &ours, true);
    assert_eq!(session.outcomes(&house, 0, 0).await.len(), 1);
}

/// A late joiner is told the state of the session and every open prompt, under the ids that it had.
#[tokio::test]
async fn late_joiner_gets_open_prompts() {
    let house = House::open();
    let session = Session::begin(&house);
    let (_, first) = session.ask(&house, 300, None);
    let (_, second) = session.ask(&house, 300, None);
    let early = Subscriber::new(&house, &json!({}));
    early.answer(&house, &first, true);
    let late = Subscriber::new(&house, &json!({}));
    let mut followed = late.follow(&house, None).await;
    let state = followed.next().await;
    assert_eq!(
        (&state["type"], &state["session_id"]),
        (&json!("aaep:agent.state.changed"), &json!(session.id))
    );
    let prompt = followed.next().await;
    assert_eq!((&prompt["type"], &prompt["reply_token"]), (&json!(CLARIFIES), &json!(second)));
    assert!(followed.is_quiet().await);
    // Whoever comes back without a place is told the same again.
    let mut again = late.follow(&house, None).await;
    assert_eq!(again.next_of(CLARIFIES).await, prompt);
}

/// The same event twice is one; another under its id is refused.
#[tokio::test]
async fn event_that_comes_twice_is_told_once() {
    let house = House::open();
    let subscriber = Subscriber::new(&house, &json!({}));
    let session = Session::begin(&house);
    let question = json!({"question": "Which?", "reply_token": "rpl_twice", "timeout_seconds": 300});
    let question = session.event(&house, "awaiting.clarification", question);
    let progress = session.event(&house, "progress.updated", json!({"progress": {"percent": 50}}));
    for event in [&question, &progress] {
        let first = session.publish(&house, event).unwrap();
        let again = session.publish(&house, event).unwrap();
        assert!(!first.repeated && again.repeated);
        assert_eq!((first.event_id, first.reply_token), (again.event_id, again.reply_token));
        let mut other = event.clone();
        other["timestamp"] = now(&house).replace('Z', "+00:00").into();
        assert_eq!(session.publish(&house, &other).unwrap_err().code.as_str(), "SESSION_CONFLICT");
    }
    let mut followed = subscriber.follow(&house, None).await;
    followed.next_of("aaep:agent.session.started").await;
    assert_eq!(followed.next().await["type"], CLARIFIES);
    assert_eq!(followed.next().await["event_id"], progress["event_id"]);
    assert!(followed.is_quiet().await);
}

/// AEP-08: at its time a prompt ends with its default, told as one, or with nothing.
#[tokio::test]
async fn prompt_without_a_reply_ends_at_its_time() {
    let house = House::open();
    let session = Session::begin(&house);
    let (defaulted, _) = session.ask(&house, 1, Some("false"));
    let (expired, _) = session.ask(&house, 1, None);
    let first = session.outcomes(&house, 0, 20).await;
    let place = first.last().unwrap()["place"].as_u64().unwrap();
    let second = if first.len() < 2 { session.outcomes(&house, place, 20).await } else { Vec::new() };
    let outcomes: Vec<_> = first.into_iter().chain(second).collect();
    let of = |token: &str| outcomes.iter().find(|outcome| outcome["reply_token"] == token).unwrap();
    assert_eq!(
        (&of(&defaulted)["outcome"], &of(&defaulted)["response"]),
        (&json!("defaulted"), &json!(false))
    );
    assert_eq!((&of(&expired)["outcome"], of(&expired).get("response")), (&json!("expired"), None));
}

/// The end of a session ends its prompts, and nothing follows it.
#[tokio::test]
async fn prompts_end_with_their_session() {
    let house = House::open();
    let subscriber = Subscriber::new(&house, &json!({}));
    let session = Session::begin(&house);
    let (_, ours) = session.ask(&house, 300, None);
    let mut followed = subscriber.follow(&house, None).await;
    let end = json!({"cancelled_by": "user", "summary_normal": "Stopped."});
    session.say(&house, "session.cancelled", end).unwrap();
    assert_eq!(followed.resolved().await["outcome"], "cancelled");
    assert_eq!(followed.next().await["type"], "aaep:agent.session.cancelled");
    subscriber.answer(&house, &ours, true);
    assert_eq!(session.outcomes(&house, 0, 0).await.len(), 1);
    let late = session.say(&house, "progress.updated", json!({"progress": {"percent": 99}})).unwrap_err();
    assert_eq!(late.code.as_str(), "SESSION_CONFLICT");
}
