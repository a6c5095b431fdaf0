//! A server with tokens for everybody, and a look at its questions that no door is involved in.

use serde_json::{Value, json};

use super::{asking::Words, browser::Browser, wire::Wire};
use crate::sandbox::Sandbox;

/// A data folder with a server.
pub(super) struct Hall {
    pub(super) sandbox: Sandbox,
    /// Over the Unix socket.
    pub(super) local: Wire,
    /// Over TCP, for whoever asks, relays and answers with a key.
    pub(super) asker: Wire,
    pub(super) relay: Wire,
    pub(super) answerer: Wire,
    /// Of somebody who signed in.
    pub(super) browser: Browser,
    /// Over the Unix socket, for the user of an MCP client.
    pub(super) bridge: Wire,
}

impl Hall {
    pub(super) fn open() -> Self {
        let sandbox = Sandbox::new();
        let token = |name: &str, scope: &str| {
            let people: &[&str] = if scope == "relay" { &["--for", "grace"] } else { &[] };
            let made = sandbox.json(&[&["token", "new", name, "--scope", scope], people].concat());
            made["secret"].as_str().unwrap().to_owned()
        };
        let (ask, relay, answer) = (token("builder", "ask"), token("chat", "relay"), token("finn", "answer"));
        let status = sandbox.json(&["status"]);
        let address = status["address"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let tcp = |token| Wire::tcp(&address, token);
        let local = Wire::socket(&sandbox.data());
        let (browser, bridge) = (Browser::sign_in(&local, &address), Wire::bridge(&sandbox.data()));
        Self { browser, local, bridge, asker: tcp(ask), relay: tcp(relay), answerer: tcp(answer), sandbox }
    }

    /// Returns the id of the question with these words, once it is there.
    pub(super) fn find(&self, words: &Words) -> String {
        self.wait_for(|hall| {
            let page = hall.local.get("/v1/questions?state=open&newest=true&limit=20");
            let questions = page["questions"].as_array().unwrap().clone();
            let found = questions.iter().find(|question| words.are_in(question))?;
            Some(found["id"].as_str().unwrap().to_owned())
        })
    }

    /// Returns a question as it stands.
    pub(super) fn show(&self, id: &str) -> Value {
        self.local.get(&format!("/v1/questions/{id}"))
    }

    /// Answers a question so that whoever asked can go on.
    pub(super) fn settle(&self, id: &str, answer: &str) {
        self.local.post(&format!("/v1/questions/{id}/answer"), &json!({"answer": answer})).unwrap();
    }

    /// Returns what shows sooner or later.
    pub(super) fn wait_for<T>(&self, look: impl Fn(&Self) -> Option<T>) -> T {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(std::time::Instant::now() < until, "nothing came");
            std::thread::yield_now();
        }
    }
}

impl Drop for Hall {
    fn drop(&mut self) {
        self.sandbox.run(&["stop"]);
    }
}
