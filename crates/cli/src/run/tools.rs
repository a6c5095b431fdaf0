//! The executor's hands: tools in a helper process under the policy's limits, one at a time.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use demur_ledger::{facts::FailureKind, name::Sequence};
use demur_run::{
    policy,
    role::{Hands, Report},
    task::Call,
};
use demur_sandbox::{Ending, Limits, Outcome, Prepared, Request, Running, SandboxError, prepare};

use crate::error::CommandError;

/// What is at hand to run tools with.
#[derive(Debug)]
pub(super) struct Tools {
    program: PathBuf,
    work: PathBuf,
    limits: Limits,
    ready: Option<(String, Prepared)>,
    report: Option<Report>,
    lost: BTreeSet<Sequence>,
}

impl Tools {
    /// Returns tools that work in this folder and keep to the limits of the policy.
    pub(super) fn new(work: &Path, limits: &policy::Limits) -> Result<Self, CommandError> {
        let program = std::env::current_exe().map_err(|error| {
            CommandError::internal("NO_PROGRAM", format!("cannot find this program: {error}"))
        })?;
        let work = work.canonicalize().map_err(|error| CommandError::unreadable(work, &error))?;
        let limits = self::limits(limits).map_err(|error| trouble(&error))?;
        let (ready, report, lost) = (None, None, BTreeSet::new());
        Ok(Self { program, work, limits, ready, report, lost })
    }

    /// Returns what the executor goes by.
    pub(super) fn hands(&self) -> Hands<'_> {
        let ready = self.ready.as_ref().map(|(call, prepared)| (call.as_str(), prepared.limits()));
        Hands { report: self.report.as_ref(), lost: &self.lost, ready }
    }

    /// Notes executions that an earlier process began.
    pub(super) fn give_up(&mut self, started: impl IntoIterator<Item = Sequence>) {
        self.lost.extend(started);
    }

    /// Gets the tool of a call ready.
    pub(super) fn prepare(&mut self, call: &Call) -> Result<(), CommandError> {
        let mut request = Request::new(call.command.iter().map(ToString::to_string), self.work.clone());
        request.stdin = call.stdin.clone().into_bytes();
        request.limits = self.limits;
        let prepared = prepare(&self.program, &request).map_err(|error| trouble(&error))?;
        self.ready = Some((call.name.to_string(), prepared));
        Ok(())
    }

    /// Runs the tool that was made ready, and keeps how it ended.
    pub(super) fn run(&mut self, call: &str) -> Result<(), CommandError> {
        let Some((_, prepared)) = self.ready.take().filter(|(ready, _)| ready == call) else {
            return Err(CommandError::bug(&"a tool was to run that was not made ready"));
        };
        let outcome = prepared.start().and_then(Running::wait);
        self.report = Some(match outcome {
            Ok(outcome) => report(call, outcome),
            // The helper was killed: what became of the tool, nobody knows.
            Err(error) => Report {
                call: call.to_owned(),
                failure: Some(FailureKind::Lost),
                exit_status: None,
                duration: 0,
                stdout: Vec::new(),
                stderr: Vec::new(),
                note: Some(error.to_string()),
            },
        });
        Ok(())
    }

    /// Forgets how the last tool ended, once that is recorded.
    pub(super) fn forget(&mut self) {
        self.report = None;
    }
}

/// Returns the limits of a policy as the sandbox takes them.
pub(super) fn limits(policy: &policy::Limits) -> Result<Limits, SandboxError> {
    let limits = Limits {
        time_ms: policy.time.0,
        output: policy.output.bytes(),
        memory: policy.memory.bytes(),
        processes: policy.processes.as_u64(),
        file_size: policy.file_size.bytes(),
        ..Limits::default()
    };
    limits.check().map(|()| limits)
}

fn report(call: &str, outcome: Outcome) -> Report {
    let note = format!("the tool {}", outcome.ending);
    let (failure, exit_status) = match outcome.ending {
        Ending::Exit(0) => (None, Some(0)),
        Ending::Exit(status) => (Some(FailureKind::Exit), Some(status)),
        Ending::Signal(_) => (Some(FailureKind::Signal), None),
        Ending::Timeout => (Some(FailureKind::Timeout), None),
        Ending::Limit(_) => (Some(FailureKind::Limit), None),
        Ending::NotStarted(_) => (Some(FailureKind::NotStarted), None),
    };
    Report {
        call: call.to_owned(),
        failure,
        exit_status,
        duration: outcome.duration_ms,
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        note: failure.map(|_| note),
    }
}

fn trouble(error: &SandboxError) -> CommandError {
    match error {
        SandboxError::Request { .. } => CommandError::input("TASK_INVALID", error),
        _ => CommandError::internal("SANDBOX_TROUBLE", error),
    }
}
