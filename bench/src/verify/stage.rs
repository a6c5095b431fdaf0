//! Where the time goes: each stage of the verifier alone, through the public parts of the ledger crate. What
//! cannot be called from outside (standing of keys, trail, findings, threads) is the rest.

use std::fs::File;
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use demur_bench::clock::spent_by_thread;
use demur_bench::measure::median;
use demur_bench::table::Table;
use demur_core::commitment::Commitment;
use demur_core::hash::{Hasher, Purpose, sha256};
use demur_core::key::Batch;
use demur_ledger::envelope::Event;
use demur_ledger::event_type::Content;
use demur_ledger::export::ArtifactLine;
use demur_ledger::export::cut::{self, CutEvent};
use demur_ledger::meaning::Known;
use demur_ledger::proof::Proof;
use demur_ledger::state::State;

use super::lines::{Lines, lines_of};

/// Returns the table of stages; `total` is what the whole verifier takes, in microseconds of one core.
pub(super) fn table(path: &Path, cores: usize, total: Option<f64>) -> Result<Table> {
    let lines = Lines::load(path, SAMPLE)?;
    let sample = Sample::new(&lines)?;
    let mut table = Table::new(["stage, us of processor time per event", "one core", "all cores busy"]);
    let mut row =
        |name: &str, one: f64, all: &str| table.row([name.to_owned(), format!("{one:.2}"), all.to_owned()]);
    let mut sum = 0.0;
    let read = |_: &Sample<'_>| read_and_digest(path);
    for Stage { name, place, work } in stages(&read) {
        let one = per_event(&sample, 1, work)?;
        let all = match place {
            Place::InOrder => "in order".to_owned(),
            Place::OnAllCores => format!("{:.2}", per_event(&sample, cores, work)?),
        };
        row(name, one, &all);
        sum += one;
    }
    row("sum", sum, "");
    if let Some(total) = total {
        row("verifier", total, "");
        row("rest: keys, trail, findings, threads", total - sum, "");
    }
    Ok(table)
}

/// One stage.
struct Stage<'a> {
    name: &'static str,
    place: Place,
    work: Work<'a>,
}

/// Where the verifier does it.
#[derive(Clone, Copy)]
enum Place {
    /// On one thread, from the first line to the last.
    InOrder,
    OnAllCores,
}

type Work<'a> = &'a (dyn Fn(&Sample<'_>) -> Result<()> + Sync);

fn stages(read: Work<'_>) -> [Stage<'_>; 7] {
    let stage = |name, place, work| Stage { name, place, work };
    [
        stage("read lines, digest of the file", Place::InOrder, read),
        stage("cut of the lines: form and fields", Place::OnAllCores, &cut_lines),
        stage("hashes of the events", Place::OnAllCores, &hash_events),
        stage("commitments", Place::OnAllCores, &commit),
        stage("parse of the contents", Place::OnAllCores, &parse_contents),
        stage("signatures, in batches", Place::OnAllCores, &check_signatures),
        stage("walk: state machine", Place::InOrder, &fold),
    ]
}

/// The same lines at every step of their way, so that each stage can start from its own input.
struct Sample<'a> {
    lines: &'a Lines,
    chunks: Vec<Chunk<'a>>,
    events: f64,
}

struct Chunk<'a> {
    cut: Vec<CutEvent<'a>>,
    artifacts: Vec<ArtifactLine<'a>>,
    events: Vec<Event>,
}

impl<'a> Sample<'a> {
    fn new(lines: &'a Lines) -> Result<Self> {
        let chunks = lines.chunks.iter().map(|chunk| Chunk::new(chunk)).collect::<Result<_>>()?;
        #[expect(clippy::cast_precision_loss, reason = "a count of events")]
        let events = lines.events as f64;
        Ok(Self { lines, chunks, events })
    }
}

impl<'a> Chunk<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut chunk = Self { cut: Vec::new(), artifacts: Vec::new(), events: Vec::new() };
        for line in lines_of(bytes) {
            if let Some(cut) = cut::event_line(line) {
                chunk.events.push(Event::parse(cut.bytes)?);
                chunk.cut.push(cut);
            }
            chunk.artifacts.extend(cut::artifact_line(line));
        }
        Ok(chunk)
    }
}

/// Returns the microseconds of processor time per event when all threads do the stage at once.
fn per_event(sample: &Sample<'_>, threads: usize, work: Work<'_>) -> Result<f64> {
    let work = || spent_by_thread(|| work(sample)).and_then(|(done, spent)| done.map(|()| spent));
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        let spent = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |worker: ScopedJoinHandle<'_, Result<Duration>>| {
                worker.join().map_err(|_| anyhow!("a thread panicked"))?
            };
            workers.into_iter().map(join).sum::<Result<Duration>>()
        })?;
        #[expect(clippy::cast_precision_loss, reason = "a count of threads")]
        passes.push(spent.as_secs_f64() * 1e6 / (sample.events * threads as f64));
    }
    Ok(median(passes.into_iter()))
}

fn read_and_digest(path: &Path) -> Result<()> {
    let mut file = File::open(path).context("cannot open the fixture")?.take(SAMPLE as u64);
    let mut hasher = Hasher::new(Purpose::Export);
    let mut chunk = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut chunk)?;
        if length == 0 {
            break;
        }
        black_box(memchr::memchr_iter(b'\n', &chunk[..length]).count());
        hasher.update(&chunk[..length]);
    }
    black_box(hasher.finish());
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a stage like the others")]
fn cut_lines(sample: &Sample<'_>) -> Result<()> {
    for line in sample.lines.chunks.iter().flat_map(|chunk| lines_of(chunk)) {
        if black_box(cut::event_line(line)).is_none() {
            black_box(cut::artifact_line(line));
        }
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a stage like the others")]
fn hash_events(sample: &Sample<'_>) -> Result<()> {
    for event in sample.chunks.iter().flat_map(|chunk| &chunk.cut) {
        black_box(event.hash());
    }
    Ok(())
}

fn commit(sample: &Sample<'_>) -> Result<()> {
    for event in sample.chunks.iter().flat_map(|chunk| &chunk.cut) {
        if let (Some(salt), Some(content)) = (event.salt, event.content) {
            black_box(Commitment::to_content(&salt, content.as_bytes()));
        }
    }
    for line in sample.chunks.iter().flat_map(|chunk| &chunk.artifacts) {
        if let (Some(salt), Some(bytes)) = (line.salt, line.bytes()?) {
            black_box(Commitment::to_artifact(&salt, &bytes));
            black_box(sha256(&bytes));
        }
    }
    Ok(())
}

fn parse_contents(sample: &Sample<'_>) -> Result<()> {
    for chunk in &sample.chunks {
        for (cut, event) in chunk.cut.iter().zip(&chunk.events) {
            if let (Some(content), Some(kind)) = (cut.content, event.said()?.facts.event_type()) {
                black_box(Content::from_checked(kind, content)?);
            }
        }
    }
    Ok(())
}

fn check_signatures(sample: &Sample<'_>) -> Result<()> {
    for chunk in &sample.chunks {
        let mut batch = Batch::with_capacity(1024);
        for event in &chunk.events {
            if let (Proof::Ed25519(proof), Some(statement)) =
                (&event.envelope().proof, event.statement_bytes())
                && let Some(key) = sample.lines.keys.get(&proof.key)
            {
                batch.push_within(event.hash(), key, Purpose::Statement, statement, &proof.signature);
            }
        }
        batch.verify().map_err(|bad| anyhow!("{} signatures do not hold", bad.len()))?;
    }
    Ok(())
}

fn fold(sample: &Sample<'_>) -> Result<()> {
    let mut state = State::new();
    for event in sample.chunks.iter().flat_map(|chunk| &chunk.events) {
        state.follow(event, Known::NOTHING)?;
    }
    black_box(state);
    Ok(())
}

/// How much of the file the stages run on, in bytes.
const SAMPLE: usize = 16 << 20;
/// Odd, so that there is a middle one.
const PASSES: usize = 9;
