//! Where the time goes: each stage of the verifier alone, through the public parts of the ledger crate. What
//! cannot be called from outside (standing of keys, trail, findings, threads) is the rest.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use demur_bench::clock::spent_by_thread;
use demur_bench::measure::median;
use demur_core::canonical;
use demur_core::commitment::Commitment;
use demur_core::hash::{Hasher, Purpose};
use demur_core::key::Batch;
use demur_core::limit::Limits;
use demur_ledger::envelope::{Event, event_hash};
use demur_ledger::event_type::Content;
use demur_ledger::export::{ArtifactLine, EventLine, Line};
use demur_ledger::proof::Proof;
use demur_ledger::state::State;

use super::lines::{Lines, lines_of};

/// Writes the table of stages; `total` is what the whole verifier takes, in microseconds of one core.
pub(super) fn write(path: &Path, cores: usize, total: Option<f64>, out: &mut impl Write) -> Result<()> {
    let lines = Lines::load(path, SAMPLE)?;
    let sample = Sample::new(&lines)?;
    writeln!(
        out,
        "\n{:<44} {:>10} {:>10}",
        "stage, us of processor time per event", "one core", "all cores"
    )?;
    let mut sum = 0.0;
    let read = |_: &Sample<'_>| read_and_digest(path);
    for Stage { name, place, work } in stages(&read) {
        let one = per_event(&sample, 1, work)?;
        let all = match place {
            Place::InOrder => "-".to_owned(),
            Place::OnAllCores | Place::Within => format!("{:.2}", per_event(&sample, cores, work)?),
        };
        writeln!(out, "{name:<44} {one:>10.2} {all:>10}")?;
        sum += if place == Place::Within { 0.0 } else { one };
    }
    writeln!(out, "{:<44} {sum:>10.2}", "sum")?;
    if let Some(total) = total {
        writeln!(out, "{:<44} {total:>10.2}", "verifier on one core")?;
        writeln!(out, "{:<44} {:>10.2}\n", "rest: keys, trail, findings, threads", total - sum)?;
    }
    Ok(())
}

/// One stage.
struct Stage<'a> {
    name: &'static str,
    place: Place,
    work: Work<'a>,
}

/// Where the verifier does it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On one thread, from the first line to the last.
    InOrder,
    OnAllCores,
    /// As part of the stage above it.
    Within,
}

type Work<'a> = &'a (dyn Fn(&Sample<'_>) -> Result<()> + Sync);

fn stages(read: Work<'_>) -> [Stage<'_>; 9] {
    let stage = |name, place, work| Stage { name, place, work };
    [
        stage("read lines, digest of the file", Place::InOrder, read),
        stage("canonical form of the lines", Place::OnAllCores, &check_form),
        stage("parse of the lines", Place::OnAllCores, &parse_lines),
        stage("parse of the events, with their hash", Place::OnAllCores, &parse_events),
        stage("  of this the hash", Place::Within, &hash_events),
        stage("commitments", Place::OnAllCores, &commit),
        stage("parse of the contents, form checked again", Place::OnAllCores, &parse_contents),
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
    texts: Vec<&'a str>,
    event_lines: Vec<EventLine<'a>>,
    artifact_lines: Vec<ArtifactLine<'a>>,
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
        let mut chunk = Self {
            texts: Vec::new(),
            event_lines: Vec::new(),
            artifact_lines: Vec::new(),
            events: Vec::new(),
        };
        for line in lines_of(bytes) {
            let text = canonical::check(line, &Limits::LINE)?;
            chunk.texts.push(text);
            match canonical::from_checked(text)? {
                Line::Event(line) => {
                    chunk.events.push(line.event()?);
                    chunk.event_lines.push(line);
                }
                Line::Artifact(line) => chunk.artifact_lines.push(line),
                _ => {}
            }
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
    let file = File::open(path).context("cannot open the fixture")?;
    let mut reader = BufReader::with_capacity(1 << 18, file.take(SAMPLE as u64));
    let mut hasher = Hasher::new(Purpose::Export);
    let mut chunk = Vec::with_capacity(2 << 20);
    loop {
        let start = chunk.len();
        if reader.read_until(b'\n', &mut chunk)? == 0 {
            break;
        }
        hasher.update(&chunk[start..]);
        if chunk.len() >= 1 << 20 {
            chunk.clear();
        }
    }
    black_box(hasher.finish());
    Ok(())
}

fn check_form(sample: &Sample<'_>) -> Result<()> {
    for line in sample.lines.chunks.iter().flat_map(|chunk| lines_of(chunk)) {
        black_box(canonical::check(line, &Limits::LINE)?);
    }
    Ok(())
}

fn parse_lines(sample: &Sample<'_>) -> Result<()> {
    for text in sample.chunks.iter().flat_map(|chunk| &chunk.texts) {
        black_box(canonical::from_checked::<Line<'_>>(text)?);
    }
    Ok(())
}

fn parse_events(sample: &Sample<'_>) -> Result<()> {
    for line in sample.chunks.iter().flat_map(|chunk| &chunk.event_lines) {
        black_box(line.event()?);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "a stage like the others")]
fn hash_events(sample: &Sample<'_>) -> Result<()> {
    for event in sample.chunks.iter().flat_map(|chunk| &chunk.events) {
        black_box(event_hash(event.bytes()));
    }
    Ok(())
}

fn commit(sample: &Sample<'_>) -> Result<()> {
    for line in sample.chunks.iter().flat_map(|chunk| &chunk.event_lines) {
        if let (Some(salt), Some(content)) = (line.salt, line.content()?) {
            black_box(Commitment::to_content(&salt, content));
        }
    }
    for line in sample.chunks.iter().flat_map(|chunk| &chunk.artifact_lines) {
        if let (Some(salt), Some(bytes)) = (line.salt, line.bytes()?) {
            black_box(Commitment::to_artifact(&salt, &bytes));
        }
    }
    Ok(())
}

fn parse_contents(sample: &Sample<'_>) -> Result<()> {
    for chunk in &sample.chunks {
        for (line, event) in chunk.event_lines.iter().zip(&chunk.events) {
            if let (Some(content), Some(kind)) = (line.content()?, event.said()?.facts.event_type()) {
                black_box(Content::parse(kind, content)?);
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
                batch.push(key, Purpose::Statement, statement, &proof.signature);
            }
        }
        batch.verify().map_err(|bad| anyhow!("{} signatures do not hold", bad.len()))?;
    }
    Ok(())
}

fn fold(sample: &Sample<'_>) -> Result<()> {
    let mut state = State::new();
    for event in sample.chunks.iter().flat_map(|chunk| &chunk.events) {
        state.apply(event)?;
    }
    black_box(state);
    Ok(())
}

/// How much of the file the stages run on, in bytes.
const SAMPLE: usize = 16 << 20;
/// Odd, so that there is a middle one.
const PASSES: usize = 9;
