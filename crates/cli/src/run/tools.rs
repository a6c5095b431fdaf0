//! The executor's hands: tools in a helper process under the policy's limits, one at a time.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use demur_api::run::{Base64Bytes, ReadyTool, ToolReport};
use demur_ledger::{content::PolicySandbox, facts::FailureKind, name::Sequence};
use demur_run::{
    history::History,
    policy::{self, Policy, SandboxDemand},
    task::Call,
};
use demur_sandbox::{
    Prepared, Request, Running, SandboxError, SandboxLimits, SandboxPolicy, ToolEnding, ToolOutcome, prepare,
};

use super::halt::Halt;
use crate::{exit::Exit, failure::Failure};

/// What is at hand to run tools with.
#[derive(Debug)]
pub(super) struct Tools {
    program: PathBuf,
    work: PathBuf,
    limits: SandboxLimits,
    policy: SandboxPolicy,
    /// Calls and their helpers, in the order in which they run.
    helpers: VecDeque<(String, Helper)>,
    /// How the last tool ended, until that is on record.
    ended: Option<ToolReport>,
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
    pub(super) fn new(work: &Path, policy: &Policy) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::internal("NO_PROGRAM", format!("cannot find this program: {error}")))?;
        let work = work.canonicalize().map_err(|error| Failure::unreadable(work, &error))?;
        let limits = limits(&policy.limits).map_err(|error| trouble(&error))?;
        let PolicySandbox { best_effort, chmod, udp } = policy.sandbox();
        let policy = SandboxPolicy { best_effort, chmod, udp };
        Ok(Self { program, work, limits, policy, helpers: VecDeque::new(), ended: None })
    }

    /// Returns how the last tool ended, until that is on record.
    pub(super) const fn ended(&self) -> Option<&ToolReport> {
        self.ended.as_ref()
    }

    /// Forgets how the last tool ended, once that is on record.
    pub(super) fn forget_ended(&mut self, history: &History) {
        let started = self.ended.as_ref().map(|ended| ended.started);
        let mut recorded = history.intents.values().filter(|intent| intent.ended.is_some());
        if started.is_some() && recorded.any(|intent| intent.started == started) {
            self.ended = None;
        }
    }

    /// Waits for the tool that runs next, and returns it with the limits in force. One that could not be made ready is left
    /// out: how the last tool ended matters more, and the next attempt says what is wrong.
    pub(super) fn ready(&mut self) -> Option<ReadyTool> {
        let (call, helper) = self.helpers.pop_front()?;
        let prepared = helper.wait().ok()?;
        let tool = ReadyTool { call: call.clone(), limits: prepared.limits().to_vec() };
        self.helpers.push_front((call, Helper::Here(Box::new(prepared))));
        Some(tool)
    }

    /// Returns the calls after that one whose tools are being made ready.
    pub(super) fn ahead(&self) -> Vec<String> {
        self.helpers.iter().skip(1).map(|(call, _)| call.clone()).collect()
    }

    /// Waits for the tool that runs next.
    pub(super) fn expect_ready(&mut self) -> Result<(), Failure> {
        if let Some((call, helper)) = self.helpers.pop_front() {
            self.helpers.push_front((call, Helper::Here(Box::new(helper.wait()?))));
        }
        Ok(())
    }

    /// Begins to get the tool of a call ready that runs next. Of those that were to run, the nearest ones stay.
    pub(super) fn prepare_first(&mut self, call: &Call) {
        let known = self.helpers.iter().position(|(name, _)| *name == *call.name);
        let helper = known.and_then(|place| self.helpers.remove(place)).unwrap_or_else(|| self.helper(call));
        self.helpers.push_front(helper);
        self.helpers.truncate(MAX_HELPERS);
    }

    /// Begins to get the tool of a call ready that runs after the others.
    pub(super) fn prepare_after(&mut self, call: &Call) {
        let helper = self.helper(call);
        self.helpers.push_back(helper);
    }

    fn helper(&self, call: &Call) -> (String, Helper) {
        let mut request = Request::new(call.command.iter().map(ToString::to_string), self.work.clone());
        request.stdin = call.stdin.clone().into_bytes();
        request.limits = self.limits;
        request.policy = self.policy;
        let program = self.program.clone();
        let helper = thread::spawn(move || prepare(&program, &request));
        (call.name.to_string(), Helper::Coming(helper))
    }

    /// Runs the tool that was made ready, and keeps how it ended. `halt` ends it.
    pub(super) fn run(&mut self, call: &str, started: Sequence, halt: &Halt) -> Result<(), Failure> {
        let prepared = match self.helpers.pop_front() {
            Some((ready, helper)) if ready == call => helper.wait()?,
            _ => return Err(Failure::bug(&"a tool was to run that was not made ready")),
        };
        let outcome = prepared.start().and_then(|running: Running| {
            halt.watch(running.stopper());
            running.wait()
        });
        self.ended = Some(match outcome {
            Ok(outcome) => report((call, started), outcome),
            // The helper was killed: what became of the tool, nobody knows.
            Err(error) => ToolReport {
                started,
                call: call.to_owned(),
                failure: Some(FailureKind::Lost),
                exit_status: None,
                duration: 0,
                stdout: Base64Bytes::default(),
                stderr: Base64Bytes::default(),
                note: Some(error.to_string()),
            },
        });
        Ok(())
    }
}

impl Helper {
    /// Waits until the tool is ready.
    fn wait(self) -> Result<Prepared, Failure> {
        match self {
            Self::Here(prepared) => Ok(*prepared),
            Self::Coming(helper) => match helper.join() {
                Ok(prepared) => prepared.map_err(|error| trouble(&error)),
                Err(_) => Err(Failure::bug(&"a tool was made ready in a panic")),
            },
        }
    }
}

/// Refuses a policy that demands more of the sandbox than this system enforces: before anything is recorded.
pub(super) fn check_sandbox(policy: &Policy) -> Result<(), Failure> {
    if policy.sandbox == SandboxDemand::BestEffort {
        return Ok(());
    }
    let missing = demur_sandbox::missing();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "expected a system that enforces the sandbox of tools, found one that does not: {}",
        missing.join("; ")
    );
    Err(Failure::new(Exit::PolicyBlocked, "SANDBOX_MISSING", message).with_hint(
        "use Linux 5.13 or newer with Landlock and seccomp (`demur doctor` looks), or run tools with less by \
         sandbox = \"best-effort\" in the policy: every report says so",
    ))
}

/// Returns the limits of a policy as the sandbox takes them.
pub(super) fn limits(policy: &policy::ToolLimits) -> Result<SandboxLimits, SandboxError> {
    let limits = SandboxLimits {
        time_ms: policy.time.0,
        output: policy.output.bytes(),
        memory: policy.memory.bytes(),
        processes: policy.processes.as_u64(),
        file_size: policy.file_size.bytes(),
        ..SandboxLimits::default()
    };
    limits.check().map(|()| limits)
}

fn report((call, started): (&str, Sequence), outcome: ToolOutcome) -> ToolReport {
    let note = format!("the tool {}", outcome.ending);
    let (failure, exit_status) = match outcome.ending {
        ToolEnding::Exit(0) => (None, Some(0)),
        ToolEnding::Exit(status) => (Some(FailureKind::Exit), Some(status)),
        ToolEnding::Signal(_) => (Some(FailureKind::Signal), None),
        ToolEnding::Timeout => (Some(FailureKind::Timeout), None),
        ToolEnding::Limit(_) => (Some(FailureKind::Limit), None),
        ToolEnding::NotStarted(_) => (Some(FailureKind::NotStarted), None),
    };
    ToolReport {
        started,
        call: call.to_owned(),
        failure,
        exit_status,
        duration: outcome.duration_ms,
        stdout: Base64Bytes(outcome.stdout),
        stderr: Base64Bytes(outcome.stderr),
        note: failure.map(|_| note),
    }
}

fn trouble(error: &SandboxError) -> Failure {
    match error {
        SandboxError::Request { .. } => Failure::input("TASK_INVALID", error),
        _ => Failure::internal("SANDBOX_TROUBLE", error),
    }
}

/// One that runs and two that wait: the server asks for no more.
const MAX_HELPERS: usize = 3;
