//! The load: connections that stay, some ask and wait, others answer.

use std::{
    fs,
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, runtime::Runtime, task::JoinSet};

/// A connection that stays.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    token: Option<String>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(address: SocketAddr, token: Option<String>) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, host: format!("localhost:{}", address.port()), token })
    }

    /// Opens the feed, which has no end.
    pub(super) async fn open_feed(mut self) -> Result<Incoming> {
        Ok(self.send("GET", "/v1/feed", "").await?.into_body())
    }

    async fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Response<Incoming>> {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, &self.host);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        self.sender.ready().await?;
        Ok(self.sender.send_request(request.body(Full::new(Bytes::from(body.to_owned())))?).await?)
    }

    /// Sends a request and returns the document that comes back.
    pub(crate) async fn call(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        let response = self.send(method, path, body).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{path} answered {status}: {}", String::from_utf8_lossy(&bytes));
        if bytes.is_empty() { Ok(Value::Null) } else { Ok(serde_json::from_slice(&bytes)?) }
    }
}

/// What a load brought.
pub(crate) struct Load {
    /// Round trips per second.
    pub(crate) rate: f64,
    /// Milliseconds.
    pub(crate) p50: f64,
    /// Milliseconds.
    pub(crate) p99: f64,
}

/// Has so many pairs go round and round for a while. `trip` is one round of one pair.
pub(crate) fn drive<F, Fut>(runtime: &Runtime, callers: usize, trip: F) -> Result<(Load, u32)>
where
    F: Fn(usize) -> Fut,
    Fut: Future<Output = Result<Vec<Duration>>> + Send + 'static,
{
    let begin = Instant::now();
    let delays = runtime.block_on(async {
        let mut pairs = JoinSet::new();
        for number in 0..callers {
            pairs.spawn(trip(number));
        }
        let mut delays = Vec::new();
        while let Some(done) = pairs.join_next().await {
            delays.extend(done??);
        }
        Ok::<_, anyhow::Error>(delays)
    })?;
    let wall = begin.elapsed().as_secs_f64();
    let mut delays: Vec<f64> = delays.into_iter().map(|delay| delay.as_secs_f64() * 1e3).collect();
    delays.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| delays.get(delays.len() * share / 100).copied().unwrap_or_default();
    let count = u32::try_from(delays.len())?;
    Ok((Load { rate: f64::from(count) / wall, p50: at(50), p99: at(99) }, count))
}

/// Returns a runtime for clients.
pub(crate) fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Returns a runtime for clients that leave as much of the machine to the server as they can.
pub(crate) fn modest_runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Returns the processor time that a process has spent so far.
pub(crate) fn processor_time(process: u32) -> Result<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
    // Linux counts in hundredths of a second.
    Ok(Duration::from_millis((ticks(11) + ticks(12)) * 10))
}

/// How long a load lasts.
pub(crate) const LENGTH: Duration = Duration::from_secs(4);
