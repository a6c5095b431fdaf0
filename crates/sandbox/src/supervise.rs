//! The stage that watches the tool. It stands between the caller and the tool, outlives both, and answers only
//! after every process of the tool has ended.

mod capture;
mod descendants;
mod memory;
mod tool;
mod watch;

use std::{
    io::{self, Read as _},
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Signal, WaitStatus, getpid, set_child_subreaper, setsid},
};

use crate::{
    Limit, SandboxError, SandboxLimits, ToolEnding, ToolOutcome,
    outcome::sentence,
    supervise::{
        descendants::{check_support, end_all},
        tool::Tool,
        watch::{Stop, watch},
    },
    wire::{self, Note},
};

/// Runs the tool that standard input asks for and writes what came of it to standard output. Returns after
/// everything that the tool started has ended, also when the caller goes away before.
pub fn supervise() -> Result<(), SandboxError> {
    isolate()?;
    let stdin = io::stdin();
    let request = wire::read_request(&mut stdin.lock())
        .map_err(|source| SandboxError::Stage { expected: "a request", source })?;
    request.check()?;
    let outcome = match check_support().and_then(|()| Tool::spawn(&request)) {
        Ok(tool) => oversee(tool, &request.limits),
        Err(error) => refuse(&error),
    };
    if let Ok(Some(outcome)) = &outcome {
        wire::write_outcome(&mut io::stdout().lock(), outcome)
            .map_err(SandboxError::system("write the outcome"))?;
    } else {
        // Nobody waits for an answer, or there is none: nothing of the tool goes on either way.
        end_all(&mut |_, _| ());
    }
    outcome.map(drop)
}

/// Takes this process out of reach of the terminal and makes it the parent of every orphan of the tool.
fn isolate() -> Result<(), SandboxError> {
    match setsid() {
        // The leader of a process group has been taken out of the caller's group already.
        Ok(_) | Err(Errno::PERM) => {}
        Err(error) => return Err(SandboxError::system("leave the session of the caller")(error)),
    }
    set_child_subreaper(Some(getpid())).map_err(SandboxError::system("become the parent of orphans"))
}

/// Returns what came of the tool, or nothing if the caller went away.
fn oversee(mut tool: Tool, limits: &SandboxLimits) -> Result<Option<ToolOutcome>, SandboxError> {
    let Some(report) = tool.report()? else { return Ok(None) };
    let sentences: Vec<String> = report.into_iter().chain(watched(limits)).collect();
    if !await_start(&sentences)? {
        return Ok(None);
    }
    let started = Instant::now();
    let stop = if tool.failure().is_some() {
        Stop::Ended
    } else {
        tool.start();
        watch(&mut tool, limits, started)?
    };
    let duration = started.elapsed();
    if stop == Stop::CallerLeft {
        return Ok(None);
    }
    conclude(tool, stop, duration, sentences).map(Some)
}

/// Ends everything that is left of the tool and returns what came of it.
fn conclude(
    mut tool: Tool,
    stop: Stop,
    duration: Duration,
    mut limits: Vec<String>,
) -> Result<ToolOutcome, SandboxError> {
    let left = end_all(&mut |pid, status| tool.note_end(pid, status));
    if left > 0 {
        limits.push(format!("processes: {left} could not be ended and may still run"));
    }
    let is_output_over = tool.drain()?;
    let ending = match (tool.failure(), stop, tool.status()) {
        (Some(why), _, _) => ToolEnding::NotStarted(why),
        (None, Stop::TimeIsUp, _) => ToolEnding::Timeout,
        (None, Stop::Over(limit), _) => ToolEnding::Limit(limit),
        (None, _, _) if is_output_over => ToolEnding::Limit(Limit::Output),
        (None, _, Some(status)) => ending(status),
        (None, _, None) => ToolEnding::Signal(Signal::KILL.as_raw()),
    };
    let (stdout, stderr) = tool.output();
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Ok(ToolOutcome { ending, stdout, stderr, duration_ms, limits })
}

/// Returns the outcome of a tool for which there is not even a helper.
fn refuse(error: &SandboxError) -> Result<Option<ToolOutcome>, SandboxError> {
    end_all(&mut |_, _| ());
    if !await_start(&[])? {
        return Ok(None);
    }
    Ok(Some(ToolOutcome {
        ending: ToolEnding::NotStarted(sentence(error.to_string())),
        stdout: Vec::new(),
        stderr: Vec::new(),
        duration_ms: 0,
        limits: Vec::new(),
    }))
}

/// Tells the caller the limits and returns whether it starts the tool.
fn await_start(sentences: &[String]) -> Result<bool, SandboxError> {
    wire::write_note(&mut io::stdout().lock(), &Note::Limits(sentences.to_vec()))
        .map_err(SandboxError::system("write the limits"))?;
    let mut start = [0; wire::START.len()];
    match io::stdin().lock().read_exact(&mut start) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(SandboxError::system("wait for the start")(error)),
    }
}

fn ending(status: WaitStatus) -> ToolEnding {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ToolEnding::Exit(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        (None, Some(signal)) if signal == Signal::XFSZ.as_raw() => ToolEnding::Limit(Limit::FileSize),
        (None, signal) => ToolEnding::Signal(signal.unwrap_or_default()),
    }
}

/// Returns the limits that this stage holds the tool to.
fn watched(limits: &SandboxLimits) -> [String; 4] {
    let interval = LOOK.as_millis();
    [
        format!("time: at most {} ms", limits.time_ms),
        format!("output: at most {} bytes on standard output and standard error together", limits.output),
        format!(
            "memory: at most {} bytes in all processes together, looked at every {interval} ms",
            limits.memory
        ),
        format!(
            "processes: at most {} processes and threads at a time, looked at every {interval} ms",
            limits.processes
        ),
    ]
}

/// How often memory and processes are looked at, when the look itself is quick.
const LOOK: Duration = Duration::from_millis(5);
