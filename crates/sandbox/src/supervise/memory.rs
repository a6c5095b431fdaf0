//! How much memory processes use together.

use std::fs;

use rustix::{param::page_size, process::Pid};

use crate::supervise::descendants::Descendant;

/// Returns whether the processes use more memory together than they may.
///
/// The quick figure counts pages that several processes share once for each, and files that are mapped. Only
/// where it is too high, the exact one is asked for, which divides shared pages among those who share them.
pub(super) fn is_over(processes: &[Descendant], most: u64) -> bool {
    let quick: u64 = processes.iter().map(|process| resident(process.pid)).sum();
    quick > most && processes.iter().map(|process| proportional(process.pid)).sum::<u64>() > most
}

/// Returns the bytes of a process that are in memory; 0 if it has ended.
fn resident(pid: Pid) -> u64 {
    let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok().and_then(|statm| {
        let pages = statm.split_ascii_whitespace().nth(1)?;
        pages.parse::<u64>().ok()
    });
    pages.unwrap_or_default().saturating_mul(page_size() as u64)
}

/// Returns the bytes that a process has for itself, and its part of those it shares; mapped files are not counted.
fn proportional(pid: Pid) -> u64 {
    match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(rollup) => sum_of_shares(&rollup),
        // A process may forbid to be looked at.
        Err(_) => resident(pid),
    }
}

fn sum_of_shares(rollup: &str) -> u64 {
    let lines = rollup.lines().filter(|line| COUNTED.iter().any(|name| line.starts_with(name)));
    let kilobytes = lines.filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.sum::<u64>().saturating_mul(1024)
}

/// Memory that no file on a disk stands behind.
const COUNTED: [&str; 3] = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:"];

#[cfg(test)]
mod tests {
    use rustix::process::getpid;

    use super::*;

    #[test]
    fn this_process_uses_some_memory() {
        let own = Descendant { pid: getpid(), threads: 1 };
        assert!(is_over(&[own], 4096));
        assert!(!is_over(&[own], 1 << 50));
        assert!(!is_over(&[], 0));
    }

    #[test]
    fn shares_are_added_up() {
        let rollup = "55d1-7ffe ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nPss: 500 kB\nPss_Dirty: 80 kB\n\
            Pss_Anon: 70 kB\nPss_File: 400 kB\nPss_Shmem: 30 kB\nSwap: 9 kB\nSwapPss: 5 kB\n";
        assert_eq!(sum_of_shares(rollup), 105 * 1024);
    }

    #[test]
    fn exact_figure_is_not_above_the_quick_one() {
        let (exact, quick) = (proportional(getpid()), resident(getpid()));
        assert!(exact > 0);
        assert!(exact <= quick * 2, "{exact} {quick}");
    }
}
