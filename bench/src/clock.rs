//! What a process has used so far, as Linux tells it under `/proc/self`. Processor time says more than wall time
//! on a machine that others use too.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Time that some work took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// By the clock on the wall.
    pub wall: Duration,
    /// Of all processors together, in steps of ten milliseconds.
    pub cpu: Duration,
}

/// Returns what the work returns, and the time this process spent on it with all its threads.
pub fn spent<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Spent)> {
    let (cpu, start) = (cpu_time()?, Instant::now());
    let done = work()?;
    let wall = start.elapsed();
    Ok((done, Spent { wall, cpu: cpu_time()?.saturating_sub(cpu) }))
}

/// Returns what the work returns, and the processor time this thread spent on it, to the microsecond.
pub fn spent_by_thread<T>(work: impl FnOnce() -> T) -> Result<(T, Duration)> {
    let start = thread_time()?;
    let done = work();
    Ok((done, thread_time()?.saturating_sub(start)))
}

/// Returns the most memory this process ever held at once, in bytes.
pub fn peak_memory() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("cannot read /proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no line VmHWM")?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().context("VmHWM is no number")?;
    Ok(kibibytes * 1024)
}

/// Returns the processor time of this thread. Linux brings it up to date when the thread steps aside.
fn thread_time() -> Result<Duration> {
    thread::yield_now();
    let path = "/proc/thread-self/schedstat";
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map(Duration::from_nanos).with_context(|| format!("{path} has another form than expected"))
}

/// Returns the processor time of this process, threads that ended included.
fn cpu_time() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    parse_cpu_time(&stat).context("/proc/self/stat has another form than expected")
}

/// The name of the program stands in parentheses and may hold anything, so counting begins after it.
fn parse_cpu_time(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(USER_TIME);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * TICK))
}

/// The place of `utime` after the program's name; `stime` follows it.
const USER_TIME: usize = 11;
/// The unit of both in milliseconds: Linux reports hundredths of a second to programs.
const TICK: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_times_after_any_program_name() {
        let stat = "7 (a) b) c) R 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 1 0";
        assert_eq!(parse_cpu_time(stat), Some(Duration::from_millis(1750)));
        assert_eq!(parse_cpu_time("7 (a) R 1 2"), None);
    }

    #[test]
    fn peak_holds_what_was_once_used() {
        let before = peak_memory().unwrap();
        let size = usize::try_from(before).unwrap();
        drop(std::hint::black_box(vec![1_u8; 2 * size]));
        assert!(peak_memory().unwrap() >= 2 * before);
    }

    #[test]
    fn thread_is_charged_for_its_own_work_only() {
        let work = |rounds: u64| (0..rounds).fold(0_u64, |sum, round| std::hint::black_box(sum ^ round));
        let (_, idle) =
            spent_by_thread(|| thread::scope(|scope| scope.spawn(|| work(20_000_000)).join())).unwrap();
        let (_, busy) = spent_by_thread(|| work(20_000_000)).unwrap();
        assert!(idle * 4 < busy, "waiting took {idle:?}, working {busy:?}");
    }

    #[test]
    fn error_of_the_work_is_the_error() {
        let error = spent(|| -> Result<()> { anyhow::bail!("no work today") }).unwrap_err();
        assert_eq!(error.to_string(), "no work today");
    }
}
