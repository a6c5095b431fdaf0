//! Tools that behave well and tools that do not, run by the real executable under limits.

mod attacks;
mod endings;
mod files;
mod processes;
mod programs;
mod rights;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use demur_sandbox::{Request, ToolOutcome, run};
use tempfile::TempDir;

/// A folder for one tool, and a mark in the environment by which its processes are found.
struct Bench {
    folder: TempDir,
    mark: String,
}

impl Bench {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { folder: tempfile::tempdir().unwrap(), mark }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn request(&self, command: &[&str]) -> Request {
        let mut request = Request::new(command.iter().copied(), self.folder.path());
        request.environment.insert(MARK.into(), self.mark.clone());
        request
    }

    fn shell(&self, script: &str) -> Request {
        self.request(&["sh", "-c", script])
    }

    fn python(&self, script: &str) -> Request {
        self.request(&["python3", "-c", script])
    }

    /// Returns what came of a tool, after a look whether anything of it is left.
    fn run(&self, request: &Request) -> ToolOutcome {
        let outcome = run(demur(), request).unwrap();
        assert_eq!(self.survivors(), [0; 0], "something lives on after {outcome:?}");
        outcome
    }

    /// Returns the processes of the tool that are there now.
    fn survivors(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.mark);
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers
            .filter(|number: &u32| {
                let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
            })
            .collect()
    }
}

/// The name of the mark.
const MARK: &str = "DEMUR_TEST_MARK";

fn demur() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_demur"))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns whether the record says that this is limited; it must say one or the other.
fn is_limited(outcome: &ToolOutcome, what: &str) -> bool {
    let about = outcome.limits.iter().filter(|words| words.starts_with(what));
    let words: Vec<&String> = about.collect();
    assert!(!words.is_empty(), "nothing is said about {what}: {:?}", outcome.limits);
    !words.iter().any(|words| words.starts_with(&format!("{what}: not limited")))
}

/// Waits for something that another process does.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "not so in time: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}
