//! Processes that have to end: what a process has started goes with it.

use std::collections::HashMap;
use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Returns how a process ended, or nothing if it took too long and was ended.
pub(crate) fn wait_at_most(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for a process")? {
            return Ok(Some(status));
        }
        if begin.elapsed() >= limit {
            let started = descendants(child.id());
            child.kill().context("cannot end a process")?;
            child.wait().context("cannot wait for a process")?;
            end(&started);
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// Ends everything that a process has started, but not the process itself.
pub(crate) fn end_descendants(process: u32) {
    end(&descendants(process));
}

fn end(processes: &[u32]) {
    if processes.is_empty() {
        return;
    }
    // One that has ended meanwhile is no mistake.
    let _ = Command::new("kill")
        .arg("-KILL")
        .args(processes.iter().map(u32::to_string))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// Returns the processes that a process has started, and those that they have. A group would not do: a group of its own
/// hears no Ctrl-C, and tests make groups themselves.
fn descendants(process: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent(&stat) {
            children.entry(parent).or_default().push(number);
        }
    }
    let mut found = children.remove(&process).unwrap_or_default();
    let mut next = 0;
    while let Some(one) = found.get(next).copied() {
        found.extend(children.remove(&one).unwrap_or_default());
        next += 1;
    }
    found
}

/// Returns the parent in a line of `/proc/N/stat`. The name of the program stands in brackets and may hold anything.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

const LOOK: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};

    use super::*;

    fn is_running(process: &str) -> bool {
        // One that nobody has asked after is still listed, but has no memory any more.
        fs::read_to_string(format!("/proc/{process}/status")).is_ok_and(|status| status.contains("VmRSS"))
    }

    #[test]
    fn process_that_takes_too_long_ends_with_all_that_it_started() {
        let mut shell = Command::new("sh");
        // A session of its own is no way out.
        shell.args(["-c", "setsid sh -c 'echo $$; exec sleep 600' & wait"]).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let mut started = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut started).unwrap();
        assert!(is_running(started.trim()));
        assert_eq!(wait_at_most(&mut child, Duration::from_millis(1)).unwrap(), None);
        let begin = Instant::now();
        while is_running(started.trim()) {
            assert!(begin.elapsed() < Duration::from_secs(20), "{started} goes on");
            thread::yield_now();
        }
    }

    #[test]
    fn process_that_ends_in_time_says_how() {
        let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let status = wait_at_most(&mut child, Duration::from_mins(1)).unwrap();
        assert_eq!(status.and_then(|status| status.code()), Some(7));
    }

    #[test]
    fn parent_is_found_behind_any_name() {
        assert_eq!(parent("12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (a) S 1 (b) R 8 12"), Some(8));
        assert_eq!(parent(""), None);
    }
}
