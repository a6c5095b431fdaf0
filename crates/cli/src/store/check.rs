//! `demur store check`: the files of a store, then every trace as the verifier sees its export. A trace that does not
//! hold is marked as failed, and nothing is added to it any more (LED-18). Nothing is ever repaired here.

use std::sync::Arc;

use demur_api::code::Class;
use demur_core::visible::visible;
use demur_ledger::{
    name::TraceId,
    verify::{Options, Report, Severity, Verdict},
};
use demur_sequencer::Sequencer;
use demur_store::{
    contract::{Store as _, StoreError},
    sqlite::SqliteStore,
};
use serde::Serialize;

use super::{Size, problem::Problem, tell};
use crate::{
    audit::{audit, threads},
    borrow,
    context::Context,
    data::DataFolder,
    exit::Exit,
    failure::Failure,
    keystore::Keystore,
    output::{Paint, Progress, Reply, counted, percent},
    owner::open_ledger,
    world::World,
};

/// Checks the store.
pub(super) fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let data = context.data()?;
    if !data.has_store()? {
        return Err(data.no_keys().into());
    }
    let mut progress = Progress::new(context.output.is_watched());
    let checked = check(&data, &mut progress);
    progress.clear();
    let (problems, marked, size) = checked?;
    let data = data.path().to_string_lossy().into_owned();
    let exit = match &problems[..] {
        [] => Exit::Success,
        // Nothing is known to be wrong.
        problems if problems.iter().all(Problem::is_newer) => Exit::Refused,
        _ => Exit::VerificationFailed,
    };
    context.output.reply(&CheckReply { data, marked, problems, size })?;
    Ok(exit)
}

type Checked = (Vec<Problem>, Vec<TraceId>, Size);

fn check(data: &DataFolder, progress: &mut Progress) -> Result<Checked, Failure> {
    let opened = borrow::borrowed(data, || match SqliteStore::open(data.path()) {
        Err(error @ StoreError::Corrupt { .. }) => Ok(Err(error)),
        opened => Ok(Ok(opened?)),
    })?;
    let store = match opened {
        // So damaged that it does not open: that is what was asked. No trace is judged by what can be read of it.
        Err(error) => return Ok((damage(data, error, progress), Vec::new(), Size::default())),
        Ok(store) => store,
    };
    let found = store.check(&mut |step| tell(progress, step))?;
    let mut problems = Problem::all_of_files(&found);
    let Some(size) = readable(Size::of(&store), &mut problems)? else {
        return Ok((problems, Vec::new(), Size::default()));
    };
    if store.registry()?.is_none() {
        return Ok((problems, Vec::new(), size));
    }
    let world = World::open()?;
    let ledger = match open_ledger(&Keystore::of(data), |find| {
        Sequencer::read(Arc::new(store), find, Box::new(world))
    }) {
        Err(error) if error.code.class() == Class::Ours => return Err(error.into()),
        Err(error) => {
            problems.push(Problem::of_opening(&error.into()));
            return Ok((problems, Vec::new(), size));
        }
        Ok(ledger) => ledger,
    };
    let marked = check_traces(&ledger, size, &mut problems, progress)?;
    Ok((problems, marked, size))
}

/// Returns what is wrong with a store that does not open.
fn damage(data: &DataFolder, error: StoreError, progress: &mut Progress) -> Vec<Problem> {
    let found = SqliteStore::open_to_mend(data.path())
        .and_then(|store| store.check(&mut |step| tell(progress, step)));
    let mut problems = Problem::all_of_files(&found.unwrap_or_default());
    if problems.is_empty() {
        problems.push(Problem::of_opening(&Failure::from(error).with_hint(UNREADABLE)));
    }
    problems
}

/// Returns what a damaged database may still give; that it does not is a problem among the others.
fn readable<T>(read: Result<T, StoreError>, problems: &mut Vec<Problem>) -> Result<Option<T>, Failure> {
    match read {
        Err(error @ StoreError::Corrupt { .. }) => {
            if problems.is_empty() {
                problems.push(Problem::of_opening(&Failure::from(error).with_hint(UNREADABLE)));
            }
            Ok(None)
        }
        other => Ok(Some(other?)),
    }
}

/// Verifies every trace, the registry first: where that does not hold, nothing can be said about the others.
fn check_traces(
    ledger: &Sequencer,
    size: Size,
    problems: &mut Vec<Problem>,
    progress: &mut Progress,
) -> Result<Vec<TraceId>, Failure> {
    let registry = ledger.registry().trace();
    if !check_trace(ledger, registry, problems, &mut |_| ())? {
        return Ok(vec![registry]);
    }
    let (mut marked, mut done) = (Vec::new(), 0);
    for (trace, head) in ledger.store().heads()? {
        let mut tell = |events: u64| {
            progress.tell(|| format!("verifying traces, {} %", percent(done + events, size.events)));
        };
        if trace != registry && !check_trace(ledger, trace, problems, &mut tell)? {
            marked.push(trace);
        }
        done += head.sequence.next().number();
    }
    Ok(marked)
}

/// Verifies one trace, and marks it if it does not hold. What a newer version wrote is told and not marked.
fn check_trace(
    ledger: &Sequencer,
    trace: TraceId,
    problems: &mut Vec<Problem>,
    tell: &mut (dyn FnMut(u64) + Send),
) -> Result<bool, Failure> {
    let options = Options { threads: threads(), ..Options::default() };
    let found = match audit(ledger, trace, &options, tell)? {
        Ok(report) => match (first_failure(trace, &report), ledger.check_head(trace)) {
            (None, Err(error)) => Some(Problem::of_export(trace, error)?),
            (failure, _) => failure,
        },
        Err(error) => Some(Problem::of_export(trace, error)?),
    };
    let Some(problem) = found else {
        let before = ledger.store().trace(trace)?.and_then(|summary| summary.failed);
        problems.extend(before.map(|failure| Problem::of_mark(trace, &failure)));
        return Ok(true);
    };
    let holds = problem.is_newer();
    if !holds {
        ledger.store().mark_failed(trace, &problem.failure())?;
    }
    if !problems.iter().any(|known| known.is_about(&problem)) {
        problems.push(problem);
    }
    Ok(holds)
}

fn first_failure(trace: TraceId, report: &Report) -> Option<Problem> {
    let failed = report.verdict == Verdict::Fail;
    let first = report.findings.iter().find(|finding| failed && finding.severity == Severity::Failure)?;
    Some(Problem::of_trace(trace, first))
}

#[derive(Serialize)]
struct CheckReply {
    data: String,
    /// Traces that do not hold and were marked as failed, now or before.
    marked: Vec<TraceId>,
    problems: Vec<Problem>,
    size: Size,
}

impl Reply for CheckReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        for problem in &self.problems {
            lines.push(format!("{} {}", paint.bad(&problem.code), visible(&problem.cause)));
            lines.push(format!("    cure: {}", visible(&problem.cure)));
        }
        for trace in &self.marked {
            lines.push(format!("Trace {trace} is marked as failed: nothing is added to it any more."));
        }
        let words = self.size.words();
        lines.push(match self.problems.len() {
            0 => format!("{} {words}, files and signatures.", paint.good("All of it holds:")),
            count => format!("{} among {words}.", counted(count, "problem")),
        });
        lines
    }
}

const UNREADABLE: &str = "keep these files, and restore a backup with `demur store restore --replace`";
