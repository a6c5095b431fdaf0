//! Whole exports: the verifier beside the raw limit of its own stages, with and without signatures, on one core
//! and on all. Every figure comes from a process of its own, so that its memory and its processor time are its
//! own too.

mod child;
mod lines;
mod raw;
mod stage;
mod table;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use demur_bench::fixture::Plan;

use self::child::Sample;
pub(crate) use self::child::measure;
use self::table::{Pass, Row};
use crate::arguments::Work;
use crate::write_fixture;

/// Measures exports of a thousand to a hundred thousand events, or of a million.
pub(crate) fn run(full: bool, out: &mut impl Write) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for the fixtures")?;
    let cores = thread::available_parallelism().context("cannot count the cores")?.get();
    let sizes = if full { &SIZES[..] } else { &SIZES[..SIZES.len() - 1] };
    let (mut table, mut stages) = (table::new(), None);
    for size in sizes {
        let path = folder.path().join(format!("{size}.jsonl"));
        eprintln!("verify: making {size} events");
        write_fixture::write(&Plan::usual(*size), &path)?;
        let rows = rows(&path, *size, cores)?;
        for row in &rows {
            table.row(row.cells());
        }
        if *size == STAGES_AT {
            let total = rows.iter().find(|row| row.cores == 1 && !row.hash_only).map(Row::cpu_per_event);
            stages = Some(stage::table(&path, cores, total)?);
        }
        fs::remove_file(&path).context("cannot remove the fixture")?;
    }
    table.write(out)?;
    if let Some(stages) = stages {
        stages.write(out)?;
    }
    Ok(())
}

/// Returns the rows of one file. Verifier and raw limit take turns.
fn rows(path: &Path, size: u64, cores: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (cores, hash_only) in [(cores, false), (cores, true), (1, false), (1, true)] {
        rows.push(Row { size, cores, hash_only, passes: Vec::new() });
    }
    let passes = if size >= LONG { LONG_PASSES } else { PASSES };
    for pass in 1..=passes {
        eprintln!("verify: {size} events, pass {pass} of {passes}");
        for row in &mut rows {
            let measure = |work, seconds| child(path, work, seconds, row);
            let ours = measure(Work::Verify, SECONDS)?;
            // As long as its neighbour, so that both meet the same bustle on the machine.
            row.passes.push(Pass { ours, raw: measure(Work::Raw, ours.wall.max(SECONDS))? });
        }
    }
    Ok(rows)
}

/// Returns what a child process measured; one thread means that it has to stay on one core with all it does.
fn child(path: &Path, work: Work, seconds: f64, row: &Row) -> Result<Sample> {
    let own: PathBuf = std::env::current_exe().context("cannot find this program")?;
    let mut command = if row.cores == 1 {
        let mut pinned = Command::new("taskset");
        pinned.args(["-c", &first_core()?]).arg(own);
        pinned
    } else {
        Command::new(own)
    };
    command.arg("measure").arg(work.name()).arg(path);
    command.args(["--threads", &row.cores.to_string(), "--seconds", &seconds.to_string()]);
    if row.hash_only {
        command.arg("--hash-only");
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot run taskset or this program")?;
    ensure!(output.status.success(), "a measuring process ended with {}", output.status);
    serde_json::from_slice(&output.stdout).context("a measuring process printed something unexpected")
}

/// Returns the number of the first core that this process may use.
fn first_core() -> Result<String> {
    let status = fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = list.and_then(|list| list.trim().split([',', '-']).next());
    Ok(first.context("no line Cpus_allowed_list")?.to_owned())
}

/// How many events the files have; the last one only when asked for.
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// The file whose stages are measured one by one.
const STAGES_AT: u64 = 100_000;
/// Odd, so that there is a middle one.
const PASSES: usize = 7;
/// From this size on one pass takes long.
const LONG: u64 = 1_000_000;
const LONG_PASSES: usize = 3;
/// How long a process repeats its work at least.
const SECONDS: f64 = 1.0;
