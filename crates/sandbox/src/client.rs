//! The caller's side: starts a supervisor, tells it what to run and reads what came of it.
//!
//! The supervisor lives as long as its standard input is open. When the caller lets go of it or is killed, the
//! supervisor ends the tool and everything the tool started.

use std::{
    io::{BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    Request, SUPERVISE, SandboxError, ToolOutcome,
    wire::{self, Note},
};

/// Returns what came of a tool, after it and everything it started has ended. `program` is an executable that
/// calls [`supervise`](crate::supervise) and [`enter`](crate::enter) when it is asked to: usually the caller's own.
pub fn run(program: &Path, request: &Request) -> Result<ToolOutcome, SandboxError> {
    prepare(program, request)?.start()?.wait()
}

/// Returns a tool whose limits are in force and which has not started yet.
pub fn prepare(program: &Path, request: &Request) -> Result<Prepared, SandboxError> {
    request.check()?;
    let mut running = Running::new(program)?;
    if let Err(source) = running.lifeline.send(|stdin| wire::write_request(stdin, request)) {
        return Err(running.lost(source));
    }
    match wire::read_note(&mut running.stdout) {
        Ok(Note::Limits(limits)) => Ok(Prepared { running, limits }),
        Ok(Note::Failure(_)) => Err(running.lost(std::io::ErrorKind::InvalidData.into())),
        Err(source) => Err(running.lost(source)),
    }
}

/// A tool that waits for its start. Dropping it ends it.
#[derive(Debug)]
pub struct Prepared {
    running: Running,
    limits: Vec<String>,
}

impl Prepared {
    /// Returns each limit that will be in force, and each that could not be put in force, in words. What keeps a
    /// tool from starting is told by the outcome.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// Returns what stops the tool from anywhere.
    pub fn stopper(&self) -> Stopper {
        self.running.stopper()
    }

    /// Starts the tool.
    pub fn start(mut self) -> Result<Running, SandboxError> {
        match self.running.lifeline.send(|stdin| stdin.write_all(wire::START)) {
            Ok(()) => Ok(self.running),
            Err(source) => Err(self.running.lost(source)),
        }
    }
}

/// A tool that runs. Dropping it ends it.
#[derive(Debug)]
pub struct Running {
    supervisor: Child,
    lifeline: Stopper,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn new(program: &Path) -> Result<Self, SandboxError> {
        let mut supervisor = Command::new(program)
            .arg(SUPERVISE)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| SandboxError::Start { program: program.to_owned(), source })?;
        let (stdin, stdout) = (supervisor.stdin.take(), supervisor.stdout.take());
        let stdout = stdout.expect("the supervisor's standard output is a pipe");
        Ok(Self { supervisor, lifeline: Stopper::new(stdin), stdout: BufReader::new(stdout) })
    }

    /// Returns what stops the tool from anywhere.
    pub fn stopper(&self) -> Stopper {
        self.lifeline.clone()
    }

    /// Returns what came of the tool, after it and everything it started has ended.
    pub fn wait(mut self) -> Result<ToolOutcome, SandboxError> {
        match wire::read_outcome(&mut self.stdout) {
            Ok(outcome) => Ok(outcome),
            Err(source) => Err(self.lost(source)),
        }
    }

    /// Returns why there is no answer.
    fn lost(&mut self, source: std::io::Error) -> SandboxError {
        if self.lifeline.is_stopped() {
            return SandboxError::Stopped;
        }
        if source.kind() == std::io::ErrorKind::InvalidData {
            return SandboxError::Stage { expected: "an outcome", source };
        }
        self.lifeline.stop();
        let status =
            self.supervisor.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        SandboxError::Lost { status }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.lifeline.stop();
        // The supervisor ends in bounded time. There is nobody left to tell if it cannot be waited for.
        let _ = self.supervisor.wait();
    }
}

/// Ends a tool and everything it started, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    lifeline: Arc<Mutex<Option<ChildStdin>>>,
}

impl Stopper {
    fn new(stdin: Option<ChildStdin>) -> Self {
        Self { lifeline: Arc::new(Mutex::new(stdin)) }
    }

    /// Ends the tool. Whoever waits for it gets [`SandboxError::Stopped`], unless it had ended before.
    pub fn stop(&self) {
        drop(self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn is_stopped(&self) -> bool {
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn send(&self, write: impl FnOnce(&mut ChildStdin) -> std::io::Result<()>) -> std::io::Result<()> {
        match &mut *self.lifeline.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(stdin) => write(stdin),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }
}
