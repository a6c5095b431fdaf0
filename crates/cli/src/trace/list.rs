//! `demur trace list`: the traces of a store, the newest first. Reads only.

use demur_core::{time::Timestamp, visible::visible};
use demur_ledger::{
    event_type::TraceKind,
    name::{Position, Sequence, TraceId},
    state::Phase,
};
use demur_store::contract::{Store, TraceSummary};
use serde::Serialize;

use super::{short, subject};
use crate::{
    arguments::ListTraces,
    context::Context,
    failure::Failure,
    keys::clock,
    lookup,
    output::{Paint, Reply, Table},
};

/// Lists traces.
pub(super) fn run(context: &mut Context<'_>, arguments: &ListTraces) -> Result<(), Failure> {
    let data = context.data()?;
    let (traces, more) = match data.read()? {
        Some(store) => {
            let after = arguments.after.as_ref().map(|typed| lookup::trace(&store, typed)).transpose()?;
            page(&store, after, arguments.limit)?
        }
        None => (Vec::new(), false),
    };
    let next = traces.last().filter(|_| more).map(|trace| trace.trace);
    let after = arguments.after.is_some();
    let nowhere = Context::nowhere(&data, "traces");
    let data = data.path().to_string_lossy().into_owned();
    context.output.reply(&ListReply { after, data, next, nowhere, traces })
}

/// Returns a page of traces, and whether there are more. The registry is no piece of work and is left out.
fn page(store: &dyn Store, after: Option<TraceId>, limit: u32) -> Result<(Vec<Listed>, bool), Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // One more for the registry, one more to know whether there are more.
    let found = store.traces(after, limit.saturating_add(2))?;
    let mut traces: Vec<TraceSummary> =
        found.into_iter().filter(|summary| summary.kind != TraceKind::Registry).collect();
    let more = traces.len() > limit;
    traces.truncate(limit);
    let listed = |summary: TraceSummary| {
        let subject = subject(store, summary.trace)?;
        Ok(Listed { subject, ..Listed::from(summary) })
    };
    Ok((traces.into_iter().map(listed).collect::<Result<_, Failure>>()?, more))
}

#[derive(Serialize)]
struct ListReply {
    #[serde(skip)]
    after: bool,
    data: String,
    /// What to give to `--after` for the next page.
    next: Option<TraceId>,
    /// What to say where there is no data folder.
    #[serde(skip)]
    nowhere: Option<String>,
    traces: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    changed: Timestamp,
    events: u64,
    /// The integrity violation that was found, if any.
    failed: Option<Violation>,
    head: Position,
    /// `run` or `work`.
    kind: &'static str,
    opened: Timestamp,
    phase: Option<Phase>,
    /// What it is about: a task, a plan's name, a question's words; none where that cannot be read.
    subject: Option<String>,
    trace: TraceId,
}

#[derive(Serialize)]
struct Violation {
    code: String,
    sequence: Option<Sequence>,
}

impl From<TraceSummary> for Listed {
    fn from(summary: TraceSummary) -> Self {
        let TraceSummary { trace, head, opened, changed, phase, failed, kind, .. } = summary;
        let failed = failed.map(|failure| Violation { code: failure.code, sequence: failure.sequence });
        let kind = kind.as_str();
        let events = head.sequence.next().number();
        Self { changed, events, failed, head, kind, opened, phase, subject: None, trace }
    }
}

impl Violation {
    fn words(&self) -> String {
        match self.sequence {
            Some(sequence) => format!("{} at event {sequence}", visible(&self.code)),
            None => visible(&self.code).into_owned(),
        }
    }
}

impl Reply for ListReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.traces.is_empty() {
            return if self.after {
                vec!["No traces older than that one.".to_owned()]
            } else {
                vec![
                    self.nowhere
                        .clone()
                        .unwrap_or_else(|| format!("No traces yet in {}.", visible(&self.data))),
                    "Watch how one comes about: demur demo".to_owned(),
                ]
            };
        }
        let mut table =
            Table::new(["TRACE", "PHASE", "EVENTS", "OPENED", "LAST CHANGE", "DAMAGE", "SUBJECT"]);
        for trace in &self.traces {
            table.add([
                trace.trace.to_string(),
                trace.phase.map_or(trace.kind, Phase::as_str).to_owned(),
                trace.events.to_string(),
                clock(trace.opened),
                clock(trace.changed),
                trace.failed.as_ref().map_or_else(|| "none known".to_owned(), Violation::words),
                trace.subject.as_deref().map_or_else(|| "-".to_owned(), short),
            ]);
        }
        let mut lines = table.lines(paint);
        lines.extend(self.next.map(|next| format!("There are more: demur trace list --after {next}")));
        lines
    }
}
