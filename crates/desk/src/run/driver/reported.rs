//! What a client reports, held against the record: which tool ended, which were lost, and what makes no sense.

use std::{collections::BTreeSet, fmt::Display};

use demur_api::{
    code::Code,
    refusal::Refusal,
    run::{DriveReport, ToolReport},
};
use demur_ledger::name::Sequence;
use demur_run::{
    Orders,
    history::{History, Intended},
    role::Report,
};

use super::cast::{Cast, Playing};

/// What became of the tools whose starts are on record.
pub(super) struct Reported {
    /// How the tool ended, if its end is not on record yet.
    pub(super) ended: Option<Report>,
    /// The starts whose ends nobody will report.
    pub(super) lost: BTreeSet<Sequence>,
}

impl Reported {
    /// Takes what a client says of its tools out of its report. A report that does not fit the run is refused: nothing of it
    /// is recorded.
    pub(super) fn take(
        report: &mut DriveReport,
        (orders, cast): (&Orders, &Cast),
        history: &History,
    ) -> Result<Self, Refusal> {
        check_turn(report, cast)?;
        check_limits(report)?;
        let call = |intent: &Intended| orders.plan.call_with(intent.input_hash.as_ref()?);
        let open = || history.intents.values().filter(|intent| intent.ended.is_none());
        let mut lost: BTreeSet<Sequence> = open().filter_map(|intent| intent.started).collect();
        // Its start was recorded, and the client was not told: it did not run.
        let is_ready = |intent: &Intended| report.ready.iter().any(|tool| Some(&*tool.call) == call(intent));
        lost.retain(|started| !open().any(|intent| intent.started == Some(*started) && is_ready(intent)));
        let mut ended = None;
        if let Some(tool) = report.ended.take()
            && let Some(intent) = open().find(|intent| intent.started == Some(tool.started))
        {
            check_ended(&tool, call(intent))?;
            lost.remove(&tool.started);
            ended = Some(read_report(tool));
        }
        Ok(Self { ended, lost })
    }
}

/// Only an agent in a process of its own has turns that a client can tell of.
fn check_turn(report: &DriveReport, cast: &Cast) -> Result<(), Refusal> {
    match report.turn.as_ref().map(|turn| turn.role) {
        Some(role) if !matches!(cast.playing(role), Some(Playing::Separate(_))) => {
            let message = format!("expected a role that an agent of its own plays in this run, found {role}");
            Err(malformed("turn.role", message))
        }
        _ => Ok(()),
    }
}

fn check_limits(report: &DriveReport) -> Result<(), Refusal> {
    if report.ready.iter().any(|tool| tool.limits.iter().any(String::is_empty)) {
        return Err(malformed("ready.limits", "expected a line of text for each limit, found an empty one"));
    }
    Ok(())
}

/// Who reports the end of another tool than the one that was started does not know what ran.
fn check_ended(tool: &ToolReport, started: Option<&str>) -> Result<(), Refusal> {
    if started != Some(&*tool.call) {
        let started = started.unwrap_or("a call that is not in the task");
        let message = format!("expected the end of {started}, which event {} starts", tool.started);
        return Err(malformed("ended.call", format!("{message}, found that of another call")));
    }
    // A tool that ended so has not done what it was to do, whatever its client calls it.
    if let (None, Some(status @ 1..)) = (tool.failure, tool.exit_status) {
        let message = format!("expected exit status 0 of a tool that completed, found {status}");
        return Err(malformed("ended.exit_status", message));
    }
    if tool.duration > MAX_DURATION_MILLIS {
        let message = format!("expected at most {MAX_DURATION_MILLIS} ms, found {}", tool.duration);
        return Err(malformed("ended.duration", message));
    }
    Ok(())
}

fn malformed(field: &'static str, message: impl Display) -> Refusal {
    Refusal::new(Code::Malformed, message).about(field)
}

fn read_report(report: ToolReport) -> Report {
    let ToolReport { call, failure, exit_status, duration, stdout, stderr, note, .. } = report;
    // No event can hold a note without words.
    let note = note.filter(|note| !note.is_empty());
    Report { call, failure, exit_status, duration, stdout: stdout.0, stderr: stderr.0, note }
}

/// How long a tool takes at most, as far as an event can say.
const MAX_DURATION_MILLIS: u64 = (1 << 53) - 1;
