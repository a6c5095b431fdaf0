//! Slow readers: they lose nothing critical, and cost the others nothing.

use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{CLARIFIES, Session, Subscriber};
use crate::server::Server;

/// AEP-02: an agreed rate of one event a second holds no prompt back.
#[test]
fn rate_holds_nothing_critical() {
    let server = Server::start();
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let subscriber = Subscriber::new(&server, &reader, &json!({"max_events_per_second": 1}));
    let mut events = subscriber.follow(None);
    let session = Session::begin(&server, &producer);
    for number in 0..100 {
        let tool = json!({"tool": format!("tool{number}"), "summary_normal": "A tool runs."});
        assert_eq!(session.say("tool.invoked", tool).status, 201);
    }
    let asked: Vec<_> = (0..20).map(|_| session.ask(300)).collect();
    let begun = Instant::now();
    let told: Vec<_> = (0..20).map(|_| events.next_of(CLARIFIES)["reply_token"].clone()).collect();
    assert_eq!(told, asked);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// A reader that does not read gets everything when it does, and others hear at once meanwhile.
#[test]
fn one_who_does_not_read_holds_nobody_up() {
    let server = Server::start();
    let (producer, reader) = (server.token("planner", &["ask"]), server.token("reader", &["relay"]));
    let [slow, quick] = [0, 1].map(|_| Subscriber::new(&server, &reader, &json!({})));
    let (mut stuck, mut events) = (slow.follow(None), quick.follow(None));
    let session = Session::begin(&server, &producer);
    events.next_of("aaep:agent.session.started");
    // More than the buffers of a connection hold.
    let output = "word ".repeat(3000);
    let publishing = thread::spawn(move || {
        for number in 0..800_u64 {
            let piece = json!({"tool": format!("tool{number}"), "summary_normal": output});
            assert_eq!(session.say("tool.invoked", piece).status, 201);
        }
        session.ask(300)
    });
    for _ in 0..800 {
        events.next_of("aaep:agent.tool.invoked");
    }
    let ours = publishing.join().unwrap();
    assert_eq!(events.next_of(CLARIFIES)["reply_token"], ours.as_str());
    let mut read = BTreeSet::new();
    loop {
        let Some(message) = stuck.try_next() else {
            // Whoever takes nothing for half a minute is let go, and comes back.
            stuck = slow.follow(stuck.last.as_deref());
            continue;
        };
        if message["type"] == CLARIFIES {
            assert_eq!(message["reply_token"], ours.as_str());
            break;
        }
        if message["type"] == "aaep:agent.tool.invoked" {
            read.insert(message["event_id"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(read.len(), 800);
}
