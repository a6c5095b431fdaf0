//! What an append costs in a large store: processor time and bytes written, beside the same appends in an empty one;
//! how long a start takes; how fast pages of events are read.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Instant,
};

use anyhow::{Context as _, Result};
use demur_bench::{
    clock::spent,
    measure::median,
    table::{Table, grouped, met, whole},
};
use demur_core::{
    key::SecretKey,
    random::{Random as _, Seeded},
};
use demur_ledger::name::{Sequence, TraceId};
use demur_sequencer::Sequencer;
use demur_store::sqlite::SqliteStore;

use super::cast::{self, Agents, Caller, Machine, OpenRun};

/// Measures a store with one long trace and one with many traces.
pub(super) fn run(full: bool, out: &mut impl Write) -> Result<()> {
    let (events, traces) = if full { (1_000_000, 100_000) } else { (50_000, 5_000) };
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let empty = Site::create(&folder.path().join("empty"))?;
    let long = Site::create(&folder.path().join("long"))?;
    let wide = Site::create(&folder.path().join("wide"))?;
    eprintln!("append: making a trace of {events} events");
    let runs = long.grow(events)?;
    eprintln!("append: making {traces} traces");
    let many = wide.spread(traces)?;
    let fresh = cast::open(&empty.ledger, &empty.agents, 1)?;
    let few = empty.spread(64)?;

    let mut table = Table::new(["", "cpu us", "pages", "cpu", "pages", "bar 1.5 x"]);
    let base = cost(|| empty.calls(fresh))?;
    table.row(base.row("one trace, empty store", None));
    let words = format!("the same in a trace of {} events", grouped(&events.to_string()));
    table.row(cost(|| long.calls(runs))?.row(&words, Some(&base)));
    let base = cost(|| empty.proposals(&few))?;
    table.row(base.row("64 traces in turns, empty store", None));
    let (newest, traces) = (&many[many.len() - 64..], grouped(&traces.to_string()));
    let words = format!("64 of {traces} traces in turns");
    table.row(cost(|| wide.proposals(newest))?.row(&words, Some(&base)));
    let words = format!("any of {traces} traces, none of them in memory");
    table.row(cost(|| wide.proposals(&shuffled(&many)))?.row(&words, Some(&base)));
    table.write(out)?;
    pages(&long, runs.trace, events, out)?;
    restart(long, runs, out)
}

/// A store with its agents.
struct Site {
    path: PathBuf,
    ledger: Sequencer,
    agents: Agents,
    desk: SecretKey,
}

impl Site {
    fn create(path: &Path) -> Result<Self> {
        let (ledger, agents, desk) = cast::create(path)?;
        Ok(Self { path: path.to_owned(), ledger, agents, desk })
    }

    /// Makes tool calls in one run until it has this many events.
    fn grow(&self, events: u64) -> Result<OpenRun> {
        let run = cast::open(&self.ledger, &self.agents, 1)?;
        thread::scope(|scope| {
            let work = |number: u64| -> Result<()> {
                let mut caller = Caller::new(&self.ledger, &self.agents, run, 100 + number)?;
                for _ in 0..events.div_ceil(3 * CALLERS) * 3 {
                    let submission = caller.next()?;
                    caller.acknowledged(self.ledger.submit(submission, None)?.position);
                }
                Ok(())
            };
            join((0..CALLERS).map(|number| scope.spawn(move || work(number))).collect())
        })?;
        Ok(run)
    }

    /// Opens this many runs.
    fn spread(&self, traces: u64) -> Result<Vec<TraceId>> {
        let opened = thread::scope(|scope| {
            let work = |number: u64| -> Result<Vec<TraceId>> {
                (0..traces.div_ceil(CALLERS))
                    .map(|one| cast::begin(&self.ledger, &self.agents, (number << 32) + one))
                    .collect()
            };
            join((0..CALLERS).map(|number| scope.spawn(move || work(number))).collect())
        })?;
        let mut traces: Vec<_> = opened.into_iter().flatten().collect();
        traces.sort_unstable();
        Ok(traces)
    }

    /// Makes tool calls in a run, one after the other.
    fn calls(&self, run: OpenRun) -> Result<()> {
        let mut caller = Caller::new(&self.ledger, &self.agents, run, 7)?;
        for _ in 0..APPENDS {
            let submission = caller.next()?;
            caller.acknowledged(self.ledger.submit(submission, None)?.position);
        }
        Ok(())
    }

    /// Makes a proposal in one run after the other.
    fn proposals(&self, traces: &[TraceId]) -> Result<()> {
        traces
            .iter()
            .cycle()
            .zip(0..APPENDS)
            .try_for_each(|(trace, number)| cast::propose(&self.ledger, &self.agents, *trace, number.into()))
    }
}

/// What one append cost.
struct Cost {
    cpu: f64,
    pages: f64,
}

impl Cost {
    fn row(&self, name: &str, base: Option<&Self>) -> [String; 6] {
        let (cpu, pages) = (format!("{:.0}", self.cpu), format!("{:.2}", self.pages));
        let Some(base) = base else {
            return [name.to_owned(), cpu, pages, String::new(), String::new(), String::new()];
        };
        let times = [self.cpu / base.cpu, self.pages / base.pages];
        let reached = met(times.iter().all(|times| *times <= 1.5)).to_owned();
        let [cpu_times, pages_times] = times.map(|times| format!("{times:.2} x"));
        [name.to_owned(), cpu, pages, cpu_times, pages_times, reached]
    }
}

/// Returns the median cost of some passes of appends.
fn cost(mut work: impl FnMut() -> Result<()>) -> Result<Cost> {
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        let before = written()?;
        let ((), time) = spent(&mut work)?;
        let pages = u32::try_from((written()? - before) / 4096).context("too much was written")?;
        passes.push((time.cpu.as_secs_f64() * 1e6, f64::from(pages)));
    }
    let each = |value: f64| value / f64::from(APPENDS);
    Ok(Cost {
        cpu: each(median(passes.iter().map(|pass| pass.0))),
        pages: each(median(passes.iter().map(|pass| pass.1))),
    })
}

/// Returns how many bytes this process has given to the system to write.
fn written() -> Result<u64> {
    let io = fs::read_to_string("/proc/self/io").context("cannot read /proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).context("no line wchar")?;
    line.parse().context("wchar is no number")
}

fn pages(site: &Site, trace: TraceId, events: u64, out: &mut impl Write) -> Result<()> {
    let mut table = Table::new(["pages of 100 events", "per s"]);
    for upto in [10_000, events] {
        let mut dice = Seeded::from_number(upto);
        let begin = Instant::now();
        for _ in 0..READS {
            let mut bytes = [0; 8];
            dice.fill(&mut bytes);
            let from = Sequence::try_from(u64::from_le_bytes(bytes) % (upto - 100))?;
            let page = site.ledger.store().events(trace, from, 100)?;
            anyhow::ensure!(page.len() == 100, "a page was short");
        }
        let rate = f64::from(READS) / begin.elapsed().as_secs_f64();
        table.row([format!("anywhere in the first {} events", grouped(&upto.to_string())), whole(rate)]);
    }
    table.write(out)?;
    Ok(())
}

/// Measures from opening the folder to the first acknowledged append in the long trace.
fn restart(site: Site, run: OpenRun, out: &mut impl Write) -> Result<()> {
    let Site { path, ledger, agents, desk } = site;
    let newest = ledger.store().trace(run.trace)?.context("the trace is gone")?.head;
    drop(ledger.close()?);
    let mut opened = Vec::new();
    for pass in 0..PASSES {
        let begin = Instant::now();
        let store = SqliteStore::open(&path)?;
        let key = desk.clone();
        let ledger = Sequencer::open(Arc::new(store), move |_| Some(key.clone()), Box::new(Machine::new(3)))?;
        let mut caller = Caller::new(&ledger, &agents, run, 9 + pass)?;
        ledger.submit(caller.next()?, None)?;
        opened.push(begin.elapsed().as_secs_f64() * 1e3);
        drop(ledger.close()?);
    }
    let milliseconds = median(opened.into_iter());
    let mut table = Table::new(["", "", "bar 1 s"]);
    let events = grouped(&(newest.sequence.number() + 1).to_string());
    let words = format!("from opening the folder to the first append in a trace of {events} events");
    table.row([words, format!("{milliseconds:.0} ms"), met(milliseconds < 1000.0).to_owned()]);
    table.write(out)?;
    Ok(())
}

fn join<T>(threads: Vec<thread::ScopedJoinHandle<'_, Result<T>>>) -> Result<Vec<T>> {
    threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a caller panicked"))?)
        .collect()
}

/// Returns the traces in an order without pattern.
fn shuffled(traces: &[TraceId]) -> Vec<TraceId> {
    let mut dice = Seeded::from_number(4);
    let mut keyed: Vec<([u8; 8], TraceId)> = traces
        .iter()
        .map(|trace| {
            let mut key = [0; 8];
            dice.fill(&mut key);
            (key, *trace)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, trace)| trace).collect()
}

const CALLERS: u64 = 64;
/// How many appends a pass makes.
const APPENDS: u32 = 1500;
const PASSES: u64 = 3;
const READS: u32 = 2000;
