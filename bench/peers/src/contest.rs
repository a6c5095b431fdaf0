//! Two sides that take turns, and the table of what came out.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use demur_bench::clock::spent;
use demur_bench::measure::median;

/// How time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Seconds of processor time: what one core does, whatever else runs.
    OneCore,
    /// Seconds by the clock: our side uses all cores, theirs as many as its API does, which is one.
    AllCores,
}

/// What is compared.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    pub(crate) count: Count,
    /// Entries, and so signatures where they are checked, of each side.
    pub(crate) entries: u64,
    /// The size of our file and of theirs.
    pub(crate) bytes: (u64, u64),
    /// How many times their entries per second are to be reached.
    pub(crate) bar: Option<f64>,
    /// Whether the bytes per second are held against the bar too; a signature has no bytes.
    pub(crate) bytes_count: bool,
}

impl Contest {
    /// Runs both sides in turns and writes the row.
    pub(crate) fn run(
        &self,
        out: &mut impl Write,
        ours: impl Fn() -> Result<()>,
        theirs: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let mut passes = Vec::with_capacity(PASSES);
        for _ in 0..PASSES {
            passes.push((self.rate(&ours)?, self.rate(&theirs)?));
        }
        let ours = median(passes.iter().map(|pass| pass.0));
        let theirs = median(passes.iter().map(|pass| pass.1));
        let ratio = median(passes.iter().map(|pass| pass.0 / pass.1));
        let (our_size, their_size) = (self.size(self.bytes.0), self.size(self.bytes.1));
        let byte_ratio = ratio * our_size / their_size;
        let (bar, met) = match self.bar {
            None => ("-".to_owned(), "-".to_owned()),
            Some(least) => {
                let met = |ratio| if ratio >= least { "yes" } else { "no" };
                let by_bytes =
                    if self.bytes_count { format!(", by bytes {}", met(byte_ratio)) } else { String::new() };
                (format!("{least} x"), format!("{}{by_bytes}", met(ratio)))
            }
        };
        let cores = match self.count {
            Count::OneCore => "one, cpu",
            Count::AllCores => "all, clock",
        };
        writeln!(
            out,
            "{:<44} {cores:<10} {ours:>9.0} {theirs:>9.0} {ratio:>6.2} {our_size:>6.0} {their_size:>6.0} {:>7.1} {:>7.1} {:>6.2}  {bar:<5} {met}",
            self.name,
            ours * our_size / 1e6,
            theirs * their_size / 1e6,
            byte_ratio,
        )?;
        Ok(out.flush()?)
    }

    /// Returns the entries per second.
    #[expect(clippy::cast_precision_loss, reason = "a count of entries")]
    fn rate(&self, side: &impl Fn() -> Result<()>) -> Result<f64> {
        let (rounds, spent) = spent(|| {
            let start = Instant::now();
            let mut rounds = 0_u32;
            while rounds == 0 || start.elapsed() < PASS {
                side()?;
                rounds += 1;
            }
            Ok(rounds)
        })?;
        let seconds = match self.count {
            Count::OneCore => spent.cpu,
            Count::AllCores => spent.wall,
        };
        Ok(self.entries as f64 * f64::from(rounds) / seconds.as_secs_f64())
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of bytes")]
    fn size(&self, bytes: u64) -> f64 {
        bytes as f64 / self.entries as f64
    }
}

/// Writes what the columns are.
pub(crate) fn write_heading(out: &mut impl Write) -> Result<()> {
    Ok(writeln!(
        out,
        "{:<44} {:<10} {:>9} {:>9} {:>6} {:>6} {:>6} {:>7} {:>7} {:>6}  {:<5} met",
        "entries per second",
        "cores",
        "ours",
        "theirs",
        "ratio",
        "B ours",
        "B them",
        "MB ours",
        "MB them",
        "ratio",
        "bar"
    )?)
}

/// Long beside the steps in which processor time is counted.
const PASS: Duration = Duration::from_millis(1500);
/// Odd, so that there is a middle one.
const PASSES: usize = 7;
