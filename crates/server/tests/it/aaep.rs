//! Accessibility events over HTTP: producers publish, subscribers follow over server-sent events and reply. Everything that comes over
//! the wire is validated here by the reader that subscribers have.

mod binding;
mod kill;
mod resume;
mod slow;

use std::{
    io::{BufRead as _, BufReader},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use demur_aaep::{event::EventReader, handshake::ProducerMessage, resolved};
use demur_core::time::Timestamp;
use serde_json::{Value, json};

use crate::{
    client::{Body, Call, Reply, head},
    server::Server,
};

const CLARIFIES: &str = "aaep:agent.awaiting.clarification";

static NUMBER: AtomicU64 = AtomicU64::new(1);

/// Returns an id that no other call returned, also in another process.
fn id(prefix: &str) -> String {
    format!("{prefix}{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap()).unwrap().to_string()
}

/// A session that a token publishes.
#[derive(Clone)]
struct Session {
    id: String,
    token: String,
    port: u16,
}

impl Session {
    fn begin(server: &Server, token: &str) -> Self {
        let session = Self { id: id("sess_"), token: token.to_owned(), port: server.port() };
        let begun = session.say("session.started", json!({"summary_normal": "The agent begins."}));
        assert_eq!(begun.status, 201, "{}", begun.text());
        session
    }

    /// The same session at another server.
    fn at(&self, port: u16) -> Self {
        Self { port, ..self.clone() }
    }

    fn event(&self, kind: &str, mut fields: Value) -> Value {
        let envelope = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"), "event_id": id("evt_"),
            "session_id": self.id, "timestamp": now(), "producer": {"agent_id": "planner"},
        });
        fields.as_object_mut().unwrap().extend(envelope.as_object().unwrap().clone());
        fields
    }

    fn call(&self, method: &str, what: &str) -> Call {
        Call::tcp(self.port, method, &format!("/aaep/v1/sessions/{}/{what}", self.id)).token(&self.token)
    }

    fn publish(&self, event: &Value) -> Reply {
        self.call("POST", "events").json(event).send()
    }

    fn say(&self, kind: &str, fields: Value) -> Reply {
        self.publish(&self.event(kind, fields))
    }

    /// Asks a question; returns our token.
    fn ask(&self, seconds: u64) -> String {
        let asked = self.say("awaiting.clarification", question(seconds));
        assert_eq!(asked.status, 201, "{}", asked.text());
        asked.json()["reply_token"].as_str().unwrap().to_owned()
    }

    fn outcomes(&self, query: &str) -> Vec<Value> {
        let told = self.call("GET", &format!("outcomes?{query}")).send();
        assert_eq!(told.status, 200, "{}", told.text());
        told.json()["outcomes"].as_array().unwrap().clone()
    }
}

fn question(seconds: u64) -> Value {
    json!({
        "question": "Which age group?", "reply_token": id("rpl_"), "timeout_seconds": seconds,
        "accepted_response_kinds": ["multiple_choice", "freetext"],
        "choices": [{"value": "child", "label": "Children"}, {"value": "adult", "label": "Adults"}],
        "summary_terse": "Age group?", "summary_normal": "Which age group is it for?",
    })
}

/// A subscription that a token has.
#[derive(Clone)]
struct Subscriber {
    id: String,
    token: String,
    port: u16,
}

fn request(capabilities: &Value) -> Value {
    json!({
        "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "reader", "capabilities": capabilities,
    })
}

impl Subscriber {
    fn new(server: &Server, token: &str, capabilities: &Value) -> Self {
        let accepted =
            server.call("POST", "/aaep/v1/subscriptions").token(token).json(&request(capabilities)).send();
        assert_eq!(accepted.status, 201, "{}", accepted.text());
        ProducerMessage::read(&accepted.body).unwrap();
        let id = accepted.json()["subscription_id"].as_str().unwrap().to_owned();
        let place = format!("/aaep/v1/events?subscription_id={id}");
        assert!(accepted.headers.contains(&("location".to_owned(), place)), "{:?}", accepted.headers);
        Self { id, token: token.to_owned(), port: server.port() }
    }

    fn at(&self, port: u16) -> Self {
        Self { port, ..self.clone() }
    }

    fn follow(&self, last: Option<&str>) -> Events {
        let mut call = Call::tcp(self.port, "GET", &format!("/aaep/v1/events?subscription_id={}", self.id))
            .token(&self.token);
        if let Some(last) = last {
            call = call.header("Last-Event-ID", last);
        }
        let mut stream = call.open();
        let (status, headers) = head(&mut stream).unwrap();
        assert_eq!(status, 200);
        let media = ("content-type".to_owned(), "text/event-stream".to_owned());
        assert!(headers.contains(&media), "{headers:?}");
        Events { lines: BufReader::new(Body::new(stream)), last: last.map(str::to_owned) }
    }

    fn send(&self, message: &Value) -> Reply {
        Call::tcp(self.port, "POST", "/aaep/v1/replies").token(&self.token).json(message).send()
    }

    fn reply(&self, token: &str, response: &Value) -> Value {
        json!({
            "type": "clarification.reply", "reply_token": token, "response": response, "subscription_id": self.id,
            "timestamp": now(), "decided_by": "user:kim",
        })
    }

    fn answer(&self, token: &str, response: &Value) {
        let sent = self.send(&self.reply(token, response));
        assert_eq!(sent.status, 204, "{}", sent.text());
    }
}

/// What one connection brings.
struct Events {
    lines: BufReader<Body>,
    last: Option<String>,
}

impl Events {
    /// Returns the next message; none at the end.
    fn try_next(&mut self) -> Option<Value> {
        let (mut name, mut data) = (None, None);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end_matches('\n').split_once(": ") {
                Some(("event", value)) => name = Some(value.to_owned()),
                Some(("id", value)) => self.last = Some(value.to_owned()),
                Some(("data", value)) => {
                    assert_eq!(data.replace(value.to_owned()), None, "one line each");
                }
                _ if line == "\n" => {
                    if let Some(data) = data.take() {
                        assert_eq!(name.take().as_deref(), Some("aaep.event"));
                        return Some(validated(&data));
                    }
                }
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Value {
        self.try_next().expect("the stream goes on")
    }

    fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next();
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Returns how the next prompt was resolved that a state tells about.
    fn resolved(&mut self) -> Value {
        loop {
            let message = self.next_of("aaep:agent.state.changed");
            if let Some(told) = message["extensions"].get("demur") {
                return told.clone();
            }
        }
    }
}

/// Returns a message, once it breaks no rule.
fn validated(text: &str) -> Value {
    let message: Value = serde_json::from_str(text).unwrap();
    if message["type"].as_str().unwrap().starts_with("subscription.") {
        ProducerMessage::read(text.as_bytes()).unwrap();
    } else {
        let reader = EventReader { extensions: vec![resolved::known().unwrap()], ..EventReader::default() };
        reader.read(text.as_bytes()).unwrap_or_else(|violation| panic!("{violation}: {text}"));
    }
    message
}
