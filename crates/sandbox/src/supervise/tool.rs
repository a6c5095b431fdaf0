//! The tool, and before it the helper that becomes it: its process, its pipes, what it says about its limits.

use std::{
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, WaitOptions, WaitStatus, pidfd_open},
};

use crate::{
    ENTER, Request, SandboxError,
    outcome::sentence,
    supervise::capture::Capture,
    wire::{self, Note},
};

/// A started tool.
pub(super) struct Tool {
    pid: Pid,
    /// Becomes readable when the process ends.
    pub(super) ended: OwnedFd,
    /// To and from the helper; the kernel closes its end when the helper becomes the tool.
    control: UnixStream,
    notes: Vec<u8>,
    pub(super) is_control_open: bool,
    pub(super) capture: Capture,
    status: Option<WaitStatus>,
}

impl Tool {
    /// Returns a helper that prepares itself for the request.
    pub(super) fn spawn(request: &Request) -> Result<Self, SandboxError> {
        let (control, theirs) = UnixStream::pair().map_err(SandboxError::system("make a socket"))?;
        // This very executable, also if the file was replaced by a newer one meanwhile.
        let mut child = Command::new("/proc/self/exe")
            .arg0("demur")
            .arg(ENTER)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(SandboxError::system("start the helper"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty());
        let ended = ended.map_err(SandboxError::system("watch the helper"))?;
        wire::write_request(&mut &control, request)
            .map_err(SandboxError::system("hand the request to the helper"))?;
        control.set_nonblocking(true).map_err(SandboxError::system("listen to the helper"))?;
        let capture =
            Capture::new(stdout.map(OwnedFd::from), stderr.map(OwnedFd::from), request.limits.output)
                .map_err(SandboxError::system("listen to the tool"))?;
        Ok(Self { pid, ended, control, notes: Vec::new(), is_control_open: true, capture, status: None })
    }

    /// Returns the limits that the helper has put in force, or nothing if the caller went away before.
    pub(super) fn report(&mut self) -> Result<Option<Vec<String>>, SandboxError> {
        let deadline = Instant::now() + PREPARATION;
        while self.is_control_open && !self.notes.contains(&b'\n') {
            let stdin = io::stdin();
            let mut ready = [
                PollFd::new(&stdin, HANGS_UP),
                PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN),
            ];
            wait(&mut ready, deadline.saturating_duration_since(Instant::now()))?;
            let [caller, helper] = ready.map(|fd| !fd.revents().is_empty());
            if caller {
                return Ok(None);
            }
            if helper {
                self.listen()?;
            } else if Instant::now() >= deadline {
                self.notes = b"{\"failure\":\"the helper took too long to prepare\"}\n".to_vec();
            }
        }
        let limits = self.told().find_map(|note| match note {
            Note::Limits(limits) => Some(limits),
            Note::Failure(_) => None,
        });
        Ok(Some(limits.unwrap_or_default()))
    }

    /// Lets the helper become the tool.
    pub(super) fn start(&mut self) {
        // A helper that is not there any more is seen by whoever watches it.
        let _ = io::Write::write_all(&mut &self.control, wire::START);
    }

    /// Reads what the helper says.
    pub(super) fn listen(&mut self) -> Result<(), SandboxError> {
        let mut bytes = [0; 4096];
        match (&self.control).read(&mut bytes) {
            Ok(0) => self.is_control_open = false,
            Ok(count) => self.notes.extend_from_slice(&bytes[..count]),
            Err(error) if is_passing(&error) => {}
            // The end of a helper that had not read everything.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.is_control_open = false,
            Err(error) => return Err(SandboxError::system("listen to the helper")(error)),
        }
        Ok(())
    }

    /// Returns the end of the control socket that this stage holds.
    pub(super) const fn control(&self) -> &UnixStream {
        &self.control
    }

    /// Waits for every process that has ended, and returns whether the tool is among them.
    pub(super) fn reap(&mut self) -> bool {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            self.note_end(pid, status);
        }
        self.status.is_some()
    }

    /// Keeps how a process ended, if it is the tool.
    pub(super) fn note_end(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.pid {
            self.status = Some(status);
        }
    }

    /// Returns how the process ended, once it has been waited for.
    pub(super) const fn status(&self) -> Option<WaitStatus> {
        self.status
    }

    /// Reads what is left in the pipes; returns whether there is more than there may be.
    pub(super) fn drain(&mut self) -> Result<bool, SandboxError> {
        while self.is_control_open {
            let before = self.notes.len();
            self.listen()?;
            if self.notes.len() == before {
                break;
            }
        }
        self.capture.drain().map_err(SandboxError::system("read what the tool wrote"))
    }

    /// Returns why the tool did not start.
    pub(super) fn failure(&self) -> Option<String> {
        let mut has_limits = false;
        for note in self.told() {
            match note {
                Note::Failure(why) => return Some(sentence(why)),
                Note::Limits(_) => has_limits = true,
            }
        }
        (!has_limits).then(|| "the helper ended before the tool began".to_owned())
    }

    /// Returns what the tool wrote.
    pub(super) fn output(self) -> (Vec<u8>, Vec<u8>) {
        self.capture.into_parts()
    }

    fn told(&self) -> impl Iterator<Item = Note> {
        self.notes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
    }
}

/// Waits until something is ready or the time has passed.
pub(super) fn wait(ready: &mut [PollFd<'_>], time: Duration) -> Result<(), SandboxError> {
    let timeout = time.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let timeout = timeout.map_err(SandboxError::system("tell the time to wait"))?;
    match poll(ready, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(SandboxError::system("wait for the tool")(error)),
    }
}

/// Returns whether there is just nothing to read now.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// The caller has nothing to say after the request but the start, which has its own time; that it goes away is
/// told whatever one listens for.
pub(super) const HANGS_UP: PollFlags = PollFlags::empty();

/// How long the helper may prepare: a folder may be on a disk that does not answer.
const PREPARATION: Duration = Duration::from_secs(10);
