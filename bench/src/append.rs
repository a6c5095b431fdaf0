//! Durable appends of signed events, beside the raw limit of the same work in the same run.

pub(crate) mod cast;
mod limits;
pub(crate) mod raw;
mod scale;

use std::{
    io::Write,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use demur_bench::{
    clock::spent,
    measure::median,
    table::{Table, met, whole},
};
use demur_core::{key::SecretKey, random::Seeded};
use demur_ledger::name::Sequence;
use demur_sequencer::Sequencer;

use self::{
    cast::{Agents, Caller, OpenRun},
    raw::Row,
};

/// Measures appends by one caller and by many, to one trace and to many.
pub(crate) fn run(full: bool, out: &mut impl Write) -> Result<()> {
    let headings = ["", "per s", "raw", "ratio", "cpu us", "raw", "p50", "p99", "bar", "met"];
    let mut table = Table::new(headings);
    for shape in SHAPES {
        let mut passes = Vec::new();
        for pass in 1..=PASSES {
            eprintln!("append: {}, pass {pass} of {PASSES}", shape.name);
            passes.push(measure(&shape)?);
        }
        table.row(shape.row(&passes));
    }
    table.write(out)?;
    limits::run(out)?;
    scale::run(full, out)
}

/// Returns what one caller waits for one event to be recorded.
pub(crate) fn one_commit() -> Result<Duration> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let (ledger, agents, _) = cast::create(&folder.path().join("data"))?;
    let run = cast::open(&ledger, &agents, 1000)?;
    let (wall, delays) = append(&ledger, &agents, &[run], 1)?;
    Ok(wall / u32::try_from(delays.len())?)
}

/// Who appends to what.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    callers: usize,
    traces: usize,
    bar: Option<f64>,
}

/// One pass.
struct Pass {
    rate: f64,
    raw: f64,
    /// Processor time of one append in microseconds, ours and raw.
    cpu: f64,
    raw_cpu: f64,
    p50: Duration,
    p99: Duration,
}

impl Shape {
    fn row(&self, passes: &[Pass]) -> [String; 10] {
        let ratio = median(passes.iter().map(|pass| pass.rate / pass.raw));
        let middle = |pick: fn(&Pass) -> f64| whole(median(passes.iter().map(pick)));
        let milliseconds = |pick: fn(&Pass) -> Duration| {
            format!("{:.2} ms", median(passes.iter().map(|pass| pick(pass).as_secs_f64() * 1e3)))
        };
        let (bar, reached) = match self.bar {
            Some(least) => (format!("{:.0} %", least * 100.0), met(ratio >= least)),
            None => (String::new(), ""),
        };
        [
            self.name.to_owned(),
            middle(|pass| pass.rate),
            middle(|pass| pass.raw),
            format!("{:.1} %", ratio * 100.0),
            middle(|pass| pass.cpu),
            middle(|pass| pass.raw_cpu),
            milliseconds(|pass| pass.p50),
            milliseconds(|pass| pass.p99),
            bar,
            reached.to_owned(),
        ]
    }
}

fn measure(shape: &Shape) -> Result<Pass> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let (ledger, agents, desk) = cast::create(&folder.path().join("data"))?;
    let runs = (0..shape.traces).map(|number| cast::open(&ledger, &agents, 1000 + number as u64));
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let ((wall, mut delays), spent_by_us) = spent(|| append(&ledger, &agents, &runs, shape.callers))?;
    delays.sort_unstable();
    let at = |share: usize| delays.get(delays.len() * share / 100).copied().unwrap_or_default();
    let count = f64::from(u32::try_from(delays.len())?);
    let rows = rows(&ledger, &runs)?;
    drop(ledger);
    let keys = (SecretKey::generate(&mut Seeded::from_number(77)), desk);
    let (raw_wall, raw) = spent(|| raw_limit(folder.path(), &rows, &keys, shape.callers))?;
    let raw_count = f64::from(u32::try_from(rows.len())?);
    Ok(Pass {
        rate: count / wall.as_secs_f64(),
        raw: raw_count / raw_wall.as_secs_f64(),
        cpu: spent_by_us.cpu.as_secs_f64() * 1e6 / count,
        raw_cpu: raw.cpu.as_secs_f64() * 1e6 / raw_count,
        p50: at(50),
        p99: at(99),
    })
}

fn raw_limit(folder: &Path, rows: &[Row], keys: &(SecretKey, SecretKey), callers: usize) -> Result<Duration> {
    if callers == 1 { raw::one_by_one(folder, rows, keys) } else { raw::grouped(folder, rows, keys, callers) }
}

/// Has all callers append for a while; returns how long it took and how long each acknowledgement took.
fn append(
    ledger: &Sequencer,
    agents: &Agents,
    runs: &[OpenRun],
    callers: usize,
) -> Result<(Duration, Vec<Duration>)> {
    let begin = Instant::now();
    let delays = thread::scope(|scope| {
        let work = |number: usize| -> Result<Vec<Duration>> {
            let run = runs[number % runs.len()];
            let mut caller = Caller::new(ledger, agents, run, 5000 + number as u64)?;
            let mut delays = Vec::new();
            while begin.elapsed() < LENGTH {
                let submission = caller.next()?;
                let sent = Instant::now();
                caller.acknowledged(ledger.submit(submission, None)?.position);
                delays.push(sent.elapsed());
            }
            Ok(delays)
        };
        let threads: Vec<_> = (0..callers).map(|number| scope.spawn(move || work(number))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a caller panicked"))?)
            .collect::<Result<Vec<_>>>()
    })?;
    Ok((begin.elapsed(), delays.into_iter().flatten().collect()))
}

/// Returns what was written, for the raw limit to write again.
fn rows(ledger: &Sequencer, runs: &[OpenRun]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (number, run) in (1..).zip(runs) {
        let mut head = None;
        let mut next = Sequence::FIRST;
        loop {
            let page = ledger.store().events(run.trace, next, 1024)?;
            let Some(count) = (!page.is_empty()).then_some(page.len()) else { break };
            head = head.or_else(|| page.iter().find_map(|stored| stored.head.clone()));
            let document = &head.as_ref().context("no signed head")?.document;
            for stored in &page {
                rows.extend(Row::new(stored, document, number)?);
            }
            next = Sequence::try_from(next.number() + count as u64)?;
        }
    }
    Ok(rows)
}

const SHAPES: [Shape; 3] = [
    Shape { name: "one caller, one trace", callers: 1, traces: 1, bar: Some(0.7) },
    Shape { name: "64 callers, 64 traces", callers: 64, traces: 64, bar: Some(0.5) },
    Shape { name: "64 callers, one trace", callers: 64, traces: 1, bar: None },
];

/// Odd, so that there is a middle one.
const PASSES: usize = 3;

/// How long a pass appends.
const LENGTH: Duration = Duration::from_secs(3);
