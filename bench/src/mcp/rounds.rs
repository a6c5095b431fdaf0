//! The client of both sides: a call, what it needs, the same call again with the answer.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;

use crate::ask::load::LENGTH;

/// A server of MCP.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) token: Option<String>,
}

/// Calls again and again over one connection and returns how long each call took.
pub(super) async fn go(target: Target, number: usize) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(target).await?;
    let (begin, mut delays) = (Instant::now(), Vec::new());
    let mut count = 0_u32;
    while begin.elapsed() < LENGTH {
        count += 1;
        let sent = Instant::now();
        // No two questions are the same.
        let question = format!("Where shall build {count} of caller {number} go?");
        let needed = connection.call(&question, None).await?;
        ensure!(needed["resultType"] == "input_required", "expected input_required, found {needed}");
        let done = connection.call(&question, Some(&needed)).await?;
        ensure!(done["content"].to_string().contains(ANSWER), "expected the answer, found {done}");
        delays.push(sent.elapsed());
    }
    Ok(delays)
}

struct Connection {
    sender: SendRequest<Full<Bytes>>,
    target: Target,
    id: u64,
}

impl Connection {
    async fn open(target: Target) -> Result<Self> {
        let stream = TcpStream::connect(target.address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, target, id: 0 })
    }

    /// Calls the tool, with the answers to what an earlier round needed.
    async fn call(&mut self, question: &str, needed: Option<&Value>) -> Result<Value> {
        self.id += 1;
        let mut params = json!({"name": TOOL, "arguments": {"question": question}, "_meta": meta()});
        if let Some(needed) = needed {
            params["inputResponses"] = answers(&needed["inputRequests"]);
            params["requestState"] = needed["requestState"].clone();
        }
        let body = json!({"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params});
        let mut request = Request::builder()
            .method("POST")
            .uri("/mcp")
            .header(header::HOST, format!("localhost:{}", self.target.address.port()))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", "tools/call")
            .header("mcp-name", TOOL);
        if let Some(token) = &self.target.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.sender.ready().await?;
        let response =
            self.sender.send_request(request.body(Full::new(Bytes::from(body.to_string())))?).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        let text = std::str::from_utf8(&bytes)?;
        ensure!(status.is_success(), "{status}: {text}");
        let mut answer: Value = serde_json::from_str(document(text)).with_context(|| text.to_owned())?;
        ensure!(answer["result"].is_object(), "expected a result, found {answer}");
        Ok(answer["result"].take())
    }
}

/// Returns the JSON document in what came back: all of it, or the last event of a stream.
fn document(text: &str) -> &str {
    text.lines().rev().find_map(|line| line.strip_prefix("data:")).unwrap_or(text).trim()
}

/// Returns an answer to everything that is needed: each form has one field of text.
fn answers(requests: &Value) -> Value {
    let fill = |form: &Value| {
        let fields = form["params"]["requestedSchema"]["properties"].as_object();
        let content: Map<String, Value> =
            fields.into_iter().flatten().map(|(name, _)| (name.clone(), json!(ANSWER))).collect();
        json!({"action": "accept", "content": content})
    };
    let requests = requests.as_object().into_iter().flatten();
    Value::Object(requests.map(|(key, form)| (key.clone(), fill(form))).collect())
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    })
}

const VERSION: &str = "2026-07-28";
const TOOL: &str = "ask_human";
const ANSWER: &str = "dist";
