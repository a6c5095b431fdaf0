//! Traces as pages: the list, a timeline page by page, one event, one artifact. A page reads what it shows and no more.

use axum::{extract::State, response::Response};
use demur_api::{code::Code, refusal::Refusal, trace::Line};
use demur_desk::{excerpt, owner::Owner};
use demur_ledger::{
    event_type::{Content, EventType, TraceKind},
    name::{Sequence, TraceId},
    question::OutcomeKind,
    state::Phase,
    timeline::Entry,
};
use demur_sequencer::SequencerError;
use demur_store::contract::TraceSummary;
use demur_web::{
    event::{Artifact, Event},
    frame::Here,
    text,
    trace::{self, About, Page, Row, Shown, Trace, Traces},
};
use hyper::{Method, StatusCode};
use serde::Deserialize;

use super::{LOOKING, Visiting, page};
use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::{Named, Parameters},
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::page(Method::GET, "/traces", LOOKING), list)
        .with(Operation::page(Method::GET, "/traces/{trace}", LOOKING), timeline)
        .with(Operation::page(Method::GET, "/traces/{trace}/events/{sequence}", LOOKING), event)
        .with(Operation::page(Method::GET, "/traces/{trace}/artifacts/{sequence}", LOOKING), artifact)
}

/// Where the list goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParameters {
    after: Option<TraceId>,
}

/// Where the timeline goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimelineParameters {
    after: Option<Sequence>,
}

async fn list(
    State(service): State<Shared>,
    visiting: Visiting,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Response, Problem> {
    let after = parameters.after;
    let (rows, next) = service.work(move |_, owner| rows(owner, after)).await?;
    let frame = visiting.frame(Here::Traces);
    page(StatusCode::OK, &Traces { frame: &frame, rows, first: after.is_none(), next })
}

fn rows(owner: &Owner, after: Option<TraceId>) -> Result<(Vec<Row>, Option<TraceId>), Refusal> {
    let store = owner.ledger().store();
    if let Some(trace) = after
        && store.trace(trace)?.is_none()
    {
        return Err(SequencerError::TraceUnknown { trace }.into());
    }
    // One more for the registry, one more to know whether there are more.
    let mut found = store.traces(after, TRACES + 2)?;
    found.retain(|summary| summary.kind != TraceKind::Registry);
    let more = found.len() > TRACES;
    found.truncate(TRACES);
    let next = found.last().filter(|_| more).map(|last| last.trace);
    let row = |summary: &TraceSummary| -> Result<Row, Refusal> {
        let opening = excerpt::opening(owner, summary.trace)?;
        let words = opening.as_ref().and_then(trace::about);
        Ok(Row { about: told(owner, summary, opening.as_ref())?, words })
    };
    Ok((found.iter().map(row).collect::<Result<_, _>>()?, next))
}

async fn timeline(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
    Parameters(parameters): Parameters<TimelineParameters>,
) -> Result<Response, Problem> {
    let first = parameters.after.map_or(Sequence::FIRST, Sequence::next);
    let found = service.work(move |_, owner| {
        let summary = excerpt::summary(owner, trace)?;
        let lines = excerpt::read(owner, &summary, first, EVENTS)?;
        Ok((about(owner, &summary)?, lines))
    });
    let (about, lines) = found.await?;
    let frame = visiting.frame(Here::Traces);
    let last = about.events.saturating_sub(1);
    let later = lines.last().map(|line| line.sequence).filter(|shown| shown.number() < last);
    let shown = Trace {
        frame: &frame,
        events: lines.iter().map(|line| Shown::new(trace, line)).collect(),
        earlier: earlier(first),
        later,
        newest: later.and_then(|_| newest(last)),
        about,
    };
    page(StatusCode::OK, &shown)
}

/// Returns where the page before the one that begins here begins.
fn earlier(first: Sequence) -> Option<Page> {
    match first.number() {
        0 => None,
        number if number <= EVENTS as u64 => Some(Page::First),
        number => Sequence::try_from(number - EVENTS as u64 - 1).ok().map(Page::After),
    }
}

/// Returns after which event the last page begins, if pages are counted from the first event.
fn newest(last: u64) -> Option<Sequence> {
    let begins = last - last % EVENTS as u64;
    begins.checked_sub(1).and_then(|before| Sequence::try_from(before).ok())
}

async fn event(
    State(service): State<Shared>,
    visiting: Visiting,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Response, Problem> {
    let (about, line) = service.work(move |_, owner| one(owner, trace, sequence)).await?;
    let frame = visiting.frame(Here::Traces);
    page(StatusCode::OK, &Event::new(&frame, about, &line))
}

async fn artifact(
    State(service): State<Shared>,
    visiting: Visiting,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Response, Problem> {
    let _turn = service.desk.large_turn()?;
    let found = service.work(move |_, owner| {
        let (_, line) = one(owner, trace, sequence)?;
        let stored = owner.ledger().store().events(trace, sequence, 1)?.pop();
        let (Some(event), Some(stored)) = (line.event, stored) else { return Err(unknown(trace, sequence)) };
        let named = match line.content.map(|bytes| Content::parse(EventType::ArtifactRecorded, &bytes)) {
            Some(Ok(Content::ArtifactRecorded(content))) => {
                Some((text::line(&content.name), text::line(&content.media_type)))
            }
            _ => None,
        };
        Ok((named, excerpt::artifact(owner, &event, &stored.artifact)))
    });
    let (named, found) = found.await?;
    let frame = visiting.frame(Here::Traces);
    let shown = Artifact::new(&frame, (trace, sequence), named, found.standing, found.bytes.as_deref());
    page(StatusCode::OK, &shown)
}

fn one(owner: &Owner, trace: TraceId, sequence: Sequence) -> Result<(About, Line), Refusal> {
    let summary = excerpt::summary(owner, trace)?;
    let line = excerpt::read(owner, &summary, sequence, 1)?.pop();
    Ok((about(owner, &summary)?, line.ok_or_else(|| unknown(trace, sequence))?))
}

/// Returns what is known of a trace.
pub(super) fn about(owner: &Owner, summary: &TraceSummary) -> Result<About, Refusal> {
    told(owner, summary, excerpt::opening(owner, summary.trace)?.as_ref())
}

fn told(owner: &Owner, summary: &TraceSummary, opening: Option<&Entry>) -> Result<About, Refusal> {
    let TraceSummary { trace, kind, head, opened, changed, phase, .. } = *summary;
    let question = owner.ledger().store().question(trace, Sequence::FIRST)?;
    let outcome = question.map(|question| OutcomeKind::as_str(question.row.outcome).to_owned());
    Ok(About {
        trace,
        kind: About::kind(kind, opening),
        is_run: kind == TraceKind::Run,
        state: phase.map(|phase| Phase::as_str(phase).to_owned()).or(outcome),
        events: head.sequence.next().number(),
        opened,
        changed,
        failed: summary.failed.as_ref().map(|failure| (failure.code.clone(), failure.sequence)),
    })
}

fn unknown(trace: TraceId, sequence: Sequence) -> Refusal {
    let message = format!("expected an event of trace {trace}, found none with the number {sequence}");
    Refusal::new(Code::EventUnknown, message)
}

/// How many traces stand on a page.
const TRACES: usize = 50;
/// How many events stand on a page.
const EVENTS: usize = 50;
