//! The table of whole files.

use demur_bench::measure::median;
use demur_bench::table::{Table, grouped, whole};

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

    /// Returns the row.
    pub(super) fn cells(&self) -> [String; 11] {
        let ratio = self.median(|pass| pass.ours.per_second() / pass.raw.per_second());
        let cpu_ratio = self.median(|pass| pass.ours.per_cpu_second() / pass.raw.per_cpu_second());
        #[expect(clippy::cast_precision_loss, reason = "for people to read")]
        let peak = self.median(|pass| pass.ours.peak as f64 / 1e6);
        [
            grouped(&self.size.to_string()),
            if self.hash_only { "hashes" } else { "all" }.to_owned(),
            self.cores.to_string(),
            whole(self.median(|pass| pass.ours.per_second())),
            whole(self.median(|pass| pass.ours.per_cpu_second())),
            format!("{peak:.1}"),
            whole(self.median(|pass| pass.raw.per_second())),
            whole(self.median(|pass| pass.raw.per_cpu_second())),
            format!("{:.1} %", ratio * 100.0),
            format!("{:.1} %", cpu_ratio * 100.0),
            self.bars(cpu_ratio, ratio, peak),
        ]
    }

    /// Processor time decides; the clock agrees only on a machine that nobody else uses.
    fn bars(&self, cpu_ratio: f64, clock_ratio: f64, peak: f64) -> String {
        if self.cores == 1 || self.hash_only {
            return String::new();
        }
        let ratio = match (cpu_ratio >= LEAST_RATIO, clock_ratio >= LEAST_RATIO) {
            (true, true) => "yes",
            (true, false) => "by processor time; **no** by the clock",
            (false, _) => "**no**",
        };
        if self.size < LARGEST {
            return ratio.to_owned();
        }
        let memory = if peak < MOST_MEGABYTES { "and below 100 MB" } else { "**not** below 100 MB" };
        format!("{ratio}, {memory}")
    }

    fn median(&self, value: impl Fn(&Pass) -> f64) -> f64 {
        median(self.passes.iter().map(value))
    }
}

/// Returns the table without rows.
pub(super) fn new() -> Table {
    let [events, checks, cores, rate, per_cpu] = ["events", "checks", "cores", "per s", "per cpu s"];
    let [peak, raw, raw_cpu, clock, cpu, bar] =
        ["peak MB", "raw per s", "raw per cpu s", "clock", "cpu", "bar met"];
    Table::new([events, checks, cores, rate, per_cpu, peak, raw, raw_cpu, clock, cpu, bar])
}

/// The verifier is to reach this part of the raw limit on all cores.
const LEAST_RATIO: f64 = 0.8;
/// The file that must fit into little memory.
const LARGEST: u64 = 1_000_000;
const MOST_MEGABYTES: f64 = 100.0;
