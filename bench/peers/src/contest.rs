//! Two sides that take turns, and the table of what came out.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use demur_bench::clock::spent;
use demur_bench::measure::median;

/// What is compared.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    /// Entries, and so signatures where they are checked, of each side.
    pub(crate) entries: u64,
    /// The size of our file and of theirs.
    pub(crate) bytes: (u64, u64),
    /// How many times their entries per second are to be reached.
    pub(crate) bar: Option<f64>,
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
        let (bar, met) = match self.bar {
            None => ("-".to_owned(), "-"),
            Some(least) => (format!("{least} x"), if ratio >= least { "yes" } else { "no" }),
        };
        writeln!(
            out,
            "{:<44} {ours:>9.0} {theirs:>9.0} {ratio:>6.2} {our_size:>6.0} {their_size:>6.0} {:>7.1} {:>7.1} {:>6.2}  {bar:<5} {met}",
            self.name,
            ours * our_size / 1e6,
            theirs * their_size / 1e6,
            ratio * our_size / their_size,
        )?;
        Ok(out.flush()?)
    }

    /// Returns the entries per second of processor time.
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
        Ok(self.entries as f64 * f64::from(rounds) / spent.cpu.as_secs_f64())
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
        "{:<44} {:>9} {:>9} {:>6} {:>6} {:>6} {:>7} {:>7} {:>6}  {:<5} met",
        "per second of processor time",
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
