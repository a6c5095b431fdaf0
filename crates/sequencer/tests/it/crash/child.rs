//! A test as its own child process: the parent starts the test binary again with the name of the test and a folder in
//! the environment. What the child has to say goes line by line through its standard error.

use std::{
    env,
    ffi::OsString,
    fmt::Display,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{self, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use demur_core::hash::Digest;
use demur_ledger::name::{Position, TraceId};

/// Returns the folder that this process is to work in, if it is a child.
pub(super) fn folder() -> Option<PathBuf> {
    env::var_os(FOLDER).map(PathBuf::from)
}

/// Tells the parent something. One write, so that a line is there as a whole or not at all.
pub(super) fn say(line: impl Display) {
    io::stderr().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Tells the parent what was acknowledged.
pub(super) fn acknowledge(trace: TraceId, position: Position) {
    say(acknowledgement(trace, position));
}

/// Returns an acknowledgement as a line.
pub(super) fn acknowledgement(trace: TraceId, position: Position) -> String {
    format!("{ACKNOWLEDGED}{trace} {} {}", position.sequence, position.hash)
}

/// Returns what a line acknowledges; none if it says something else.
pub(super) fn acknowledged(line: &str) -> Option<(TraceId, Position)> {
    let mut parts = line.strip_prefix(ACKNOWLEDGED)?.split(' ');
    let trace = parts.next()?.parse().ok()?;
    let sequence = parts.next()?.parse::<u64>().ok()?.try_into().ok()?;
    let hash: Digest = parts.next()?.parse().ok()?;
    Some((trace, Position::new(sequence, hash)))
}

/// Returns the command that runs one test in a process of its own.
pub(super) fn command(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(arguments(test)).env(FOLDER, folder);
    command
}

/// Returns the arguments that make the test binary run one test.
pub(super) fn arguments(test: &str) -> [OsString; 3] {
    // The name of the crate stands before the path of the test.
    let path = test.split_once("::").unwrap().1;
    [path.into(), "--exact".into(), "--nocapture".into()]
}

/// A running child.
pub(super) struct Child {
    process: process::Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Child {
    pub(super) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        Self { process, lines, heard: Vec::new() }
    }

    /// Listens until the next line that begins so.
    pub(super) fn hear(&mut self, start: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("the child never said {start:?}: {}", self.heard.join("\n"))
                }
            }
            if self.heard.last().is_some_and(|line| line.starts_with(start)) {
                return;
            }
        }
    }

    /// Listens for so long, or until the child has ended.
    pub(super) fn listen(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Kills the child and returns all it said; it must not have ended by itself.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        let (status, heard) = self.end();
        assert_eq!(status.signal(), Some(SIGKILL), "the child ended by itself: {}", heard.join("\n"));
        heard
    }

    /// Kills the child unless it has ended well by itself, and returns all it said.
    pub(super) fn kill_if_running(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        let (status, heard) = self.end();
        let fine = status.success() || status.signal() == Some(SIGKILL);
        assert!(fine, "the child failed: {}", heard.join("\n"));
        heard
    }

    /// Waits until the child has ended well and returns all it said.
    pub(super) fn finish(self) -> Vec<String> {
        let (status, heard) = self.end();
        assert!(status.success(), "the child failed: {}", heard.join("\n"));
        heard
    }

    fn end(mut self) -> (ExitStatus, Vec<String>) {
        let status = self.process.wait().unwrap();
        self.heard.extend(self.lines.iter());
        (status, self.heard)
    }
}

/// What acknowledgements begin with.
pub(super) const ACKNOWLEDGED: &str = "acknowledged ";

/// Names the folder of a child.
const FOLDER: &str = "DEMUR_TEST_CRASH_FOLDER";

const SIGKILL: i32 = 9;

/// How long a child may take to say something on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
