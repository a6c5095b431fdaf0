//! `demur trace list`: the traces of a store, the newest first. Reads only.

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{self, ListEvents, NoArguments, OfTrace},
    trace::{EventParameters, TraceListParameters, TraceView, Violation},
};
use demur_core::{time::Timestamp, visible::visible};
use demur_desk::subject::about;
use demur_ledger::{
    envelope::Event,
    event_type::Content,
    name::{Position, TraceId},
    state::Phase,
};
use serde::Serialize;

use super::short;
use crate::{
    arguments::ListTraces,
    context::Context,
    failure::Failure,
    keys::clock,
    lookup,
    output::{Paint, Reply, Table},
    reader::Reader,
};

/// Lists traces.
pub(super) fn run(context: &mut Context<'_>, arguments: &ListTraces) -> Result<(), Failure> {
    let data = context.data()?;
    let (traces, next) = if data.has_store()? {
        let reader = Reader::open(data.clone())?;
        let after = arguments.after.as_ref().map(|typed| lookup::trace(&reader, typed)).transpose()?;
        listed(&reader, after, arguments.limit as usize)?
    } else {
        (Vec::new(), None)
    };
    let after = arguments.after.is_some();
    let nowhere = Context::nowhere(&data, "traces");
    let data = data.path().to_string_lossy().into_owned();
    context.output.reply(&ListReply { after, data, next, nowhere, traces })
}

/// Returns so many traces, page by page, and where the next ones begin.
fn listed(
    reader: &Reader,
    after: Option<TraceId>,
    limit: usize,
) -> Result<(Vec<Listed>, Option<TraceId>), Failure> {
    let (mut traces, mut next) = (Vec::new(), after);
    loop {
        let query = TraceListParameters { after: next, limit: Some((limit - traces.len()).min(PAGE_LENGTH)) };
        let page = reader.call(ApiRequest::<operation::ListTraces>::get(NoArguments {}, query))?;
        for view in page.traces {
            traces.push(Listed { subject: subject(reader, view.trace)?, ..Listed::from(view) });
        }
        next = page.next;
        if next.is_none() || traces.len() >= limit {
            return Ok((traces, next));
        }
    }
}

/// Returns what a trace is about, from its first event; none where that was erased or cannot be read.
fn subject(reader: &Reader, trace: TraceId) -> Result<Option<String>, Failure> {
    let first = EventParameters { after: None, limit: Some(1) };
    let events = match reader.call(ApiRequest::<ListEvents>::get(OfTrace { trace }, first)) {
        Ok(page) => page.events,
        // `demur store check` says what is wrong with it.
        Err(error) if error.is(Code::RecordDamaged) || error.is(Code::TraceNewer) => return Ok(None),
        Err(error) => return Err(error),
    };
    let event =
        events.first().and_then(|first| Some((Event::parse(first.envelope.get().as_bytes()).ok()?, first)));
    let content = event.and_then(|(event, view)| {
        let kind = event.said().ok()?.facts.event_type()?;
        Content::parse(kind, view.content.as_ref()?.get().as_bytes()).ok()
    });
    Ok(content.as_ref().and_then(about))
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

impl From<TraceView> for Listed {
    fn from(view: TraceView) -> Self {
        let TraceView { trace, kind, events, head, opened, changed, phase, failed } = view;
        Self { changed, events, failed, head, kind: kind.as_str(), opened, phase, subject: None, trace }
    }
}

impl Listed {
    /// Returns how it stands, in one word.
    fn word(&self) -> &'static str {
        let failed = self.failed.as_ref().map(|_| Phase::Failed);
        failed.or(self.phase).map_or(self.kind, Phase::as_str)
    }
}

fn words(violation: &Violation) -> String {
    match violation.sequence {
        Some(sequence) => format!("{} at event {sequence}", visible(&violation.code)),
        None => visible(&violation.code).into_owned(),
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
                trace.word().to_owned(),
                trace.events.to_string(),
                clock(trace.opened),
                clock(trace.changed),
                trace.failed.as_ref().map_or_else(|| "none known".to_owned(), words),
                trace.subject.as_deref().map_or_else(|| "-".to_owned(), short),
            ]);
        }
        let mut lines = table.lines(paint);
        lines.extend(self.next.map(|next| format!("There are more: demur trace list --after {next}")));
        lines
    }
}

/// How many traces come at a time.
const PAGE_LENGTH: usize = 200;
