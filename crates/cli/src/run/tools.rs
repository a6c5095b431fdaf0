//! The executor's hands: tools in a helper process under the policy's limits, one at a time.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use demur_core::limit::{LimitError, Text};
use demur_ledger::{facts::FailureKind, name::Sequence};
use demur_run::{
    policy,
    role::{Hands, Report},
    task::Call,
};
use demur_sandbox::{Ending, Limits, Outcome, Prepared, Request, Running, SandboxError, prepare};

use crate::failure::Failure;

/// What is at hand to run tools with.
#[derive(Debug)]
pub(super) struct Tools {
    program: PathBuf,
    work: PathBuf,
    limits: Limits,
    ready: Option<(String, Helper)>,
    /// What runs after that.
    ahead: Option<(String, Helper)>,
    report: Option<Report>,
    lost: BTreeSet<Sequence>,
}

/// The helper process of a tool.
#[derive(Debug)]
enum Helper {
    /// It is on its way.
    Coming(JoinHandle<Result<Prepared, SandboxError>>),
    /// It waits for the start.
    Here(Box<Prepared>),
}

impl Tools {
    /// Returns tools that work in this folder and keep to the limits of the policy.
    pub(super) fn new(work: &Path, limits: &policy::Limits) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::internal("NO_PROGRAM", format!("cannot find this program: {error}")))?;
        let work = work.canonicalize().map_err(|error| Failure::unreadable(work, &error))?;
        let limits = self::limits(limits).map_err(|error| trouble(&error))?;
        let (ready, ahead, report, lost) = (None, None, None, BTreeSet::new());
        Ok(Self { program, work, limits, ready, ahead, report, lost })
    }

    /// Returns what the executor goes by.
    pub(super) fn hands(&self) -> Hands<'_> {
        let [ready, ahead] =
            [&self.ready, &self.ahead].map(|one| one.as_ref().map(|(call, _)| call.as_str()));
        Hands { report: self.report.as_ref(), lost: &self.lost, ready, ahead }
    }

    /// Notes executions that an earlier process began.
    pub(super) fn give_up(&mut self, started: impl IntoIterator<Item = Sequence>) {
        self.lost.extend(started);
    }

    /// Begins to get the tool of a call ready, in place of what was ready before or to run after it.
    pub(super) fn prepare(&mut self, call: &Call, ahead: bool) {
        let mut request = Request::new(call.command.iter().map(ToString::to_string), self.work.clone());
        request.stdin = call.stdin.clone().into_bytes();
        request.limits = self.limits;
        let program = self.program.clone();
        let helper = thread::spawn(move || prepare(&program, &request));
        let place = if ahead { &mut self.ahead } else { &mut self.ready };
        *place = Some((call.name.to_string(), Helper::Coming(helper)));
    }

    /// Waits until the tool of a call is ready; returns the limits it will run under, in words for the record.
    pub(super) fn limits(&mut self, call: &str) -> Result<Vec<Text<1, 1024>>, Failure> {
        let prepared = self.take_ready(call)?;
        let lines = prepared.limits().iter().take(32).map(|line| Text::cut(line));
        let lines = lines.collect::<Result<Vec<_>, LimitError>>()?;
        self.ready = Some((call.to_owned(), Helper::Here(Box::new(prepared))));
        Ok(lines)
    }

    /// Runs the tool that was made ready, and keeps how it ended.
    pub(super) fn run(&mut self, call: &str) -> Result<(), Failure> {
        let outcome = self.take_ready(call)?.start().and_then(Running::wait);
        self.ready = self.ahead.take();
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

    fn take_ready(&mut self, call: &str) -> Result<Prepared, Failure> {
        match self.ready.take() {
            Some((ready, Helper::Here(prepared))) if ready == call => Ok(*prepared),
            Some((ready, Helper::Coming(helper))) if ready == call => match helper.join() {
                Ok(prepared) => prepared.map_err(|error| trouble(&error)),
                Err(_) => Err(Failure::bug(&"a tool was made ready in a panic")),
            },
            _ => Err(Failure::bug(&"a tool was to run that was not made ready")),
        }
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

fn trouble(error: &SandboxError) -> Failure {
    match error {
        SandboxError::Request { .. } => Failure::input("TASK_INVALID", error),
        _ => Failure::internal("SANDBOX_TROUBLE", error),
    }
}
