//! Many people with an open page: how long after somebody has answered all of them have been told, and what each costs
//! the server in memory.

use std::{
    io::Write,
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use demur_bench::table::{Table, met, whole};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc,
    time,
};

use crate::ask::{
    load::{self, Connection},
    ours::Server,
};

/// Measures how news reaches open pages.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    eprintln!("viewers: {VIEWERS} open pages, {ROUNDS} answers");
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let server = Server::start(&folder.path().join("data"))?;
    let tokens = Tokens {
        ask: server.token("asker", "ask")?,
        relay: server.token("chat", "relay")?,
        read: server.token("reader", "read")?,
    };
    let runtime = load::runtime()?;
    let (told, mut telling) = mpsc::unbounded_channel();
    // Before anything is counted, everything that happens once has happened.
    runtime.block_on(answer(server.address, &tokens))?;
    let before = server.memory()?;
    runtime.block_on(look(server.address, &tokens.read, &told))?;
    let idle = server.memory()?;
    let mut delays = Vec::new();
    for _ in 0..ROUNDS {
        let begun = runtime.block_on(answer(server.address, &tokens))?;
        for _ in 0..VIEWERS {
            let at = runtime.block_on(next(&mut telling))?;
            delays.push(at.saturating_duration_since(begun).as_secs_f64() * 1e3);
        }
    }
    let after = server.memory()?;
    delays.sort_unstable_by(f64::total_cmp);
    write(out, &delays, each(before, idle), each(before, after))
}

fn write(out: &mut impl Write, delays: &[f64], idle: f64, busy: f64) -> Result<()> {
    let at = |share: usize| delays.get((delays.len() * share / 100).min(delays.len() - 1)).copied();
    let [p50, p99, slowest] = [50, 99, 100].map(|share| at(share).unwrap_or(f64::NAN));
    let heading = format!("{} open pages, {ROUNDS} answers", whole(f64::from(VIEWERS)));
    let mut table = Table::new([&heading, "", "bar", "met"]);
    let mut row = |name: &str, figure: String, bar: &str, is_met: &str| {
        table.row([name.to_owned(), figure, bar.to_owned(), is_met.to_owned()]);
    };
    row("from the answer's request to the page, middle", format!("{p50:.0} ms"), "", "");
    row("of a hundred the slowest", format!("{p99:.0} ms"), "1,000 ms", met(p99 < 1000.0));
    row("the slowest of all", format!("{slowest:.0} ms"), "", "");
    row("memory of the server per open page", format!("{idle:.1} kB"), "", "");
    row("the same after all answers", format!("{busy:.1} kB"), "50 kB", met(busy < 50.0));
    table.write(out)?;
    Ok(())
}

struct Tokens {
    ask: String,
    relay: String,
    read: String,
}

/// Asks and answers a question; returns when the answer was sent.
async fn answer(address: SocketAddr, tokens: &Tokens) -> Result<Instant> {
    let mut asker = Connection::open(address, Some(tokens.ask.clone())).await?;
    let mut answerer = Connection::open(address, Some(tokens.relay.clone())).await?;
    let question = asker.call("POST", "/v1/questions", r#"{"question":"Where to?"}"#).await?;
    let path =
        format!("/v1/questions/{}/answer", question["id"].as_str().context("a question without an id")?);
    let begun = Instant::now();
    answerer.call("POST", &path, r#"{"answer":"dist","by":"ada"}"#).await?;
    Ok(begun)
}

/// Opens all pages, and waits until each of them has begun.
async fn look(address: SocketAddr, token: &str, told: &mpsc::UnboundedSender<Instant>) -> Result<()> {
    let (begun, mut beginning) = mpsc::unbounded_channel();
    for number in 0..VIEWERS {
        tokio::spawn(view(address, token.to_owned(), begun.clone(), told.clone()));
        // Some at a time: the kernel's queue is not what is measured.
        if number % 64 == 63 {
            for _ in 0..64 {
                next(&mut beginning).await?;
            }
        }
    }
    for _ in 0..VIEWERS % 64 {
        next(&mut beginning).await?;
    }
    Ok(())
}

async fn next(telling: &mut mpsc::UnboundedReceiver<Instant>) -> Result<Instant> {
    time::timeout(PATIENCE, telling.recv()).await.context("somebody was not told")?.context("nobody looks")
}

/// One open page: says when it begins, and whenever it is told what became of a question.
async fn view(
    address: SocketAddr,
    token: String,
    begun: mpsc::UnboundedSender<Instant>,
    told: mpsc::UnboundedSender<Instant>,
) -> Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let port = address.port();
    let request =
        format!("GET /live HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut buffer = [0; 2048];
    loop {
        // Messages are short and come one by one: none is cut in two.
        let length = stream.read(&mut buffer).await?;
        ensure!(length > 0, "the page ended");
        let text = String::from_utf8_lossy(&buffer[..length]);
        if text.contains("event: begin") {
            begun.send(Instant::now())?;
        }
        for _ in text.matches("event: changed") {
            told.send(Instant::now())?;
        }
    }
}

fn each(before: u64, after: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a size of memory, rounded")]
    let grown = after.saturating_sub(before) as f64;
    grown / 1024.0 / f64::from(VIEWERS)
}

const VIEWERS: u32 = 2000;
const ROUNDS: u32 = 30;
const PATIENCE: Duration = Duration::from_secs(20);
