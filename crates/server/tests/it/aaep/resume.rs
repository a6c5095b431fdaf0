//! Whoever comes back names the last event and misses nothing: over broken connections and restarts.

use std::thread;

use serde_json::{Value, json};

use super::{CLARIFIES, Session, Subscriber};
use crate::server::Server;

/// AEP-20
#[test]
fn stream_with_breaks_misses_nothing_and_repeats_nothing() {
    let server = Server::start();
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let subscriber = Subscriber::new(&server, &reader, &json!({}));
    let session = Session::begin(&server, &producer);
    let publishing = thread::spawn(move || {
        let tool = |number| json!({"tool": format!("tool{number}"), "summary_normal": "A tool runs."});
        let events: Vec<_> = (0..300).map(|number| session.event("tool.invoked", tool(number))).collect();
        for event in &events {
            let published = session.publish(event);
            assert_eq!(published.status, 201, "{}", published.text());
        }
        events.iter().map(|event| event["event_id"].clone()).collect::<Vec<_>>()
    });
    let (mut last, mut told): (Option<String>, Vec<Value>) = (None, Vec::new());
    while told.len() < 300 {
        let mut events = subscriber.follow(last.as_deref());
        // Every connection lasts for another number of events.
        for _ in 0..(told.len() * 37 % 50 + 1).min(300 - told.len()) {
            told.push(events.next_of("aaep:agent.tool.invoked")["event_id"].clone());
        }
        last = events.last;
    }
    assert_eq!(told, publishing.join().unwrap());
}

/// AEP-06 AEP-07: a restart loses no prompt, no subscription, no session and no place.
#[test]
fn everything_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let subscriber = Subscriber::new(&server, &reader, &json!({}));
    let session = Session::begin(&server, &producer);
    let mut events = subscriber.follow(None);
    events.next();
    let (kept, short) = (session.ask(300), session.ask(2));
    assert_eq!(events.next_of(CLARIFIES)["reply_token"], kept.as_str());
    let last = events.last;
    server.stop().unwrap();

    let server = Server::start_at(folder.path());
    let (session, subscriber) = (session.at(server.port()), subscriber.at(server.port()));
    let mut events = subscriber.follow(last.as_deref());
    assert_eq!(events.next()["reply_token"], short.as_str(), "it goes on where it was");
    subscriber.answer(&kept, &json!("adult"));
    let mut outcomes = Vec::new();
    while outcomes.len() < 2 {
        let after = outcomes.last().map_or(0, |last: &Value| last["place"].as_u64().unwrap());
        outcomes.extend(session.outcomes(&format!("after={after}&seconds=20")));
    }
    let of = |outcome: &str| outcomes.iter().filter(|told| told["outcome"] == outcome).count();
    assert_eq!((of("answered"), of("expired")), (1, 1), "{outcomes:?}");
    assert_eq!(session.say("session.completed", json!({"summary_normal": "Done."})).status, 201);
    events.next_of("aaep:agent.session.completed");
}

/// A place that is gone: the subscriber is told the state of the session and every open prompt, and goes on from now.
#[test]
fn unknown_place_begins_with_what_is_open() {
    let server = Server::start();
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let session = Session::begin(&server, &producer);
    let ours = session.ask(300);
    let subscriber = Subscriber::new(&server, &reader, &json!({}));
    let mut events = subscriber.follow(Some("evt_gone"));
    assert_eq!(events.next()["type"], "aaep:agent.state.changed");
    assert_eq!(events.next()["reply_token"], ours.as_str());
}
