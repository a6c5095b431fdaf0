//! One token attacks, another one asks meanwhile: thirty thousand questions, six hundred bodies that never end, 4,500 connections
//! that say nothing. How long the other's requests take, and what the server holds in memory.

use std::{
    io::{Read as _, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use demur_bench::table::{Table, met, whole};

use crate::ask::ours::Server;

/// Measures how others are served while one token attacks.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    eprintln!("tenancy: {QUESTIONS} questions, {BODIES} unfinished bodies, {SILENT} silent connections");
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let limits = ["--max-open-questions", "100000", "--max-asks-per-hour", "10000000"];
    let server = Server::start_with(&folder.path().join("data"), &limits)?;
    let other = Client { address: server.address, token: server.token("other", "ask")? };
    let attacker = Client { address: server.address, token: server.token("attacker", "ask")? };
    let alone = other.delays(ROUNDS)?;
    let flooding = Flood::begin(&attacker);
    let among_questions = other.delays(ROUNDS)?;
    let asked = flooding.end()?;
    let listed = server.delay_of(&["inbox", "--list", "--json"])?;
    let bodies: Vec<_> = (0..BODIES).map(|_| attacker.unfinished()).collect::<Result<_>>()?;
    let among_bodies = other.delays(ROUNDS)?;
    let memory = server.most_memory()?;
    drop(bodies);
    let silence = Silence::begin(server.address);
    let among_silent = other.delays(ROUNDS)?;
    silence.end();
    let rows = [
        ("nothing else goes on", &alone),
        ("while one token asks as fast as it can", &among_questions),
        ("while 600 bodies are unfinished", &among_bodies),
        ("while 4,500 connections come and say nothing", &among_silent),
    ];
    let mut table =
        Table::new(["requests of another token, each on a connection of its own", "p50", "p99", "slowest"]);
    for (name, delays) in rows {
        let [p50, p99, slowest] = [50, 99, 100].map(|share| at(delays, share));
        table.row([name.to_owned(), millis(p50), millis(p99), millis(slowest)]);
    }
    table.write(out)?;
    let mut table = Table::new(["the server", "", "bar", "met"]);
    let mut row = |name: &str, figure: String, bar: &str, is_met: &str| {
        table.row([name.to_owned(), figure, bar.to_owned(), is_met.to_owned()]);
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of questions")]
    let count = whole(asked as f64);
    row("questions of the attacker", count, "30,000", met(asked >= QUESTIONS));
    row("the whole inbox after that, as a list", millis(listed.as_secs_f64() * 1e3), "", "");
    #[expect(clippy::cast_precision_loss, reason = "a size of memory, rounded")]
    let mebibytes = memory as f64 / f64::from(1 << 20);
    row(
        "most memory, up to and with the bodies",
        format!("{mebibytes:.0} MiB"),
        "300 MiB",
        met(mebibytes < 300.0),
    );
    table.write(out)?;
    Ok(())
}

fn at(sorted: &[f64], share: usize) -> f64 {
    sorted.get((sorted.len() * share / 100).min(sorted.len() - 1)).copied().unwrap_or(f64::NAN)
}

fn millis(millis: f64) -> String {
    format!("{millis:.1} ms")
}

/// Somebody with a token.
#[derive(Clone)]
struct Client {
    address: SocketAddr,
    token: String,
}

impl Client {
    fn head(&self, length: usize, last: bool) -> String {
        let close = if last { "Connection: close\r\n" } else { "" };
        format!(
            "POST /v1/questions HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\n{close}Content-Length: {length}\r\n\r\n",
            self.address.port(),
            self.token
        )
    }

    fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(Duration::from_millis(300)))?;
        Ok(stream)
    }

    /// Asks so often, each time on a connection of its own; returns how long each took in milliseconds, the quickest first.
    fn delays(&self, count: usize) -> Result<Vec<f64>> {
        let mut delays = Vec::with_capacity(count);
        for _ in 0..count {
            let begun = Instant::now();
            let mut stream = self.connect()?;
            stream.write_all(format!("{}{QUESTION}", self.head(QUESTION.len(), true)).as_bytes())?;
            let mut reply = String::new();
            stream.read_to_string(&mut reply)?;
            ensure!(reply.starts_with("HTTP/1.1 201"), "the other is not served: {reply}");
            delays.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        delays.sort_unstable_by(f64::total_cmp);
        Ok(delays)
    }

    /// Sends most of a body, and no more.
    fn unfinished(&self) -> Result<TcpStream> {
        let mut stream = self.connect()?;
        stream.write_all(self.head(1 << 20, false).as_bytes())?;
        // Whoever is refused may find nobody who reads on.
        let _ = stream.write_all(&vec![b'x'; 1_000_000]);
        Ok(stream)
    }
}

/// A token that asks as fast as it can.
struct Flood {
    asked: Arc<AtomicUsize>,
    askers: Vec<thread::JoinHandle<Result<()>>>,
}

impl Flood {
    fn begin(attacker: &Client) -> Self {
        let asked = Arc::<AtomicUsize>::default();
        let asking = |_| {
            let (attacker, asked) = (attacker.clone(), Arc::clone(&asked));
            thread::spawn(move || {
                let mut stream = attacker.connect()?;
                let request = format!("{}{QUESTION}", attacker.head(QUESTION.len(), false));
                let mut reply = [0; 8192];
                while asked.fetch_add(1, Ordering::Relaxed) < QUESTIONS {
                    stream.write_all(request.as_bytes())?;
                    let length = stream.read(&mut reply)?;
                    ensure!(reply[..length].starts_with(b"HTTP/1.1 201"), "a question was refused");
                }
                Ok(())
            })
        };
        let askers = (0..ASKERS).map(asking).collect();
        Self { asked, askers }
    }

    /// Waits until everything is asked; returns how much that is.
    fn end(self) -> Result<usize> {
        for asker in self.askers {
            asker.join().map_err(|_| anyhow::anyhow!("an asker panicked"))??;
        }
        Ok(self.asked.load(Ordering::Relaxed).min(QUESTIONS))
    }
}

/// Connections that say nothing; those that are ended come again.
struct Silence {
    over: Arc<AtomicBool>,
    attackers: Vec<thread::JoinHandle<()>>,
}

impl Silence {
    fn begin(address: SocketAddr) -> Self {
        let over = Arc::<AtomicBool>::default();
        let attack = |_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                let mut silent = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    if silent.len() < SILENT / ATTACKERS
                        && let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1))
                        && stream.set_nonblocking(true).is_ok()
                    {
                        silent.push(stream);
                        continue;
                    }
                    // Nothing to read yet means that it is still there.
                    silent.retain(|mut stream| {
                        stream
                            .read(&mut [0; 1])
                            .is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
                    });
                    thread::sleep(Duration::from_millis(20));
                }
            })
        };
        let attackers = (0..ATTACKERS).map(attack).collect();
        thread::sleep(Duration::from_secs(2));
        Self { over, attackers }
    }

    fn end(self) {
        self.over.store(true, Ordering::Relaxed);
        for attacker in self.attackers {
            let _ = attacker.join();
        }
    }
}

const QUESTION: &str = r#"{"question":"Where shall the build go?"}"#;
const QUESTIONS: usize = 30_000;
const BODIES: usize = 600;
const SILENT: usize = 4500;
/// How many connections the attacker asks on.
const ASKERS: usize = 8;
const ATTACKERS: usize = 3;
/// How often the other asks in each situation.
const ROUNDS: usize = 500;
/// How long a reply may take.
const PATIENCE: Duration = Duration::from_mins(1);
