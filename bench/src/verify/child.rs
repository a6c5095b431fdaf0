//! One measurement in a process of its own.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use demur_bench::clock::{peak_memory, spent};
use demur_ledger::verify::{Options, Verdict, verify};
use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::raw;
use crate::arguments::{Job, Work};

/// What a process did and what it took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Sample {
    /// Events checked, over all rounds.
    pub(super) events: u64,
    /// Seconds by the clock on the wall.
    pub(super) wall: f64,
    /// Seconds of all processors together.
    pub(super) cpu: f64,
    /// The most memory held at once, in bytes.
    pub(super) peak: u64,
}

/// Does the work over and over and writes what it took, as one line of JSON.
pub(crate) fn measure(job: &Job, out: &mut impl Write) -> Result<()> {
    let sample = match job.work {
        Work::Verify => repeat(job.seconds, || check_file(&job.file, job.threads, !job.hash_only))?,
        Work::Raw => {
            let lines = Lines::load(&job.file, IN_MEMORY)?;
            repeat(job.seconds, || raw::check(&lines, job.threads, !job.hash_only))?
        }
    };
    serde_json::to_writer(&mut *out, &sample)?;
    writeln!(out).context("cannot write the result")
}

/// Returns the sample of some work that returns how many events it checked.
fn repeat(seconds: f64, mut work: impl FnMut() -> Result<u64>) -> Result<Sample> {
    let mut sample = Sample { events: 0, wall: 0.0, cpu: 0.0, peak: 0 };
    // Processor time comes in steps: it is read once around all rounds.
    let ((), taken) = spent(|| {
        let start = std::time::Instant::now();
        while sample.events == 0 || start.elapsed().as_secs_f64() < seconds {
            sample.events += work()?;
        }
        Ok(())
    })?;
    sample.wall = taken.wall.as_secs_f64();
    sample.cpu = taken.cpu.as_secs_f64();
    sample.peak = peak_memory()?;
    Ok(sample)
}

/// Returns how many events the verifier found good; anything less than a whole pass is an error.
fn check_file(path: &Path, threads: usize, signatures: bool) -> Result<u64> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let options = Options { threads, signatures, ..Options::default() };
    let report = verify(BufReader::with_capacity(BUFFER, file), &options, &mut |_| {})?;
    let expected = if signatures { Verdict::Pass } else { Verdict::NotEstablished };
    ensure!(report.verdict == expected, "expected {expected:?}, found {:?}", report.verdict);
    Ok(report.scope.events)
}

/// The raw limit does not grow with the file, so this much of it is enough to run on.
const IN_MEMORY: usize = 256 << 20;
const BUFFER: usize = 1 << 18;
