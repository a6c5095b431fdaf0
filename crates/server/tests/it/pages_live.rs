//! What open pages are told: once, in order, the same to everybody, and only to those who may look.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use crate::{
    client::{Body, Call, head},
    server::Server,
};

/// A page that is open.
struct Page {
    lines: BufReader<Body>,
}

/// One message.
#[derive(Debug)]
struct Told {
    name: String,
    id: Option<u128>,
    data: Value,
}

impl Page {
    fn open(call: &Call) -> Self {
        let mut stream = call.open();
        let (status, headers) = head(&mut stream).unwrap();
        assert_eq!(status, 200);
        assert!(headers.contains(&("content-type".to_owned(), "text/event-stream".to_owned())));
        assert!(headers.contains(&("cache-control".to_owned(), "no-store".to_owned())));
        Self { lines: BufReader::new(Body::new(stream)) }
    }

    /// Returns the next message; none at the end.
    fn next(&mut self) -> Option<Told> {
        let mut told = Told { name: String::new(), id: None, data: Value::Null };
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("event", name)) => name.clone_into(&mut told.name),
                Some(("id", id)) => told.id = u128::from_str_radix(id, 16).ok(),
                Some(("data", data)) => told.data = serde_json::from_str(data).unwrap(),
                _ if line == "\n" && !told.name.is_empty() => return Some(told),
                _ => {}
            }
        }
    }

    /// Checks that the next message has this name, and returns it.
    fn hears(&mut self, name: &str) -> Told {
        let told = self.next().unwrap();
        assert_eq!(told.name, name, "{told:?}");
        told
    }
}

fn live(server: &Server, token: &str) -> Call {
    server.call("GET", "/live").token(token)
}

#[test]
fn everybody_is_told_what_happens_and_nobody_its_words() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let mut pages: Vec<_> = (0..3).map(|_| Page::open(&live(&server, &reader))).collect();
    for page in &mut pages {
        assert_eq!(page.hears("begin").data, json!({}));
    }
    let id = server.ask(&asker, &json!({"question": "Which branch?", "severity": "warn"}));
    server.answer(&id, &json!("main"));
    for page in &mut pages {
        let first = page.hears("asked");
        assert_eq!(first.data, json!({"question": id, "state": "open", "severity": "warn", "people": true}),);
        let changed = page.hears("changed");
        assert_eq!(changed.data["question"], json!(id));
        assert_eq!(changed.data["state"], json!("answered"));
        assert!(changed.id > first.id);
    }
}

#[test]
fn whoever_comes_back_misses_nothing_and_whoever_comes_too_late_looks_again() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    let mut stays = Page::open(&live(&server, &reader));
    stays.hears("begin");
    server.ask(&asker, &json!({"question": "One?"}));
    let first = stays.hears("asked").id.unwrap();
    let two = server.ask(&asker, &json!({"question": "Two?"}));
    let three = server.ask(&asker, &json!({"question": "Three?"}));
    stays.hears("asked");
    let newest = stays.hears("asked").id.unwrap();
    let mut back = Page::open(&live(&server, &reader).header("Last-Event-ID", &format!("{first:x}")));
    assert_eq!(back.hears("resumed").id, Some(first));
    assert_eq!(back.hears("asked").data["question"], json!(two));
    assert_eq!(back.hears("asked").data["question"], json!(three));
    for place in ["0", "18446744073709551615", "rubbish", ""] {
        let mut late = Page::open(&live(&server, &reader).header("Last-Event-ID", place));
        assert_eq!(late.hears("reload").id, Some(newest), "{place:?}");
    }
}

#[test]
fn what_is_asked_after_the_beginning_is_told_also_to_the_first_who_looks() {
    let server = Server::start();
    let (asker, reader) = (server.token("asker", &["ask"]), server.token("reader", &["read"]));
    for number in 0..5 {
        let mut page = Page::open(&live(&server, &reader));
        page.hears("begin");
        let id = server.ask(&asker, &json!({"question": format!("{number}?")}));
        loop {
            let told = page.next().unwrap();
            if told.data["question"] == json!(id) {
                break;
            }
        }
    }
}

#[test]
fn a_page_ends_with_its_session() {
    let server = Server::start();
    let (reader, asker) = (server.token("reader", &["read"]), server.token("asker", &["ask"]));
    let mut page = Page::open(&live(&server, &reader));
    page.hears("begin");
    let listed = server.local("GET", "/v1/tokens").send().json();
    let tokens = listed["tokens"].as_array().unwrap();
    let id = tokens.iter().find(|token| token["name"] == "reader").unwrap()["id"].as_str().unwrap();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
    server.ask(&asker, &json!({"question": "Not seen?"}));
    assert!(page.next().is_none(), "it ends, and nothing more is told");
}

#[test]
fn a_page_ends_with_the_server_at_once() {
    let mut server = Server::start();
    let reader = server.token("reader", &["read"]);
    let mut page = Page::open(&live(&server, &reader));
    page.hears("begin");
    server.stop().unwrap();
    assert!(page.next().is_none());
}
