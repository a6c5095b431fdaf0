//! Traces as pages: the list, a timeline page by page, one event, one artifact. A page reads what it shows and no more.

use axum::{extract::State, response::Response};
use demur_api::trace::TraceView;
use demur_desk::{desk::Desk, trace::TraceOverview};
use demur_ledger::{
    event_type::{Content, EventType, TraceKind},
    name::{Sequence, TraceId},
    question::OutcomeKind,
    state::Phase,
};
use demur_web::{
    event::{ArtifactPage, Event},
    frame::Here,
    text,
    trace::{self, About, Page, Row, Shown, Trace, Traces},
};
use hyper::{Method, StatusCode};
use serde::Deserialize;

use super::{LOOKING, Visiting, page};
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::{Named, Parameters},
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/traces", LOOKING), list)
        .with(Route::page(Method::GET, "/traces/{trace}", LOOKING), timeline)
        .with(Route::page(Method::GET, "/traces/{trace}/events/{sequence}", LOOKING), event)
        .with(Route::page(Method::GET, "/traces/{trace}/artifacts/{sequence}", LOOKING), artifact)
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
    let (caller, after) = (visiting.caller.clone(), parameters.after);
    let found = service.work(move |desk| desk.trace_overviews(&caller, after, TRACES_PER_PAGE)).await;
    let (found, next) = found?;
    let rows = found.iter().map(row).collect();
    let frame = visiting.frame(Here::Traces);
    page(StatusCode::OK, &Traces { frame: &frame, rows, first: after.is_none(), next })
}

fn row(found: &TraceOverview) -> Row {
    Row { about: about(found), words: found.opening.as_ref().and_then(trace::about) }
}

async fn timeline(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
    Parameters(parameters): Parameters<TimelineParameters>,
) -> Result<Response, Problem> {
    let first = parameters.after.map_or(Sequence::FIRST, Sequence::next);
    let caller = visiting.caller.clone();
    let found = service.work(move |desk| desk.trace_lines(&caller, trace, first, EVENTS_PER_PAGE)).await;
    let (found, lines) = found?;
    let about = about(&found);
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
        number if number <= EVENTS_PER_PAGE as u64 => Some(Page::First),
        number => Sequence::try_from(number - EVENTS_PER_PAGE as u64 - 1).ok().map(Page::After),
    }
}

/// Returns after which event the last page begins, if pages are counted from the first event.
fn newest(last: u64) -> Option<Sequence> {
    let begins = last - last % EVENTS_PER_PAGE as u64;
    begins.checked_sub(1).and_then(|before| Sequence::try_from(before).ok())
}

async fn event(
    State(service): State<Shared>,
    visiting: Visiting,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Response, Problem> {
    let caller = visiting.caller.clone();
    let (found, line) = service.work(move |desk| desk.trace_line(&caller, trace, sequence)).await?;
    let frame = visiting.frame(Here::Traces);
    page(StatusCode::OK, &Event::new(&frame, about(&found), &line))
}

async fn artifact(
    State(service): State<Shared>,
    visiting: Visiting,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Response, Problem> {
    let (turn, caller) = (service.desk.large_turn(&visiting.caller)?, visiting.caller.clone());
    let work = move |desk: &Desk| {
        // Until the work ends, also when the browser has left.
        let _turn = turn;
        desk.checked_artifact(&caller, trace, sequence)
    };
    let (line, found) = service.work(work).await?;
    let named = match line.content.map(|bytes| Content::parse(EventType::ArtifactRecorded, &bytes)) {
        Some(Ok(Content::ArtifactRecorded(content))) => {
            Some((text::line(&content.name), text::line(&content.media_type)))
        }
        _ => None,
    };
    let frame = visiting.frame(Here::Traces);
    let shown = ArtifactPage::new(&frame, (trace, sequence), named, found.standing, found.bytes.as_deref());
    page(StatusCode::OK, &shown)
}

/// Returns what a page says about a trace.
pub(super) fn about(found: &TraceOverview) -> About {
    let TraceOverview { view, opening, outcome } = found;
    let TraceView { trace, kind, events, opened, changed, phase, failed, .. } = view;
    let failure = failed.as_ref().map(|_| Phase::Failed);
    let state = failure.or(*phase).map(Phase::as_str).or_else(|| outcome.map(OutcomeKind::as_str));
    About {
        trace: *trace,
        kind: About::kind(*kind, opening.as_ref()),
        is_run: *kind == TraceKind::Run,
        state: state.map(str::to_owned),
        events: *events,
        opened: *opened,
        changed: *changed,
        failed: failed.as_ref().map(|failure| (failure.code.clone(), failure.sequence)),
    }
}

/// How many traces stand on a page.
const TRACES_PER_PAGE: usize = 50;
/// How many events stand on a page.
const EVENTS_PER_PAGE: usize = 50;
