//! Two sides that take turns, and the table of what came out.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use demur_bench::clock::spent;
use demur_bench::measure::median;
use demur_bench::table::{Table, met, whole};

/// How many cores each side uses, and so how time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) ours: usize,
    /// Their API has one thread. With more, so many files of theirs are checked at once, each by a thread of its own.
    pub(crate) theirs: usize,
}

impl Cores {
    /// Returns whether seconds of processor time are counted: what one core does, whatever else runs. Otherwise it is the
    /// clock, because cores that wait for one another cost time too.
    const fn by_processor_time(self) -> bool {
        self.ours == 1 && self.theirs == 1
    }
}

/// What is compared.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    pub(crate) cores: Cores,
    /// Entries, and so signatures where they are checked, of each side.
    pub(crate) entries: u64,
    /// The size of our file and of theirs.
    pub(crate) bytes: (u64, u64),
    /// How many times their entries per second are to be reached, with as many cores on both sides.
    pub(crate) bar: Option<f64>,
    /// Whether the bytes per second are held against the bar too; a signature has no bytes.
    pub(crate) bytes_count: bool,
}

impl Contest {
    /// Runs both sides in turns and returns the row.
    pub(crate) fn run(
        &self,
        ours: impl Fn() -> Result<()>,
        theirs: impl Fn() -> Result<()> + Sync,
    ) -> Result<[String; 12]> {
        eprintln!("peers: {}, cores {} beside {}", self.name, self.cores.ours, self.cores.theirs);
        let mut passes = Vec::with_capacity(PASSES);
        for _ in 0..PASSES {
            let theirs = self.rate(&|| at_once(self.cores.theirs, &theirs))? * cores(self.cores.theirs)?;
            passes.push((self.rate(&ours)?, theirs));
        }
        let ours = median(passes.iter().map(|pass| pass.0));
        let theirs = median(passes.iter().map(|pass| pass.1));
        let ratio = median(passes.iter().map(|pass| pass.0 / pass.1));
        let (our_size, their_size) = (self.size(self.bytes.0), self.size(self.bytes.1));
        let byte_ratio = ratio * our_size / their_size;
        let (bar, met) = self.verdict(ratio, byte_ratio);
        let counted = if self.cores.by_processor_time() { "cpu" } else { "clock" };
        Ok([
            self.name.to_owned(),
            format!("{} : {}, {counted}", self.cores.ours, self.cores.theirs),
            whole(ours),
            whole(theirs),
            format!("{ratio:.2}"),
            whole(our_size),
            whole(their_size),
            format!("{:.1}", ours * our_size / 1e6),
            format!("{:.1}", theirs * their_size / 1e6),
            format!("{byte_ratio:.2}"),
            bar,
            met,
        ])
    }

    /// Returns the bar and whether it is met. A side with more cores than the other is there to be seen, not to meet it.
    fn verdict(&self, ratio: f64, byte_ratio: f64) -> (String, String) {
        match self.bar.filter(|_| self.cores.ours == self.cores.theirs) {
            None => (String::new(), String::new()),
            Some(least) if self.bytes_count => {
                let (entries, bytes) = (met(ratio >= least), met(byte_ratio >= least));
                (format!("{least} x"), format!("by entries {entries}, by bytes {bytes}"))
            }
            Some(least) => (format!("{least} x"), met(ratio >= least).to_owned()),
        }
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
        let seconds = if self.cores.by_processor_time() { spent.cpu } else { spent.wall };
        Ok(self.entries as f64 * f64::from(rounds) / seconds.as_secs_f64())
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of bytes")]
    fn size(&self, bytes: u64) -> f64 {
        bytes as f64 / self.entries as f64
    }
}

/// Has so many threads do the work at once.
fn at_once(threads: usize, work: &(impl Fn() -> Result<()> + Sync)) -> Result<()> {
    if threads == 1 {
        return work();
    }
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

fn cores(count: usize) -> Result<f64> {
    Ok(f64::from(u32::try_from(count)?))
}

/// Returns the table without rows.
pub(crate) fn table() -> Table {
    let [ours, theirs, ratio] = ["ours", "theirs", "ratio"];
    let [cores, bytes, rate] = ["cores ours : theirs", "bytes ours", "MB/s ours"];
    Table::new([
        "entries per second",
        cores,
        ours,
        theirs,
        ratio,
        bytes,
        theirs,
        rate,
        theirs,
        ratio,
        "bar",
        "met",
    ])
}

/// Long beside the steps in which processor time is counted.
const PASS: Duration = Duration::from_millis(1500);
/// Odd, so that there is a middle one.
const PASSES: usize = 7;
