//! A server started by whoever needs one: detached, so that it outlives its starter and hears none of its signals.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use demur_api::{code::Code, refusal::Refusal};
use demur_desk::{data::DataFolder, durable, error, visible::shell_word};
use demur_server::socket;
use demur_store::contract::StoreError;
use rustix::fs::statvfs;
use serde::Deserialize;

use super::{FolderUser, socket_api::unreachable_server};
use crate::exit::Exit;

/// Starts a server and waits until it answers. Somebody else's server will do.
pub(super) fn start(data: &DataFolder) -> Result<(), Refusal> {
    start_within(data, IN_USE_TIMEOUT)
}

/// The same for whoever can do without: a folder that somebody else has is not waited for as long.
pub(super) fn start_if_free(data: &DataFolder) -> Result<(), Refusal> {
    start_within(data, SHORT_IN_USE_TIMEOUT)
}

fn start_within(data: &DataFolder, in_use_for: Duration) -> Result<(), Refusal> {
    let folder = data.path();
    durable::create_folder(folder).map_err(|error| error::file("create", folder, &error))?;
    let (begun, until) = (Instant::now(), Instant::now() + START_TIMEOUT);
    let mut failed = false;
    loop {
        let (log, before) = open_log(folder)?;
        let mut child = spawn(folder, log)?;
        loop {
            if socket::connect(folder).is_ok() {
                return Ok(());
            }
            if let Some(ended) = child.try_wait().map_err(|error| cannot_start(&error))? {
                let said = last_words(folder, before);
                // Another command has the folder, or another server was faster: it will answer, or go.
                let in_use = ended.success();
                if (!in_use && failed) || begun.elapsed() > in_use_for {
                    return Err(ended_early(&said, ended.code(), in_use, folder));
                }
                // What it failed at may have been half made by another that began at the same moment.
                failed = !in_use;
                break;
            }
            if Instant::now() > until {
                let other = FolderUser::server(folder).filter(|server| server.process != child.id());
                return Err(other.map_or_else(
                    || cannot_start(&"it does not answer"),
                    |server| unreachable_server(folder, server.process),
                ));
            }
            thread::sleep(LOOK_INTERVAL);
        }
        thread::sleep(RETRY_INTERVAL);
    }
}

fn spawn(folder: &Path, log: File) -> Result<Child, Refusal> {
    let program = std::env::current_exe().map_err(|error| cannot_start(&error))?;
    // Absolute: the server lives elsewhere.
    let folder = std::path::absolute(folder).map_err(|error| cannot_start(&error))?;
    Command::new(program)
        // Its errors are for this program: by their code. Everybody can read the arguments of a process, the tools of runs too, but
        // not its environment.
        .args(["--json", "serve", "--detached"])
        .env("DEMUR_DATA", folder)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|error| cannot_start(&error))
}

/// Returns the log of the server, and how long it is. One that has grown large begins anew.
fn open_log(folder: &Path) -> Result<(File, u64), Refusal> {
    let path = log_file(folder);
    let open = || {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        let length = file.metadata()?.len();
        if length <= MAX_LOG_BYTES {
            return Ok((file, length));
        }
        file.set_len(0)?;
        Ok((file, 0))
    };
    open().map_err(|error: std::io::Error| error::file("write", &path, &error))
}

/// Returns where a detached server writes what it has to say.
pub(crate) fn log_file(folder: &Path) -> PathBuf {
    folder.join("server.log")
}

fn last_words(folder: &Path, from: u64) -> String {
    let read = || {
        let mut file = File::open(log_file(folder))?;
        file.seek(SeekFrom::Start(from))?;
        let mut text = String::new();
        file.take(1 << 16).read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    read().unwrap_or_default()
}

fn ended_early(said: &str, code: Option<i32>, in_use: bool, folder: &Path) -> Refusal {
    if in_use {
        if let Some(server) = FolderUser::server(folder) {
            return unreachable_server(folder, server.process);
        }
        let message = "another command owns the data folder and does not let it go";
        return Refusal::new(Code::FolderInUse, message).with_cure("wait until it is done, then try again");
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    if let Some(error) = last.and_then(|line| told(line, code)) {
        return error;
    }
    // On a full disk nothing can be written, not even why.
    if last.is_none() && room(folder) < MIN_FREE_BYTES {
        return StoreError::Full.into();
    }
    let last = last.unwrap_or("it said nothing");
    let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    Refusal::new(Code::ServerEnded, format!("the server ended with {code}: {last}"))
        .with_cure(format!("`tail {}` shows its log", shell_word(&log_file(folder))))
}

/// Returns the error that a server ended with, as its own last line says it.
fn told(line: &str, code: Option<i32>) -> Option<Refusal> {
    #[derive(Deserialize)]
    struct Document {
        error: Body,
    }
    #[derive(Deserialize)]
    struct Body {
        code: String,
        field: Option<String>,
        hint: Option<String>,
        message: String,
    }
    let Document { error: Body { code: text, field, hint, message } } = serde_json::from_str(line).ok()?;
    Exit::ALL.into_iter().find(|exit| Some(i32::from(exit.code())) == code)?;
    // A status tells two codes of one text apart, and none came.
    let code = Code::read(&text)?;
    let cure = hint.unwrap_or_else(|| "`demur serve` in another terminal shows more".to_owned());
    Some(Refusal { field, ..Refusal::new(code, message).with_cure(cure) })
}

/// Returns how many bytes can still be written below a folder.
fn room(folder: &Path) -> u64 {
    statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn cannot_start(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::ServerTrouble, format!("cannot start a server: {error}"))
        .with_cure("`demur serve` in another terminal shows why")
}

/// How long a server may take to answer.
const START_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a folder that somebody else has is waited for; shorter than a server may take, so that this is what is said.
const IN_USE_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for whoever can do without a server.
const SHORT_IN_USE_TIMEOUT: Duration = Duration::from_secs(1);
/// How often it is tried.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// How long to wait before a folder that is in use is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// Less room than a store needs to begin, in bytes.
const MIN_FREE_BYTES: u64 = 1 << 16;
/// How large the log grows before it begins anew.
const MAX_LOG_BYTES: u64 = 4 << 20;
