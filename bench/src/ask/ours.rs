//! Our side: the command itself as a server in a process of its own.

use std::{
    collections::BTreeMap,
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use demur_bench::clock::spent;
use demur_ledger::envelope::Event;
use demur_store::{
    contract::{Cursor, Store as _},
    sqlite::SqliteStore,
};
use serde_json::Value;
use tokio::sync::{
    Mutex,
    mpsc::{self, Receiver, Sender},
};

use super::{
    feed::Feed,
    load::{self, Connection, LENGTH},
};
use crate::append::raw::Row;

/// What our side brought.
pub(super) struct Ours {
    pub(super) rate: f64,
    /// Microseconds of processor time of the server per round trip.
    pub(super) cpu: f64,
    /// How many cores were busy on average, with server and clients.
    pub(super) busy: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Returns how many round trips of so many callers there are in a second, and what was recorded meanwhile.
pub(super) fn round_trips(callers: usize) -> Result<(Ours, Vec<Row>)> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let data = folder.path().join("data");
    let server = Server::start(&data)?;
    let (ask, relay) = (server.token("asker", "ask")?, server.token("chat", "relay")?);
    let (read, address) = (server.token("ear", "read")?, server.address);
    let clients = load::runtime()?;
    let (told, heard) = mpsc::channel(callers);
    let heard = Arc::new(Mutex::new(heard));
    // Before anybody asks: a question that the feed does not tell of would wait for its answer in vain.
    let feed = clients.block_on(Feed::open(address, read))?;
    clients.spawn(listen(feed, told));
    for _ in 0..callers {
        clients.spawn(answerer(address, relay.clone(), Arc::clone(&heard)));
    }
    let before = server.processor_time()?;
    let ((load, count), clients) = spent(|| load::drive(&clients, callers, |_| asker(address, ask.clone())))?;
    let server_time = server.processor_time()?.saturating_sub(before);
    drop(server);
    let cpu = server_time.as_secs_f64() * 1e6 / f64::from(count);
    let busy = (server_time + clients.cpu).as_secs_f64() / clients.wall.as_secs_f64();
    Ok((Ours { rate: load.rate, cpu, busy, p50: load.p50, p99: load.p99 }, rows(&data)?))
}

/// Asks and waits for the answer, in one request, again and again.
async fn asker(address: SocketAddr, token: String) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(address, Some(token)).await?;
    let (begin, mut delays) = (Instant::now(), Vec::new());
    while begin.elapsed() < LENGTH {
        let sent = Instant::now();
        let ended = connection.call("POST", "/v1/questions?wait=60", QUESTION).await?;
        ensure!(ended["outcome"]["value"] == "dist", "another answer came back");
        delays.push(sent.elapsed());
    }
    Ok(delays)
}

/// Answers whatever is heard of.
async fn answerer(address: SocketAddr, token: String, heard: Arc<Mutex<Receiver<String>>>) -> Result<()> {
    let mut connection = Connection::open(address, Some(token)).await?;
    loop {
        let next = heard.lock().await.recv().await;
        let Some(question) = next else { return Ok(()) };
        let path = format!("/v1/questions/{question}/answer");
        connection.call("POST", &path, r#"{"answer":"dist","by":"ada"}"#).await?;
    }
}

/// Passes on every question that the feed tells of.
async fn listen(mut feed: Feed, told: Sender<String>) -> Result<()> {
    while let Some(question) = feed.question().await? {
        told.send(question).await?;
    }
    Ok(())
}

const QUESTION: &str = r#"{"question":"Where shall the build go?"}"#;

/// The command, serving a folder.
pub(crate) struct Server {
    child: Child,
    data: PathBuf,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts it without quotas that a benchmark would meet, and waits until it answers.
    pub(crate) fn start(data: &Path) -> Result<Self> {
        let quotas = "--max-open-questions 100000 --max-asks-per-hour 10000000 --max-recorded-per-hour 1048576 \
                      --max-token-connections 4096 --max-waits 4096 --max-mcp-sessions 512";
        Self::start_with(data, &quotas.split_whitespace().collect::<Vec<_>>())
    }

    /// Starts it within limits and waits until it answers.
    pub(crate) fn start_with(data: &Path, limits: &[&str]) -> Result<Self> {
        let child = Command::new(command()?)
            .args(["serve", "--port", "0", "--data"])
            .arg(data)
            .args(limits)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the command")?;
        let mut server = Self { child, data: data.to_owned(), address: ([127, 0, 0, 1], 0).into() };
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let status = server.run(&["status", "--json"]);
            if let Ok(status) = status {
                let status: Value = serde_json::from_str(&status)?;
                let port =
                    status["address"].as_str().and_then(|address| address.rsplit(':').next()?.parse().ok());
                server.address.set_port(port.context("the server has no port")?);
                return Ok(server);
            }
            ensure!(Instant::now() < until, "the server does not answer");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns a new token.
    pub(crate) fn token(&self, name: &str, scope: &str) -> Result<String> {
        self.token_with(name, &[scope])
    }

    /// Returns a new token with several scopes.
    pub(crate) fn token_with(&self, name: &str, scopes: &[&str]) -> Result<String> {
        let mut words = vec!["token", "new", name];
        words.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
        match (scopes.contains(&"relay"), scopes.contains(&"ask")) {
            (true, true) => words.push("--for-anyone"),
            (true, false) => words.extend(["--for", "ada"]),
            (false, _) => {}
        }
        Ok(self.run(&words)?.trim().to_owned())
    }

    /// Returns a command that uses the server.
    pub(crate) fn command(&self, words: &[&str]) -> Result<Command> {
        let mut demur = Command::new(command()?);
        demur.args(words).arg("--data").arg(&self.data);
        Ok(demur)
    }

    /// Sends the server a signal, such as `-KILL`.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status()?;
        ensure!(sent.success(), "the server could not be sent {name}");
        Ok(())
    }

    /// Returns the processor time that the server has spent so far.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        load::processor_time(self.child.id())
    }

    /// Returns how much memory the server holds, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no memory is told")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }

    /// Returns how much memory the server ever held, in bytes.
    pub(crate) fn most_memory(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no memory is told")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }

    /// Returns how long a command takes.
    pub(crate) fn delay_of(&self, words: &[&str]) -> Result<Duration> {
        let begun = Instant::now();
        self.run(words)?;
        Ok(begun.elapsed())
    }

    fn run(&self, words: &[&str]) -> Result<String> {
        let ran = self.command(words)?.output()?;
        ensure!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        Ok(String::from_utf8(ran.stdout)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.run(&["stop"]);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command that `cargo xtask bench` has built beside this program.
pub(crate) fn command() -> Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name("demur"))
}

/// Returns what was recorded, for the raw limit to write again.
fn rows(data: &Path) -> Result<Vec<Row>> {
    let store = SqliteStore::open_read_only(data)?;
    let (mut rows, mut head, mut after) = (Vec::new(), None, Cursor::START);
    let mut traces = BTreeMap::new();
    loop {
        let page = store.changes(after, 1024)?;
        let Some((last, _)) = page.last() else { return Ok(rows) };
        after = *last;
        for (_, stored) in &page {
            head = stored.head.clone().or(head);
            let document = &head.as_ref().context("no signed head")?.document;
            let next = i64::try_from(traces.len())?;
            let trace = *traces.entry(Event::parse(&stored.bytes)?.envelope().trace).or_insert(next);
            rows.extend(Row::new(stored, document, trace)?);
        }
    }
}
