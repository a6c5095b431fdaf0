//! `demur run status`: where a run stands, and what it waits for.

use demur_api::{code::Code, confirmation::ConfirmationId};
use demur_core::visible::visible;
use demur_desk::data::DataFolder;
use demur_ledger::{
    confirmation::ConfirmationOutcome,
    facts::VerificationStatus,
    name::{Sequence, TraceId},
    state::Phase,
};
use demur_run::history::History;
use serde::Serialize;

use super::{
    check_origin,
    folder::RunFolder,
    reply::{ClaimLine, ToolCount},
};
use crate::{
    arguments::StatusRun,
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup::{self, TypedId},
    output::{Paint, Reply, counted_as},
    reader::Reader,
};

/// Shows where a run stands.
pub(super) fn run(context: &mut Context<'_>, arguments: &StatusRun) -> Result<Exit, Failure> {
    let data = context.data()?;
    let here = RunFolder::all(&data);
    let reader = if data.has_store()? { Some(Reader::open(data.clone())?) } else { None };
    let typed = arguments.trace.clone().unwrap_or_else(TypedId::last);
    let trace = lookup::run(reader.as_ref(), &here, &typed)?;
    let reader = reader.ok_or_else(|| data.no_keys())?;
    show(context, &reader, trace, &data)
}

/// Shows where the run of this trace stands.
pub(super) fn show(
    context: &mut Context<'_>,
    reader: &Reader,
    trace: TraceId,
    data: &DataFolder,
) -> Result<Exit, Failure> {
    let (summary, here) = (reader.trace(trace)?, reader.origin()?);
    let folder =
        RunFolder::open(data, trace).and_then(|folder| check_origin(&folder, trace, here).map(|()| folder));
    if summary.as_ref().is_none_or(|summary| summary.phase.is_none()) {
        // Started here and killed before it began, or no run at all.
        folder.as_ref().map_err(Clone::clone)?;
    }
    let history = if summary.is_some() { history(reader, trace)? } else { History::new() };
    let failed = summary.and_then(|summary| summary.failed);
    let reply = StatusReply {
        challenges: history
            .challenges
            .iter()
            .map(|(challenge, claim)| Challenge { challenge: *challenge, claim: *claim })
            .collect(),
        claims: ClaimLine::all(&history),
        damage: failed.map(|failure| failure.code),
        driver: folder.as_ref().ok().and_then(RunFolder::driver),
        events: history.state().length(),
        here: folder.is_ok(),
        phase: history.state().phase(),
        tools: ToolCount::of(&history),
        trace,
        verdict: history.verdict,
        waits_for: waits_for(trace, &history),
    };
    context.output.reply(&reply)?;
    Ok(Exit::Success)
}

/// Returns what is recorded of a run, folded event by event.
fn history(reader: &Reader, trace: TraceId) -> Result<History, Failure> {
    let mut history = History::new();
    reader.events(trace, |sequence, event, content| {
        history.take(event, content).map_err(|error| {
            let code = error.code();
            let message = format!("the record of trace {trace} is damaged at event {sequence}: {code}");
            Failure::of(Code::RecordDamaged, message)
        })
    })?;
    Ok(history)
}

/// Returns what has to happen next, in words.
fn waits_for(trace: TraceId, history: &History) -> Vec<String> {
    let phase = history.state().phase();
    let mut waits = Vec::new();
    if phase.is_final() {
        return waits;
    }
    for (at, proposed) in &history.proposals {
        if proposed.review.is_none() {
            waits.push(format!("the critic's review of proposal #{at}"));
        }
    }
    for (at, intent) in history.intents.iter().filter(|(_, intent)| intent.ended.is_none()) {
        let tool = visible(&intent.tool);
        match (intent.started, intent.is_blocked()) {
            (Some(started), _) => waits.push(format!("the end of {tool}, started at #{started}")),
            (None, false) => match history.state().confirmations().about(*at) {
                Some((asked, confirmation)) if *confirmation.outcome() == ConfirmationOutcome::Open => {
                    let id = ConfirmationId::new(trace, asked);
                    waits.push(format!("a yes or a no to {tool}: demur confirm show {id}"));
                }
                _ => waits.push(format!("the start of {tool}, intended at #{at}")),
            },
            (None, true) => {}
        }
    }
    let next = match phase {
        Phase::Initialized => Some("the planner to open it"),
        Phase::Planning => Some("a proposal"),
        Phase::Claiming => Some("challenges, answers and the final statement"),
        Phase::Auditing => Some("the auditor's verdict"),
        _ => None,
    };
    waits.extend(next.map(ToOwned::to_owned));
    waits
}

#[derive(Serialize)]
struct StatusReply {
    challenges: Vec<Challenge>,
    claims: Vec<ClaimLine>,
    /// What was found wrong with its record, if anything.
    damage: Option<String>,
    /// The process that drives it now, where there is one here.
    driver: Option<u32>,
    events: u64,
    /// Whether it was started in this data folder, and so can go on here.
    here: bool,
    phase: Phase,
    tools: ToolCount,
    trace: TraceId,
    /// The auditor's verdict, once there is one.
    verdict: Option<VerificationStatus>,
    waits_for: Vec<String>,
}

#[derive(Serialize)]
struct Challenge {
    challenge: Sequence,
    claim: Sequence,
}

impl Reply for StatusReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![
            format!(
                "{}   {}, {}",
                paint.strong("run"),
                self.phase,
                counted_as(self.events, "event", "events")
            ),
            format!("{} {}", paint.strong("trace"), self.trace),
            format!("{} {}", paint.strong("tools"), self.tools.words()),
        ];
        if let Some(code) = &self.damage {
            lines.push(format!("{} {}: nothing is added any more", paint.bad("damaged"), visible(code)));
        }
        if !self.claims.is_empty() {
            lines.push(paint.strong("claims"));
            lines.extend(self.claims.iter().map(ClaimLine::words));
        }
        if !self.waits_for.is_empty() {
            lines.push(paint.strong("waits for"));
            lines.extend(self.waits_for.iter().map(|what| format!("  {what}")));
        }
        if !self.phase.is_final() && self.damage.is_none() && self.here {
            lines.push(match self.driver {
                Some(process) => format!("Process {process} drives it now."),
                None => format!("`demur run resume {}` goes on.", self.trace),
            });
        }
        lines
    }
}
