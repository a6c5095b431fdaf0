//! A server for one test: a data folder of its own, a port of its own, ended when the test is.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    sync::mpsc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use demur_api::refusal::Refusal;
use demur_api::server_limits::ServerLimits;
use demur_desk::{data::DataFolder, rules::RulesSource, settings::PageHost, token::SessionTimeouts};
use demur_server::{
    peer_timeouts::PeerTimeouts,
    serve::{self, Config, Listen},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Call, Reply};

/// A server that runs.
pub(crate) struct Server {
    folder: PathBuf,
    port: u16,
    running: Option<JoinHandle<Result<(), Refusal>>>,
    /// Goes away with the server; none where the folder belongs to the test.
    own: Option<TempDir>,
}

impl Server {
    /// Starts a server on a new folder.
    pub(crate) fn start() -> Self {
        Self::start_with(PeerTimeouts::default())
    }

    /// Starts a server on a new folder that waits no longer than this.
    pub(crate) fn start_with(timeouts: PeerTimeouts) -> Self {
        let own = tempfile::tempdir().unwrap();
        let mut server = Self::start_in(own.path(), timeouts);
        server.own = Some(own);
        server
    }

    /// Starts a server on this folder.
    pub(crate) fn start_at(folder: &Path) -> Self {
        Self::start_in(folder, PeerTimeouts::default())
    }

    /// Starts a server on this folder, with these rule packs.
    pub(crate) fn start_under(folder: &Path, rules: Vec<PathBuf>) -> Self {
        Self::run(folder, rules, PeerTimeouts::default())
    }

    /// Starts a server on this folder, at this port.
    pub(crate) fn start_on_port(folder: &Path, port: u16) -> Self {
        Self::listen(folder, Vec::new(), PeerTimeouts::default(), Listen::Port(port))
    }

    /// Starts a server on this folder, at a port that is not the folder's: others may serve copies of it.
    pub(crate) fn start_elsewhere(folder: &Path) -> Self {
        Self::start_on_port(folder, 0)
    }

    /// Starts a server on this folder that keeps browsers signed in for so long.
    pub(crate) fn start_for_sessions(folder: &Path, sessions: SessionTimeouts) -> Self {
        Self::of(Config { sessions, ..config(folder) }, PeerTimeouts::default())
    }

    /// Starts a server on this folder whose pages are under this name.
    pub(crate) fn start_with_pages_at(folder: &Path, pages: PageHost) -> Self {
        Self::of(Config { pages, ..config(folder) }, PeerTimeouts::default())
    }

    /// Starts a server behind a proxy that browsers reach at this address.
    pub(crate) fn start_behind(folder: &Path, url: &str, trusted: &[&str]) -> Self {
        // Whoever declares a proxy says the port too: one that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).unwrap();
        let trusted = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let listen = Listen::Proxied { address, url: url.parse().unwrap(), trusted };
        let mut server = Self::listen(folder, Vec::new(), PeerTimeouts::default(), listen);
        server.port = address.port();
        server
    }

    /// Starts a server on a new folder that takes no more than this.
    pub(crate) fn start_within(limits: ServerLimits) -> Self {
        let own = tempfile::tempdir().unwrap();
        let config = Config { limits, ..config(own.path()) };
        let mut server = Self::of(config, PeerTimeouts::default());
        server.own = Some(own);
        server
    }

    /// Starts a server on this folder that takes no more than this.
    pub(crate) fn start_at_within(folder: &Path, limits: ServerLimits) -> Self {
        Self::of(Config { limits, ..config(folder) }, PeerTimeouts::default())
    }

    fn start_in(folder: &Path, timeouts: PeerTimeouts) -> Self {
        Self::run(folder, Vec::new(), timeouts)
    }

    fn run(folder: &Path, rules: Vec<PathBuf>, timeouts: PeerTimeouts) -> Self {
        Self::listen(folder, rules, timeouts, Listen::Loopback(None))
    }

    fn listen(folder: &Path, rules: Vec<PathBuf>, timeouts: PeerTimeouts, listen: Listen) -> Self {
        Self::of(Config { rules: RulesSource::of(rules, false), listen, ..config(folder) }, timeouts)
    }

    fn of(config: Config, timeouts: PeerTimeouts) -> Self {
        let folder = config.data.path().to_owned();
        let (sender, receiver) = mpsc::channel();
        let running = thread::spawn(move || {
            serve::run_with(config, timeouts, |service| sender.send(service.address()).unwrap())
        });
        let address = receiver.recv().expect("the server starts");
        let port = address.and_then(|address| address.rsplit_once(':')?.1.parse().ok()).unwrap_or_default();
        Self { folder, port, running: Some(running), own: None }
    }

    /// Returns the data folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the port.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns a call over TCP to the name of the pages.
    pub(crate) fn page(&self, method: &str, path: &str) -> Call {
        self.call(method, path).header("Host", &format!("demur.localhost:{}", self.port))
    }

    /// Returns a call over TCP.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::tcp(self.port, method, path)
    }

    /// Returns a call over the socket, from the user of this machine.
    pub(crate) fn local(&self, method: &str, path: &str) -> Call {
        Call::socket(&self.folder, method, path)
    }

    /// Makes a token and returns its secret. One that relays does so for Kim, Grace and Lee.
    pub(crate) fn token(&self, name: &str, scopes: &[&str]) -> String {
        let people: &[&str] = if scopes.contains(&"relay") { &["kim", "grace", "lee"] } else { &[] };
        self.token_for(name, scopes, people)
    }

    /// Makes a token that relays what these people say.
    pub(crate) fn token_for(&self, name: &str, scopes: &[&str], people: &[&str]) -> String {
        self.made_token(&json!({"name": name, "scopes": scopes, "people": people}))
    }

    /// Makes the token of a client that asks, and relays whatever its own user says.
    pub(crate) fn client_token(&self, name: &str) -> String {
        self.made_token(&json!({"name": name, "scopes": ["ask", "relay"], "for_anyone": true}))
    }

    fn made_token(&self, wanted: &Value) -> String {
        let made = self.local("POST", "/v1/tokens").json(wanted).send();
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["secret"].as_str().unwrap().to_owned()
    }

    /// Asks a question with a token and returns its id.
    pub(crate) fn ask(&self, token: &str, question: &Value) -> String {
        let asked = self.call("POST", "/v1/questions").token(token).json(question).send();
        assert_eq!(asked.status, 201, "{asked:?}");
        asked.json()["id"].as_str().unwrap().to_owned()
    }

    /// Records a trace that is too large for the buffers of a connection over the socket, which the kernel does not let
    /// grow; returns its first question and the call that exports it.
    pub(crate) fn large_export(&self, token: &str) -> (String, Call) {
        let large = "\u{20000}".repeat(16_384);
        let first = self.ask(token, &json!({"question": large, "detailed": large}));
        for _ in 0..30 {
            self.ask(token, &json!({"question": large, "detailed": large, "trace": &first[..26]}));
        }
        let call = self.local("GET", &format!("/v1/traces/{}/export", &first[..26]));
        (first, call)
    }

    /// Answers a question as the user of this machine.
    pub(crate) fn answer(&self, id: &str, answer: &Value) -> Reply {
        self.local("POST", &format!("/v1/questions/{id}/answer")).json(&json!({"answer": answer})).send()
    }

    /// Takes note that the server has ended by itself, in good order.
    pub(crate) fn abandon(mut self) {
        let running = self.running.take().unwrap();
        running.join().expect("the server does not panic").unwrap();
    }

    /// Ends the server in good order and returns how it ended.
    pub(crate) fn stop(&mut self) -> Result<(), Refusal> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let stopped = self.local("POST", "/v1/server/stop").send();
        assert_eq!(stopped.status, 204, "{stopped:?}");
        running.join().expect("the server does not panic")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _folder = self.own.take();
        if thread::panicking() {
            let _ = self.local("POST", "/v1/server/stop").try_send();
        } else {
            self.stop().expect("the server ends in good order");
        }
    }
}

fn config(folder: &Path) -> Config {
    Config {
        data: DataFolder::at(folder.to_owned()),
        rules: RulesSource::default(),
        listen: Listen::Loopback(None),
        idle: None,
        user: "pat".try_into().unwrap(),
        version: "test".to_owned(),
        limits: ServerLimits::default(),
        pages: PageHost::default(),
        sessions: SessionTimeouts::default(),
    }
}

/// Waits until something holds; fails where it does not come to hold.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < limit, "{what} does not come to hold");
        thread::park_timeout(Duration::from_millis(5));
    }
}
