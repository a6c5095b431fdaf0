//! The folder of a run: the files it was started with, so that it can go on without them, and the folder its tools work
//! in. `runs/TRACE/` in the data folder, except for what the tools see: that lies elsewhere, and a link leads there. The record says
//! which files it was started with, by their hashes.

use std::{
    fmt::Display,
    fs::{self, File, TryLockError},
    io::Read as _,
    os::unix::fs::symlink,
    path::{Component, Path, PathBuf},
};

use demur_api::{
    code::Code,
    run::{RunOrders, RunOrigin},
};
use demur_core::hash::sha256;
use demur_desk::{data::DataFolder, durable, visible::visible_path};
use demur_ledger::name::TraceId;
use demur_run::{Orders, OrdersError, policy::Policy, task::Task};

use super::tools;
use crate::{client::process_with, failure::Failure};

/// The folder of a run.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
}

/// The two files of a run as they were written, and where the task was.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) task: String,
    pub(super) policy: String,
    /// A line for each file of the task: its hash and its name.
    pub(super) files: String,
    pub(super) home: PathBuf,
}

impl Texts {
    /// Reads the files that somebody starts a run with.
    pub(super) fn read(task: &Path, policy: Option<&Path>) -> Result<Self, Failure> {
        let text = read(task)?;
        let parsed = Task::parse(&text).map_err(|error| wrong(task, &error))?;
        let home = task.parent().filter(|home| !home.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let home = home.canonicalize().map_err(|error| Failure::unreadable(home, &error))?;
        let beside = match (policy, &parsed.policy) {
            (Some(policy), _) => policy.to_owned(),
            (None, Some(name)) => inside(&home, name).ok_or_else(|| {
                let message = format!("{}: policy: expected a file beside the task", visible_path(task));
                Failure::input("TASK_INVALID", message)
            })?,
            (None, None) => {
                let message = format!("expected a policy, found none named in {}", visible_path(task));
                return Err(Failure::input("POLICY_MISSING", message)
                    .with_hint("name one with --policy FILE, or in the task file with policy = \"FILE\""));
            }
        };
        let policy = read(&beside)?;
        let demanded = Policy::parse(&policy).map_err(|error| wrong(&beside, &error))?;
        tools::limits(&demanded.limits).map_err(|error| {
            Failure::input("TASK_INVALID", format!("{}: limits: {error}", visible_path(&beside)))
        })?;
        let mut files = String::new();
        for name in &parsed.files {
            let bytes = read_file(&inside(&home, name).ok_or_else(|| outside(name))?)?;
            files = format!("{files}{} {name}\n", sha256(&bytes));
        }
        Ok(Self { task: text, policy, files, home })
    }

    /// Returns what they say.
    pub(super) fn orders(&self) -> Result<Orders, Failure> {
        Orders::read(&self.task, &self.policy, &self.files).map_err(|error| match error {
            OrdersError::Task(error) => wrong(Path::new(TASK), &error),
            OrdersError::Policy(error) => wrong(Path::new(POLICY), &error),
            OrdersError::PolicyLimit(error) => wrong(Path::new(POLICY), &error),
            OrdersError::Condition(error) => wrong(Path::new(POLICY), &error),
            OrdersError::Write(error) => error.into(),
        })
    }

    /// Returns them as the server takes them.
    pub(super) fn to_orders(&self) -> RunOrders {
        RunOrders { task: self.task.clone(), policy: self.policy.clone(), files: self.files.clone() }
    }
}

impl RunFolder {
    /// Makes the folder of a new run, with copies of everything it needs. Its tools will work in `work`.
    pub(super) fn create(
        data: &DataFolder,
        (trace, origin): (TraceId, RunOrigin),
        (texts, task): (&Texts, &Task),
        work: &Path,
    ) -> Result<Self, Failure> {
        let folder = Self { path: runs(data).join(trace.to_string()) };
        let unusable = |path: &Path, error| Failure::file("write", path, &error);
        for name in &task.files {
            let from = inside(&texts.home, name).ok_or_else(|| outside(name))?;
            let to = inside(work, name).ok_or_else(|| outside(name))?;
            copy(&from, &to)?;
        }
        durable::create_folder(&folder.path).map_err(|error| unusable(&folder.path, error))?;
        symlink(work, folder.work()).map_err(|error| unusable(&folder.work(), error))?;
        let home = texts.home.to_string_lossy();
        let origin = serde_json::to_string(&origin).map_err(|error| Failure::bug(&error))?;
        // The task comes last, and at once: a folder with a task is whole.
        for (name, text) in [
            (POLICY, &*texts.policy),
            (FILES, &*texts.files),
            (HOME, &*home),
            (ORIGIN, &*origin),
            (TASK, &*texts.task),
        ] {
            let path = folder.path.join(name);
            durable::replace(&path, text.as_bytes()).map_err(|error| unusable(&path, error))?;
        }
        Ok(folder)
    }

    /// Returns the folder of a run that was started here.
    pub(super) fn open(data: &DataFolder, trace: TraceId) -> Result<Self, Failure> {
        let folder = Self { path: runs(data).join(trace.to_string()) };
        if folder.path.join(TASK).is_file() {
            return Ok(folder);
        }
        let message = format!("expected a run that was started here, found none with the trace {trace}");
        Err(Failure::input("RUN_UNKNOWN", message).with_hint("`demur run status` shows the newest"))
    }

    /// Takes the folder for as long as the file is open. No two processes work in it at once, and the system lets it go when
    /// its process ends: a process that gets it knows that every earlier one has ended.
    pub(super) fn take(&self, trace: TraceId) -> Result<File, Failure> {
        let unusable = |error| Failure::file("use", &self.path, &error);
        let folder = File::open(&self.path).map_err(unusable)?;
        match folder.try_lock() {
            Ok(()) => Ok(folder),
            Err(TryLockError::WouldBlock) => {
                let other = self.driver().map_or("another process".to_owned(), |id| format!("process {id}"));
                let message =
                    format!("expected a run that nobody is running now, found {other}, which runs {trace}");
                Err(Failure::of(Code::RunClaimed, message)
                    .with_hint("wait until it has ended, or stop it with Ctrl-C"))
            }
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    /// Returns the process that drives the run now, where there is one and the system says which.
    pub(super) fn driver(&self) -> Option<u32> {
        process_with(&self.path)
    }

    /// Returns the runs that were started here, the newest first.
    pub(super) fn all(data: &DataFolder) -> Vec<TraceId> {
        let entries = fs::read_dir(runs(data)).into_iter().flatten().flatten();
        let whole = entries.filter(|entry| entry.path().join(TASK).is_file());
        let mut traces: Vec<TraceId> =
            whole.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        traces.sort_unstable_by(|left, right| right.cmp(left));
        traces
    }

    /// Returns what the run was started with.
    pub(super) fn texts(&self) -> Result<Texts, Failure> {
        let read = |name: &str| read(&self.path.join(name));
        let (task, policy, files) = (read(TASK)?, read(POLICY)?, read(FILES)?);
        Ok(Texts { task, policy, files, home: PathBuf::from(read(HOME)?) })
    }

    /// Returns where the run began.
    pub(super) fn origin(&self) -> Result<RunOrigin, Failure> {
        let path = self.path.join(ORIGIN);
        serde_json::from_str(&read(&path)?).map_err(|error| {
            let message = format!("{}: expected the store of a run, found: {error}", visible_path(&path));
            Failure::of(Code::FileMalformed, message).with_hint(ORIGIN_LOST)
        })
    }

    /// Returns where its tools work.
    pub(super) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// Writes the auditor's report, whose hash is in the record.
    pub(super) fn keep_report(&self, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.path.join("report.json");
        durable::replace(&path, bytes).map_err(|error| Failure::file("write", &path, &error))?;
        Ok(path)
    }
}

fn runs(data: &DataFolder) -> PathBuf {
    data.path().join("runs")
}

fn read(path: &Path) -> Result<String, Failure> {
    let unreadable = |error| Failure::unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let before = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..before].split(|byte| *byte == b'\n').count();
        wrong(path, &format!("line {line}: expected UTF-8, found other bytes"))
    })
}

fn wrong(path: &Path, error: &dyn Display) -> Failure {
    Failure::input("TASK_INVALID", format!("{}: {error}", visible_path(path)))
        .with_hint("docs/run.md describes the file")
}

fn outside(name: &str) -> Failure {
    let message = format!("files: expected the name of a file beside the task, found {name:?}");
    Failure::input("TASK_INVALID", message)
}

/// Returns the path of a name inside a folder: relative, and never upwards.
fn inside(folder: &Path, name: &str) -> Option<PathBuf> {
    let name = Path::new(name);
    let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    (plain && name.components().next().is_some()).then(|| folder.join(name))
}

/// Returns the bytes of a file of the task. What a link leads to is not beside the task.
fn read_file(from: &Path) -> Result<Vec<u8>, Failure> {
    let metadata = from.symlink_metadata().map_err(|error| Failure::unreadable(from, &error))?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        let (most, shown) = (MAX_FILE_BYTES >> 20, visible_path(from));
        let message = format!("files: expected a file of at most {most} MiB, found something else: {shown}");
        return Err(Failure::input("TASK_INVALID", message));
    }
    fs::read(from).map_err(|error| Failure::unreadable(from, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let bytes = read_file(from)?;
    if let Some(parent) = to.parent() {
        durable::create_folder(parent).map_err(|error| Failure::file("make", parent, &error))?;
    }
    durable::create(to, &bytes).map_err(|error| Failure::file("write", to, &error))
}

const TASK: &str = "task.toml";
const POLICY: &str = "policy.toml";
const FILES: &str = "files";
const HOME: &str = "home";
const ORIGIN: &str = "origin.json";
const ORIGIN_LOST: &str = "this run cannot go on: start it anew with `demur run --task FILE`";
/// More than any task file may have: the reader of the format says how long it is.
const MAX_TEXT_BYTES: u64 = 8 << 20;
/// How large a file of a task may be.
const MAX_FILE_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_their_folder() {
        let folder = Path::new("/work");
        assert_eq!(inside(folder, "a/b.txt"), Some("/work/a/b.txt".into()));
        for name in ["", "..", "../a", "a/../../b", "/etc/passwd", "."] {
            assert_eq!(inside(folder, name), None, "{name}");
        }
    }
}
