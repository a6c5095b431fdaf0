//! A client that says what a test tells it to, one JSON message a line.

use std::{future::Future, sync::Arc, time::Duration};

use demur_mcp::{
    door::{Door, Shared},
    door_settings::DoorSettings,
    state::States,
    stdio,
    tools::Sets,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::watch,
    task::JoinHandle,
    time,
};

use crate::desk::{Desk, TestHost};

/// A client with a door of its own.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    door: JoinHandle<std::io::Result<()>>,
    name: String,
    capabilities: Value,
    number: u64,
    hears: Duration,
}

/// How a door is opened.
pub(crate) struct Opening {
    pub(crate) settings: DoorSettings,
    pub(crate) states: States,
    pub(crate) name: &'static str,
    /// How long something may take to come.
    pub(crate) hears: Duration,
    /// What the doors of one process share.
    pub(crate) shared: Arc<Shared>,
}

impl Default for Opening {
    fn default() -> Self {
        let states = States::with_key(&[7; 32]).unwrap();
        let settings = DoorSettings { sets: Sets::all(), lasting: true, ..DoorSettings::default() };
        Self { settings, states, name: "tester", hears: Duration::from_secs(20), shared: Arc::default() }
    }
}

impl Opening {
    /// Returns how a door is opened whose calls wait so long.
    pub(crate) fn within(wait: Duration) -> Self {
        let opening = Self::default();
        Self { settings: DoorSettings { wait, ..opening.settings }, ..opening }
    }

    /// Returns how a door is opened whose calls wait so long, by a clock that tests set.
    pub(crate) fn by_the_clock(wait: Duration) -> Self {
        Self { hears: Duration::from_hours(1_000), ..Self::within(wait) }
    }
}

impl Client {
    /// Returns a client of 2026-07-28 with these capabilities.
    pub(crate) fn modern(desk: &Arc<Desk>, capabilities: Value, opening: Opening) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (ending, ended) = watch::channel(false);
        let host = Arc::new(TestHost(Arc::clone(desk)));
        let door = Door::new(host, Arc::new(opening.states), opening.settings, opening.shared, ended);
        let (reader, writer) = tokio::io::split(theirs);
        let door = tokio::spawn(stdio::serve_pipes(door, ending, reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        let name = opening.name.to_owned();
        Self {
            reader: BufReader::new(reader),
            writer,
            door,
            name,
            capabilities,
            number: 0,
            hears: opening.hears,
        }
    }

    /// Returns a client of an earlier revision, introduced.
    pub(crate) async fn legacy(
        desk: &Arc<Desk>,
        version: &str,
        capabilities: Value,
        opening: Opening,
    ) -> Self {
        let mut client = Self::modern(desk, Value::Null, opening);
        let info = json!({"name": client.name, "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info});
        let reply = client.request("initialize", params).await;
        assert_eq!(reply["result"]["protocolVersion"], version, "{reply}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Returns the next message; none once the door is closed.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = time::timeout(self.hears, self.reader.read_line(&mut line));
        let read = read.await.expect("something comes in time").unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn next(&mut self) -> Value {
        self.receive().await.expect("the door is open")
    }

    /// Sends a request and returns its number.
    pub(crate) async fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.number += 1;
        if !self.capabilities.is_null() {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({"name": self.name, "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})).await;
        self.number
    }

    /// Sends a request without what a client of 2026-07-28 says of itself, and returns the reply.
    pub(crate) async fn bare(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})).await;
        self.next().await
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params).await;
        self.next().await
    }

    /// Calls a tool and returns the message that comes back.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    /// Hangs up, and waits until the door has noticed.
    pub(crate) async fn hang_up(self) {
        closed(self.leave()).await;
    }

    /// Hangs up. The door may still have something to do.
    pub(crate) fn leave(self) -> JoinHandle<std::io::Result<()>> {
        self.door
    }
}

/// Waits until a door is closed.
pub(crate) async fn closed(door: JoinHandle<std::io::Result<()>>) {
    time::timeout(Duration::from_secs(20), door).await.expect("the door closes").unwrap().unwrap();
}

/// Runs a test.
pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// Runs a test by a clock that moves on whenever nothing else is to be done.
pub(crate) fn run_by_the_clock(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(test);
}

/// Returns the words of a result.
pub(crate) fn words(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

/// A client that can show forms.
pub(crate) fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}
