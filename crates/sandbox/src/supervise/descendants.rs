//! Every process that comes from the tool. Orphans become children of this process (it is their subreaper), so
//! all of them are below it, also those that left their session or their parent.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

use crate::SandboxError;

/// A process below this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descendant {
    pub(super) pid: Pid,
    /// How many threads it has.
    pub(super) threads: usize,
}

/// Returns every process below this one. A process that is passed on to a new parent meanwhile can be missed: look
/// again.
pub(super) fn descendants() -> Vec<Descendant> {
    descendants_of(getpid(), &mut |_| ())
}

/// Ends every process below this one, also those that come into being meanwhile, and tells how each child ended.
/// Returns how many are left after the time that this may take: normally none.
pub(super) fn end_all(tell: &mut dyn FnMut(Pid, WaitStatus)) -> usize {
    let deadline = Instant::now() + PATIENCE;
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            tell(pid, status);
        }
        // Each is ended as soon as it is seen, so that a process that passes its work on and leaves does not get
        // away. Process numbers are used again only after millions of others, not within this moment.
        let left = descendants_of(getpid(), &mut |pid| {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        });
        if left.is_empty() {
            return 0;
        }
        if Instant::now() >= deadline {
            return left.len();
        }
        std::thread::sleep(PAUSE);
    }
}

fn descendants_of(root: Pid, seen: &mut dyn FnMut(Pid)) -> Vec<Descendant> {
    let mut found = Vec::new();
    let (_, mut unseen) = family(root);
    while let Some(pid) = unseen.pop() {
        seen(pid);
        let (threads, children) = family(pid);
        found.push(Descendant { pid, threads });
        unseen.extend(children);
    }
    found
}

/// Returns how many threads a process has, and the children of all of them. A process that has just ended has
/// none.
fn family(pid: Pid) -> (usize, Vec<Pid>) {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return (0, Vec::new()) };
    let (mut threads, mut children) = (0, Vec::new());
    for task in tasks.flatten() {
        threads += 1;
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(list.split_ascii_whitespace().filter_map(read_pid));
    }
    (threads, children)
}

fn read_pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Refuses a system where children cannot be listed: nothing could be ended there.
pub(super) fn check_support() -> Result<(), SandboxError> {
    let list = fs::read(format!("/proc/{0}/task/{0}/children", getpid()));
    list.map(drop).map_err(SandboxError::system("list the children of a process"))
}

/// How long it may take until all have ended. A process that waits for a disk ends when the disk answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for processes to end before looking again.
const PAUSE: Duration = Duration::from_micros(200);

#[cfg(test)]
mod tests {
    use std::{
        io,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn finds_children_and_grandchildren() {
        // The first line of `cat`'s output shows that the whole family is there.
        let mut child = Command::new("sh")
            .args(["-c", "(cat; true); true"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        io::Write::write_all(child.stdin.as_mut().unwrap(), b"x").unwrap();
        io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let pid = Pid::from_child(&child);
        let found = descendants();
        assert!(found.contains(&Descendant { pid, threads: 1 }), "{found:?}");
        let mut seen = Vec::new();
        assert_eq!(descendants_of(pid, &mut |pid| seen.push(pid)).len(), 2, "a subshell and cat");
        assert_eq!(seen.len(), 2);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert!(descendants_of(pid, &mut |_| ()).is_empty());
    }

    #[test]
    fn counts_threads() {
        let (threads, _) = family(getpid());
        let more = std::thread::scope(|scope| scope.spawn(|| family(getpid()).0).join().unwrap());
        assert!(threads >= 1);
        assert!(more >= 2);
    }

    #[test]
    fn process_that_is_not_there_has_no_family() {
        assert_eq!(family(Pid::from_raw(i32::MAX).unwrap()), (0, Vec::new()));
    }

    #[test]
    fn this_system_lists_children() {
        check_support().unwrap();
    }
}
