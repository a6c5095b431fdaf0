//! Waits for the end of the tool, or for a reason to end it.

use std::{
    io,
    os::fd::AsFd as _,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags};

use crate::{
    Limit, SandboxError, SandboxLimits,
    supervise::{
        LOOK,
        descendants::descendants,
        memory,
        tool::{HANGS_UP, Tool, wait},
    },
};

/// Why there is nothing more to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The tool has ended.
    Ended,
    /// It took too long.
    TimeIsUp,
    /// It went over a limit.
    Over(Limit),
    /// Nobody wants to know any more.
    CallerLeft,
}

/// Returns the first reason to stop. The tool itself goes on where that reason is not its end.
pub(super) fn watch(tool: &mut Tool, limits: &SandboxLimits, started: Instant) -> Result<Stop, SandboxError> {
    let deadline = started + Duration::from_millis(limits.time_ms);
    let mut next_look = started + LOOK;
    loop {
        let pause = deadline.min(next_look).saturating_duration_since(Instant::now());
        let ready = listen(tool, pause)?;
        if ready.caller {
            return Ok(Stop::CallerLeft);
        }
        if ready.control {
            tool.listen()?;
        }
        if tool.capture.read().map_err(SandboxError::system("read what the tool wrote"))? {
            return Ok(Stop::Over(Limit::Output));
        }
        if ready.ended && tool.reap() {
            return Ok(Stop::Ended);
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(Stop::TimeIsUp);
        }
        if now >= next_look {
            if tool.reap() {
                return Ok(Stop::Ended);
            }
            if let Some(limit) = look(limits) {
                return Ok(Stop::Over(limit));
            }
            // Many processes take long to look at; the tool shall have most of the machine.
            next_look = Instant::now() + LOOK.max(now.elapsed() * 4);
        }
    }
}

/// What there is to react to.
struct Ready {
    caller: bool,
    control: bool,
    ended: bool,
}

/// Waits until there is something to react to, or the time has passed.
fn listen(tool: &Tool, time: Duration) -> Result<Ready, SandboxError> {
    let stdin = io::stdin();
    let mut ready =
        vec![PollFd::new(&stdin, HANGS_UP), PollFd::from_borrowed_fd(tool.ended.as_fd(), PollFlags::IN)];
    if tool.is_control_open {
        ready.push(PollFd::new(tool.control(), PollFlags::IN));
    }
    for stream in [&tool.capture.stdout, &tool.capture.stderr] {
        ready.extend(stream.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    }
    wait(&mut ready, time)?;
    let is_ready = |index: usize| !ready[index].revents().is_empty();
    Ok(Ready { caller: is_ready(0), ended: is_ready(1), control: tool.is_control_open && is_ready(2) })
}

/// Returns the limit that the processes of the tool are over.
fn look(limits: &SandboxLimits) -> Option<Limit> {
    let processes = descendants();
    let tasks: usize = processes.iter().map(|process| process.threads).sum();
    if tasks as u64 > limits.processes {
        return Some(Limit::Processes);
    }
    memory::is_over(&processes, limits.memory).then_some(Limit::Memory)
}
