//! The table of whole files.

use std::io::{self, Write};

use demur_bench::fixture::Written;
use demur_bench::measure::median;

use super::child::Sample;

/// One file under one set of conditions.
pub(super) struct Row {
    pub(super) size: u64,
    pub(super) cores: usize,
    pub(super) hash_only: bool,
    pub(super) passes: Vec<Pass>,
}

/// Neighbours in time.
pub(super) struct Pass {
    pub(super) ours: Sample,
    pub(super) raw: Sample,
}

impl Sample {
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    fn per_second(self) -> f64 {
        self.events as f64 / self.wall
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    fn per_cpu_second(self) -> f64 {
        self.events as f64 / self.cpu
    }
}

impl Row {
    /// Returns how many microseconds of processor time the verifier spends on one event.
    pub(super) fn cpu_per_event(&self) -> f64 {
        1e6 / self.median(|pass| pass.ours.per_cpu_second())
    }

    /// Writes the row.
    pub(super) fn write(&self, written: Written, out: &mut impl Write) -> io::Result<()> {
        let rate = self.median(|pass| pass.ours.per_second());
        let ratio = self.median(|pass| pass.ours.per_second() / pass.raw.per_second());
        let cpu_ratio = self.median(|pass| pass.ours.per_cpu_second() / pass.raw.per_cpu_second());
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let megabytes = written.bytes as f64 / written.events as f64 * rate / 1e6;
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let peak = self.median(|pass| pass.ours.peak as f64 / 1e6);
        writeln!(
            out,
            "{:>9} {:<10} {:>5} {rate:>9.0} {:>9.0} {megabytes:>6.0} {peak:>8.1} {:>9.0} {:>9.0} {:>6.1} {:>6.1}  {}",
            self.size,
            if self.hash_only { "hashes" } else { "all" },
            self.cores,
            self.median(|pass| pass.ours.per_cpu_second()),
            self.median(|pass| pass.raw.per_second()),
            self.median(|pass| pass.raw.per_cpu_second()),
            ratio * 100.0,
            cpu_ratio * 100.0,
            self.bars(cpu_ratio, ratio, peak),
        )
    }

    /// Processor time decides; the clock agrees only on a machine that nobody else uses.
    fn bars(&self, cpu_ratio: f64, clock_ratio: f64, peak: f64) -> String {
        if self.cores == 1 || self.hash_only {
            return "-".to_owned();
        }
        let met = |holds| if holds { "yes" } else { "no" };
        let (cpu, clock) = (met(cpu_ratio >= LEAST_RATIO), met(clock_ratio >= LEAST_RATIO));
        let ratio = format!("80 % cpu: {cpu}, clock: {clock}");
        if self.size < LARGEST {
            return ratio;
        }
        format!("{ratio}, 100 MB: {}", met(peak < MOST_MEGABYTES))
    }

    fn median(&self, value: impl Fn(&Pass) -> f64) -> f64 {
        median(self.passes.iter().map(value))
    }
}

/// Writes what the columns are.
pub(super) fn write_heading(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:>9} {:<10} {:>5} {:>9} {:>9} {:>6} {:>8} {:>9} {:>9} {:>6} {:>6}  bar",
        "events", "checks", "cores", "per s", "per cpu s", "MB/s", "peak MB", "raw", "raw cpu", "%", "% cpu"
    )
}

/// The verifier is to reach this part of the raw limit on all cores.
const LEAST_RATIO: f64 = 0.8;
/// The file that must fit into little memory.
const LARGEST: u64 = 1_000_000;
const MOST_MEGABYTES: f64 = 100.0;
