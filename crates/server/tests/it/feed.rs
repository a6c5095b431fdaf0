//! The feed: whoever comes back names the last event seen, misses nothing and sees nothing twice.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead as _, BufReader, Read as _},
    thread,
};

use demur_api::server_limits::{ServerLimits, TokenQuotas};
use serde_json::{Value, json};

use crate::{
    client::{Body, head},
    server::Server,
};

/// A feed that is being followed.
struct Feed {
    lines: BufReader<Body>,
}

impl Feed {
    fn open(server: &Server, token: &str, last: Option<u128>) -> Self {
        let mut call = server.call("GET", "/v1/feed").token(token);
        if let Some(last) = last {
            call = call.header("Last-Event-ID", &format!("{last:x}"));
        }
        let mut stream = call.open();
        let (status, headers) = head(&mut stream).unwrap();
        assert_eq!(status, 200);
        assert!(
            headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())),
            "{headers:?}"
        );
        let mut feed = Self { lines: BufReader::new(Body::new(stream)) };
        let (begin, nothing) = feed.next();
        assert_eq!(nothing, json!({}), "it says first where it begins");
        assert!(last.is_none_or(|last| last == begin));
        feed
    }

    /// Returns the next event and its id.
    fn next(&mut self) -> (u128, Value) {
        let (mut id, mut data) = (None, None);
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the feed ended");
            match line.trim_end().split_once(": ") {
                Some(("id", value)) => id = u128::from_str_radix(value, 16).ok(),
                Some(("data", value)) => data = serde_json::from_str(value).ok(),
                _ if line == "\n" => {
                    if let (Some(id), Some(data)) = (id, data.take()) {
                        return (id, data);
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn proof_a_feed_with_breaks_misses_nothing_and_repeats_nothing() {
    let full = env::var("DEMUR_PROOF").is_ok_and(|word| word == "full");
    let count = if full { 10_000 } else { 1_000 };
    let quotas = TokenQuotas { open_questions: 10_000, asks_per_hour: 10_000, ..TokenQuotas::default() };
    let server = Server::start_within(ServerLimits { quotas, ..ServerLimits::default() });
    let reader = server.token("reader", &["read"]);
    let askers: Vec<_> = (0..4).map(|number| server.token(&format!("asker{number}"), &["ask"])).collect();
    let asking: Vec<_> = askers
        .into_iter()
        .map(|asker| {
            let call = server.call("POST", "/v1/questions").token(&asker).json(&json!({"question": "Why?"}));
            thread::spawn(move || {
                let ask = |_| call.send().json()["id"].as_str().unwrap().to_owned();
                (0..count / 4).map(ask).collect::<Vec<_>>()
            })
        })
        .collect();
    let (mut last, mut breaks, mut seen) = (0, 0_usize, Vec::new());
    while seen.len() < count {
        let mut feed = Feed::open(&server, &reader, Some(last));
        // Every connection lasts for another number of events.
        for _ in 0..(breaks * 37 % 90 + 1).min(count - seen.len()) {
            loop {
                let (id, notice) = feed.next();
                assert!(id > last, "{id} comes after {last}");
                last = id;
                if notice["type"] == "question_asked" {
                    seen.push(notice["questions"][0].as_str().unwrap().to_owned());
                    break;
                }
            }
        }
        breaks += 1;
    }
    let asked: BTreeSet<_> = asking.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), count, "nothing twice");
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), asked, "nothing missed");
    assert!(breaks > 10);
}

#[test]
fn without_a_place_a_feed_begins_now() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    server.ask(&asker, &json!({"question": "Before?"}));
    let mut feed = Feed::open(&server, &reader, None);
    let id = server.ask(&asker, &json!({"question": "After?"}));
    let (_, notice) = feed.next();
    assert_eq!((&notice["questions"], &notice["type"]), (&json!([id]), &json!("question_asked")));
    server.answer(&id, &json!("yes"));
    let (_, notice) = feed.next();
    assert_eq!((&notice["questions"], &notice["type"]), (&json!([id]), &json!("question_answered")));
}

#[test]
fn a_feed_tells_that_an_answer_was_replaced_and_taken_back() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    server.answer(&id, &json!("this"));
    let mut feed = Feed::open(&server, &reader, None);
    let path = format!("/v1/questions/{id}/answer");
    assert_eq!(server.local("PUT", &path).json(&json!({"answer": "that"})).send().status, 200);
    assert_eq!(server.local("DELETE", &path).send().status, 200);
    for kind in ["answer_superseded", "answer_revoked"] {
        let (_, notice) = feed.next();
        assert_eq!((&notice["questions"], &notice["type"]), (&json!([id]), &json!(kind)));
    }
}

#[test]
fn a_feed_ends_with_its_token() {
    let server = Server::start();
    let (reader, asker) = (server.token("reader", &["read"]), server.token("asker", &["ask"]));
    let mut feed = Feed::open(&server, &reader, None);
    server.ask(&asker, &json!({"question": "Seen?"}));
    assert_eq!(feed.next().1["type"], "question_asked");
    let listed = server.local("GET", "/v1/tokens").send().json();
    let tokens = listed["tokens"].as_array().unwrap();
    let id = tokens.iter().find(|token| token["name"] == "reader").unwrap()["id"].as_str().unwrap();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
    server.ask(&asker, &json!({"question": "Not seen?"}));
    let mut rest = String::new();
    feed.lines.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("question_asked"), "{rest}");
}
