//! An agent in a process of its own: what happens is written to it, what it says is read from it, and it has its turn
//! for as long as the task allows (`docs/agents.md`).

use std::{
    io::{BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError},
    },
    thread,
    time::{Duration, Instant},
};

use demur_core::limit::Text;
use demur_run::{
    line::{FromAgent, Hello, LineError, read_line},
    task::Player,
};

/// A running agent.
#[derive(Debug)]
pub(super) struct Agent {
    child: Child,
    incoming: Receiver<Result<FromAgent, LineError>>,
    outgoing: Option<Sender<Vec<u8>>>,
    backlog: Arc<Backlog>,
    timeout: Duration,
    /// Who it is, in which run: what it was greeted with.
    pub(super) hello: Hello,
    /// How many events it was told.
    pub(super) told: u64,
    /// How many events there were when its last turn ended.
    pub(super) rested: Option<u64>,
    /// How many turns it had.
    pub(super) turns: usize,
    /// How many bytes of artifacts it stored.
    pub(super) stored: usize,
}

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum AgentError {
    #[error("it could not be started: {0}")]
    NotStarted(std::io::Error),
    #[error("it did not finish its turn within {} seconds", .0.as_secs_f64())]
    Stalled(Duration),
    #[error("it stopped in the middle of the run")]
    Gone,
    #[error("it said something that is no line of the protocol: {0}")]
    Line(LineError),
    #[error("it spoke although it was not its turn")]
    OutOfTurn,
    #[error("it spoke more than {0} times in one turn")]
    Talks(usize),
    #[error("it was refused {0} times in one turn")]
    Insists(usize),
    #[error("it had {0} turns, and the run has not ended")]
    Lingers(usize),
    #[error("it stored more than {0} bytes of artifacts in one run")]
    Hoards(usize),
}

/// Bytes that the agent has not read yet.
#[derive(Debug, Default)]
struct Backlog {
    bytes: Mutex<usize>,
    shrunk: Condvar,
}

impl Agent {
    /// Starts an agent beside the task file.
    pub(super) fn start(player: &Player, hello: Hello, home: &Path) -> Result<Self, AgentError> {
        let mut words = player.command.iter().map(Text::as_str);
        let mut child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(AgentError::NotStarted)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(AgentError::Gone) };
        let backlog = Arc::new(Backlog::default());
        let timeout = player.timeout.map_or(TURN_TIMEOUT, |timeout| Duration::from_millis(timeout.0));
        let (incoming, outgoing) = (listen(stdout), speak(stdin, Arc::clone(&backlog)));
        let outgoing = Some(outgoing);
        let (told, rested, turns, stored) = (0, None, 0, 0);
        Ok(Self { child, incoming, outgoing, backlog, timeout, hello, told, rested, turns, stored })
    }

    /// Returns when a turn that begins now must be over.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Writes a line to it, waiting while it has too much to read.
    pub(super) fn send(&self, line: Vec<u8>, deadline: Instant) -> Result<(), AgentError> {
        let mut waiting = self.backlog.lock();
        while *waiting > MAX_UNREAD_BYTES {
            let left = deadline.saturating_duration_since(Instant::now());
            let (again, waited) =
                self.backlog.shrunk.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner);
            waiting = again;
            if waited.timed_out() {
                return Err(AgentError::Stalled(self.timeout));
            }
        }
        *waiting += line.len();
        drop(waiting);
        self.outgoing.as_ref().and_then(|outgoing| outgoing.send(line).ok()).ok_or_else(|| self.gone())
    }

    /// Returns why an agent no longer listens: one that said something wrong was not heard any further.
    fn gone(&self) -> AgentError {
        match self.incoming.try_recv() {
            Ok(Err(error)) => AgentError::Line(error),
            _ => AgentError::Gone,
        }
    }

    /// Checks that it said nothing before its turn.
    pub(super) fn expect_silence(&self) -> Result<(), AgentError> {
        match self.incoming.try_recv() {
            Err(TryRecvError::Empty) => Ok(()),
            Ok(Ok(_)) => Err(AgentError::OutOfTurn),
            Ok(Err(error)) => Err(AgentError::Line(error)),
            Err(TryRecvError::Disconnected) => Err(AgentError::Gone),
        }
    }

    /// Returns the next thing it says.
    pub(super) fn hear(&self, deadline: Instant) -> Result<FromAgent, AgentError> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.incoming.recv_timeout(left) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => Err(AgentError::Line(error)),
            Err(RecvTimeoutError::Timeout) => Err(AgentError::Stalled(self.timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(AgentError::Gone),
        }
    }

    /// Lets it read the end and stop by itself.
    fn dismiss(&mut self) {
        self.outgoing = None;
        let deadline = Instant::now() + FAREWELL_TIMEOUT;
        // Its output ends when it does; whatever it still says is of no interest.
        while self.hear(deadline).is_ok() {}
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.dismiss();
        // It had its time: whoever does not stop is stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Backlog {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads lines in a thread, so that whoever waits for one can stop waiting.
fn listen(stdout: ChildStdout) -> Receiver<Result<FromAgent, LineError>> {
    // Few wait here: an agent that goes on talking waits for its own output to be read.
    let (sender, receiver) = mpsc::sync_channel(4);
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        while let Some(line) = read_line(&mut reader).transpose() {
            let heard = line.and_then(|line| FromAgent::parse(&line));
            let over = heard.is_err();
            if sender.send(heard).is_err() || over {
                return;
            }
        }
    });
    receiver
}

/// Writes lines in a thread, so that an agent that does not read holds up nobody.
fn speak(mut stdin: ChildStdin, backlog: Arc<Backlog>) -> Sender<Vec<u8>> {
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for line in receiver {
            let written = stdin.write_all(&line).and_then(|()| stdin.flush());
            *backlog.lock() -= line.len();
            backlog.shrunk.notify_all();
            if written.is_err() {
                // Nobody waits for an agent that no longer reads.
                *backlog.lock() = 0;
                backlog.shrunk.notify_all();
                return;
            }
        }
    });
    sender
}

/// How long a turn may take where the task does not say.
const TURN_TIMEOUT: Duration = Duration::from_mins(1);
/// How long an agent may take to hear of the end, and to stop after it.
pub(super) const FAREWELL_TIMEOUT: Duration = Duration::from_secs(5);
/// How much an agent may leave unread.
const MAX_UNREAD_BYTES: usize = 64 << 20;
