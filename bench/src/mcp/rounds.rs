//! The client of both sides: a call, what it needs, the same call again with the answer.

use std::{
    collections::BTreeMap,
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
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::net::TcpStream;

use crate::ask::load::LENGTH;

/// A server of MCP.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) token: Option<String>,
}

/// What comes back, as far as it matters here: read without a copy, so that little of the machine goes to the client.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Outcome<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(default)]
    result_type: Option<String>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    input_requests: BTreeMap<String, &'a RawValue>,
    #[serde(default, borrow)]
    request_state: Option<&'a RawValue>,
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
        let needed = connection.call(&question, "").await?;
        let done = connection.call(&question, &brought(&needed)?).await?;
        let Outcome { content, .. } = read(&done)?.result;
        ensure!(content.is_some_and(|content| content.get().contains(ANSWER)), "expected the answer: {done}");
        delays.push(sent.elapsed());
    }
    Ok(delays)
}

/// Returns what the second round brings: an answer to everything that the first one needs, and its state.
fn brought(needed: &str) -> Result<String> {
    let Outcome { result_type, input_requests, request_state, .. } = read(needed)?.result;
    ensure!(result_type.as_deref() == Some("input_required"), "expected input_required, found {needed}");
    // Each form has one field of text, called "answer".
    let fill = |(key, form): (&String, &&RawValue)| {
        ensure!(form.get().contains("\"answer\""), "expected a form for an answer, found {form}");
        Ok(format!("{}:{{\"action\":\"accept\",\"content\":{{\"answer\":\"{ANSWER}\"}}}}", json!(key)))
    };
    let answers = input_requests.iter().map(fill).collect::<Result<Vec<_>>>()?.join(",");
    let state = request_state.context("no state came")?;
    Ok(format!(",\"inputResponses\":{{{answers}}},\"requestState\":{state}"))
}

fn read(text: &str) -> Result<Answer<'_>> {
    serde_json::from_str(document(text)).with_context(|| text.to_owned())
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

    /// Calls the tool, with what an earlier round made necessary.
    async fn call(&mut self, question: &str, brought: &str) -> Result<String> {
        self.id += 1;
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"{TOOL}\",\
             \"arguments\":{{\"question\":\"{question}\"}},\"_meta\":{META}{brought}}}}}",
            self.id
        );
        let mut request = Request::builder()
            .method("POST")
            .uri("/mcp")
            .header(header::HOST, format!("localhost:{}", self.target.address.port()))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", TOOL);
        if let Some(token) = &self.target.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(Full::new(Bytes::from(body)))?).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        let text = String::from_utf8(bytes.into())?;
        ensure!(status.is_success(), "{status}: {text}");
        Ok(text)
    }
}

/// Returns the JSON document in what came back: all of it, or the last event of a stream.
fn document(text: &str) -> &str {
    text.lines().rev().find_map(|line| line.strip_prefix("data:")).unwrap_or(text).trim()
}

const META: &str = "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
    \"io.modelcontextprotocol/clientInfo\":{\"name\":\"bench\",\"version\":\"1\"},\
    \"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{\"form\":{}}}}";
const TOOL: &str = "ask_human";
const ANSWER: &str = "dist";
