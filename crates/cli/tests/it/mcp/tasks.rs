//! A question as a task over HTTP, by a client that does what it is told: it looks again after the time that the server
//! names. The server is killed meanwhile.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    sandbox::{Sandbox, count},
    server_life::serve,
};

/// A client of 2026-07-28 with the Tasks extension.
struct TaskClient {
    address: String,
    token: String,
    /// How often its model would have been asked to go on: once per tool call.
    model_requests: u32,
}

impl TaskClient {
    fn new(sandbox: &Sandbox) -> Self {
        let made = sandbox.json(&["token", "new", "agent", "--scope", "ask"]);
        let address = sandbox.json(&["status"])["address"].as_str().unwrap().to_owned();
        let address = address.trim_start_matches("http://").replace("localhost", "127.0.0.1");
        Self { address, token: made["secret"].as_str().unwrap().to_owned(), model_requests: 0 }
    }

    /// Asks, and returns the task.
    fn ask(&mut self) -> Value {
        self.model_requests += 1;
        let params = json!({"name": "ask_human", "arguments": {"question": "Which region?"}});
        let begun = self.request("tools/call", "ask_human", params).unwrap();
        assert_eq!(begun["resultType"], "task", "{begun}");
        begun
    }

    /// Looks as often as it is told to, and returns what the task ended with.
    fn wait_for(&mut self, task: &Value) -> Value {
        let id = task["taskId"].as_str().unwrap();
        let mut pause = poll_interval(task);
        loop {
            thread::park_timeout(pause);
            // A server that is away has nothing to say: the client looks again after the same time.
            let Some(found) = self.request("tasks/get", id, json!({"taskId": id})) else { continue };
            if found["status"] == "completed" {
                self.model_requests += 1;
                return found;
            }
            assert_eq!(found["status"], "working", "{found}");
            pause = poll_interval(&found);
        }
    }

    /// Returns the result of a request; none while no server is there.
    fn request(&self, method: &str, name: &str, mut params: Value) -> Option<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n\
             Mcp-Name: {name}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).ok()?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).ok()?;
        let (_, body) = reply.split_once("\r\n\r\n")?;
        let mut reply: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("no document: {reply}"));
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        Some(reply["result"].take())
    }
}

fn poll_interval(task: &Value) -> Duration {
    Duration::from_millis(task["pollIntervalMs"].as_u64().unwrap_or_else(|| panic!("no interval: {task}")))
}

/// Bar 3: two requests to the model, and the answer within 11 s. With the full count the task is over five minutes old when
/// it is answered: from then on clients are told to look every ten seconds only.
#[test]
fn proof_task_over_http_brings_its_answer_after_the_server_was_killed() {
    let sandbox = Sandbox::new();
    let mut server = serve(&sandbox, &["--port", "0"]);
    let mut client = TaskClient::new(&sandbox);
    let port = client.address.rsplit(':').next().unwrap().to_owned();
    let task = client.ask();
    let id = task["taskId"].as_str().unwrap().to_owned();
    let waiting = thread::spawn(move || {
        let ended = client.wait_for(&task);
        (ended, Instant::now(), client.model_requests)
    });
    thread::park_timeout(Duration::from_secs(count(0, 310) as u64));
    server.kill().unwrap();
    server.wait().unwrap();
    let mut server = serve(&sandbox, &["--port", &port]);
    sandbox.run(&["answer", &id, "eu"]).expect_code(0);
    let answered = Instant::now();
    let (ended, heard, model_requests) = waiting.join().unwrap();
    assert_eq!(ended["result"]["structuredContent"]["answer"], "eu", "{ended}");
    assert_eq!(model_requests, 2);
    let taken = heard.saturating_duration_since(answered);
    assert!(taken <= Duration::from_secs(11), "{taken:?}");
    sandbox.run(&["stop"]).expect_code(0);
    assert!(server.wait().unwrap().success());
}
