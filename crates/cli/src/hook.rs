//! `demur hook`: the hooks of programs in which agents run. Before a tool call: it is refused while a question or a gap of
//! this session is open that blocks it (CLR-62, at the tools of a client), also with the server killed, hung or missing.
//! At the other moments: answers that the session has not seen yet.

mod gate;
mod news;
mod operations;
mod release;
pub(crate) mod session;
mod words;

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read as _, Write as _},
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    panic::{self, AssertUnwindSafe},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use demur_core::visible::visible;
use demur_desk::data::DataFolder;
use serde::Deserialize;
use serde_json::{Value, json};

use self::{session::SessionId, words::Tool};
use crate::{
    arguments::{HookCommand, HookOptions},
    context::Context,
    exit::Exit,
    failure::Failure,
};

/// Answers a hook. Whatever the disk, the server or the other side does, a tool call is decided in time.
pub(crate) fn run(context: &mut Context<'_>, command: &HookCommand) -> Result<Exit, Failure> {
    let HookCommand::ClaudeCode(options) = command;
    let broken =
        |_| Reply::Stopped("demur: refused: the hook broke. A person runs `demur doctor`.".to_owned());
    let reply = panic::catch_unwind(AssertUnwindSafe(|| decide(context, options))).unwrap_or_else(broken);
    match reply {
        Reply::Silent => Ok(Exit::Success),
        Reply::Refused(event, reason) => {
            let decision = json!({
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            });
            // A refusal that nobody hears would let the call pass.
            match heard_by_client(&document(&decision)) {
                Ok(()) => Ok(Exit::Success),
                Err(_) => Ok(stop(context, &reason)),
            }
        }
        Reply::News(event, words) => {
            let news = json!({ "hookEventName": event, "additionalContext": words });
            context.output.write(&document(&news)).map(|()| Exit::Success)
        }
        Reply::Stopped(words) => Ok(stop(context, &words)),
    }
}

/// Returns the reply. Whatever breaks here must not look like a hook that has nothing to say.
fn decide(context: &Context<'_>, options: &HookOptions) -> Reply {
    let until = Instant::now() + DECISION_TIMEOUT;
    let (sender, receiver) = mpsc::channel();
    let (data, worker) = (context.data(), options.clone());
    let begun = thread::Builder::new().spawn(move || work(data, &worker, &sender));
    match begun {
        Ok(_) => heard(&receiver, until),
        Err(error) => Reply::Stopped(format!("demur: refused: the hook cannot work: {error}")),
    }
}

/// To Claude Code 2 is a refusal or a call to wake up, so no other exit code will do.
fn stop(context: &Context<'_>, words: &str) -> Exit {
    context.output.error_text(words, words);
    Exit::BadInput
}

fn document(output: &Value) -> Vec<u8> {
    format!("{}\n", json!({ "hookSpecificOutput": output })).into_bytes()
}

/// Writes to standard output, and fails where nobody reads it. The runtime puts the null device in the place of an output that
/// is closed, and takes one that cannot be written to for one that was written to.
fn heard_by_client(bytes: &[u8]) -> io::Result<()> {
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    if output.metadata()?.rdev() == fs::metadata("/dev/null")?.rdev() {
        return Err(ErrorKind::NotConnected.into());
    }
    output.write_all(bytes)
}

/// What a hook says.
enum Reply {
    /// Nothing: the client goes on.
    Silent,
    /// The tool call of this event is refused, and why.
    Refused(&'static str, String),
    /// What the agent is told with this event.
    News(String, String),
    /// What the client takes for a refusal, or for a call to wake up.
    Stopped(String),
}

/// What the thread that may hang says.
enum Progress {
    /// What was read: the tool that is about to be called, or none.
    Read(Option<Called>),
    Done(Reply),
}

struct Called {
    name: String,
    /// Asking and looking at questions is never refused: that is the way out.
    own: bool,
}

/// Returns the reply of the thread; where it is late, whatever is safe.
fn heard(receiver: &Receiver<Progress>, until: Instant) -> Reply {
    let next = || receiver.recv_timeout(until.saturating_duration_since(Instant::now()));
    let called = match next() {
        Ok(Progress::Read(called)) => called,
        Ok(Progress::Done(reply)) => return reply,
        Err(_) => return Reply::Stopped(format!("demur: refused: {NO_END}")),
    };
    let Some(called) = called else {
        // Nothing is held up: this may take its time.
        return match receiver.recv() {
            Ok(Progress::Done(reply)) => reply,
            _ => Reply::Silent,
        };
    };
    match next() {
        Ok(Progress::Done(reply)) => reply,
        _ if called.own => Reply::Silent,
        _ => Reply::Refused(BEFORE_TOOL, gate::in_doubt(&called.name, IN_TIME)),
    }
}

fn work(data: Result<DataFolder, Failure>, options: &HookOptions, sender: &Sender<Progress>) {
    // Nobody listens any more once it is too late.
    let done = |reply| drop(sender.send(Progress::Done(reply)));
    let input = match read() {
        Ok(input) => input,
        Err(error) => return done(Reply::Stopped(visible(&format!("demur: refused: {error}")).to_string())),
    };
    if input.hook_event_name != BEFORE_TOOL {
        drop(sender.send(Progress::Read(None)));
        let told = data.map(|data| news::tell(&data, options, &input));
        return done(told.unwrap_or(Reply::Silent));
    }
    let Some(name) = input.tool_name.clone() else {
        return done(Reply::Stopped("demur: refused: expected the name of a tool, found none".to_owned()));
    };
    let tool = Tool { name: &name, input: &input.argument };
    let own = tool.is_own(&options.server);
    drop(sender.send(Progress::Read(Some(Called { name: name.clone(), own }))));
    let refused = data.and_then(|data| gate::refusal(&data, options, &tool, session_of(&input).as_ref()));
    done(match refused {
        Ok(None) => Reply::Silent,
        _ if own => Reply::Silent,
        Ok(Some(reason)) => Reply::Refused(BEFORE_TOOL, reason),
        Err(error) => Reply::Refused(BEFORE_TOOL, gate::in_doubt(&name, &error.to_string())),
    });
}

/// What Claude Code says; the rest of it does not matter here.
#[derive(Deserialize)]
struct Input {
    hook_event_name: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    #[serde(rename = "tool_input")]
    argument: Value,
    /// Whether the turn goes on already because a hook said so.
    #[serde(default)]
    stop_hook_active: bool,
}

fn session_of(input: &Input) -> Option<SessionId> {
    input.session_id.as_deref().and_then(SessionId::new)
}

fn read() -> Result<Input, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| Failure::input("INPUT_UNREADABLE", format!("cannot read standard input: {error}")))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("expected the JSON of a hook on standard input, found something else: {error}");
        Failure::input("HOOK_MALFORMED", message)
    })
}

/// The event before a tool call.
const BEFORE_TOOL: &str = "PreToolUse";
/// How long a decision takes at most; the rest of the 2 s is for starting and ending. `bench mcp` measures the whole.
const DECISION_TIMEOUT: Duration = Duration::from_millis(1800);
const IN_TIME: &str = "nothing could be found out within 2 s";
const NO_END: &str = "expected the hook's input within 2 s, found no end of it";
/// No tool call is longer.
const MAX_INPUT_BYTES: u64 = 64 << 20;
