//! Traces over HTTP: listed, looked at event by event, exported, with their artifacts and receipts (ONE-04, CLR-03).
//! Whoever may `read` sees all; others see the traces they take part in, and the list is for readers only.

mod export;

use axum::{Extension, Json, body::Body, extract::State, response::Response};
use demur_api::{
    code::Code,
    operation,
    refusal::Refusal,
    scope::Scope,
    trace::{
        EventParameters, EventView, KeptArtifact, ListedEvents, ListedTraces, TraceListParameters, TraceView,
        Violation,
    },
};
use demur_desk::{excerpt, owner::Owner};
use demur_ledger::{
    event_type::TraceKind,
    name::{Sequence, TraceId},
    signed::{Receipt, Signed},
};
use demur_sequencer::SequencerError;
use demur_store::contract::{Kept, Stored, TraceSummary};
use hyper::{Method, header};
use serde_json::value::RawValue;

pub(super) use export::LINES;

use super::check_trace;
use crate::{
    api::{Api, Operation},
    caller::Caller,
    outlet::Held,
    problem::Problem,
    read::{Named, Parameters},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    export::add(add_beside(add_reading(api)))
}

fn add_reading(api: Api) -> Api {
    api.with(Operation::of::<operation::ListTraces>(), list)
        .with(Operation::of::<operation::ShowTrace>(), show)
        .with(Operation::of::<operation::ListEvents>(), events)
}

fn add_beside(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::GET,
            "/v1/traces/{trace}/artifacts/{sequence}",
            "artifact",
            SEEING,
            "Give the bytes of the artifact that an event records",
        )
        .gives_bytes("The bytes, whatever they are", BYTES),
        artifact,
    )
    .with(Operation::of::<operation::ShowReceipt>(), receipt)
}

fn trace_view(summary: TraceSummary) -> TraceView {
    let TraceSummary { trace, kind, head, opened, changed, phase, failed, .. } = summary;
    let failed = failed.map(|failure| Violation { code: failure.code, sequence: failure.sequence });
    let events = head.sequence.next().number();
    TraceView { trace, kind, events, head, opened, changed, phase, failed }
}

async fn list(
    State(service): State<Shared>,
    Parameters(parameters): Parameters<TraceListParameters>,
) -> Result<Json<ListedTraces>, Problem> {
    let (limit, after) = (limit(parameters.limit)?, parameters.after);
    let page = service.work(move |_, owner| {
        let store = owner.ledger().store();
        if let Some(trace) = after
            && store.trace(trace)?.is_none()
        {
            return Err(SequencerError::TraceUnknown { trace }.into());
        }
        // One more for the registry, one more to know whether there are more.
        let mut found = store.traces(after, limit + 2)?;
        found.retain(|summary| summary.kind != TraceKind::Registry);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.trace);
        Ok(ListedTraces { traces: found.into_iter().map(trace_view).collect(), next })
    });
    Ok(Json(page.await?))
}

async fn show(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
) -> Result<Json<TraceView>, Problem> {
    Ok(Json(trace_view(service.work(move |_, owner| seen(owner, &caller, trace)).await?)))
}

async fn events(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Parameters(parameters): Parameters<EventParameters>,
) -> Result<Json<ListedEvents>, Problem> {
    let limit = limit(parameters.limit)?;
    let page = service.work(move |_, owner| {
        let head = seen(owner, &caller, trace)?.head.sequence;
        let first = parameters.after.map_or(Sequence::FIRST, Sequence::next);
        let (mut events, mut bytes) = (Vec::new(), 0);
        let mut next = first;
        // Content can be large: a page ends where it has grown enough.
        while events.len() < limit && bytes < ENOUGH && next <= head {
            let Some(stored) = owner.ledger().store().events(trace, next, 1)?.pop() else { break };
            let shown = event_view(trace, next, stored)?;
            bytes += shown.size();
            events.push(shown);
            next = next.next();
        }
        let last = events.last().map(|event: &EventView| event.sequence);
        Ok(ListedEvents { next: last.filter(|last| *last < head), events })
    });
    Ok(Json(page.await?))
}

fn event_view(trace: TraceId, sequence: Sequence, stored: Stored) -> Result<EventView, Refusal> {
    excerpt::refuse_newer(trace, sequence, &stored)?;
    let raw = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok();
        let raw = text.and_then(|text| RawValue::from_string(text).ok());
        raw.ok_or(SequencerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" })
    };
    let erased = matches!(stored.content, Kept::Erased);
    let (content, salt) = match stored.content {
        Kept::Here(opening) => (Some(raw(opening.bytes)?), Some(opening.salt)),
        Kept::Absent | Kept::Erased => (None, None),
    };
    let artifact = match stored.artifact {
        Kept::Here(_) => Some(KeptArtifact::Here),
        Kept::Erased => Some(KeptArtifact::Erased),
        Kept::Absent => None,
    };
    Ok(EventView {
        sequence,
        hash: stored.hash,
        envelope: raw(stored.bytes)?,
        content,
        salt,
        erased,
        artifact,
    })
}

async fn artifact(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Response, Problem> {
    let turn = service.heavy_turn()?;
    let found =
        service.work(move |_, owner| {
            seen(owner, &caller, trace)?;
            match event(owner, trace, sequence)?.artifact {
                Kept::Here(place) => owner.ledger().store().artifact(&place.address)?.ok_or_else(|| {
                    no_artifact("expected the bytes of the artifact in the store, found none")
                }),
                Kept::Erased => Err(no_artifact("expected an artifact, found one that was erased")),
                Kept::Absent => Err(no_artifact("expected an event that records an artifact, found another")),
            }
        });
    let body = Body::from_stream(Held::new(found.await?.into(), turn));
    let response = Response::builder()
        .header(header::CONTENT_TYPE, BYTES)
        // Whatever it is, a browser must not show it as a page of this server.
        .header(header::CONTENT_DISPOSITION, "attachment");
    Ok(response.body(body).map_err(|error| Refusal::bug(&error))?)
}

async fn receipt(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Json<Signed<Receipt>>, Problem> {
    let found = service.work(move |_, owner| {
        seen(owner, &caller, trace)?;
        event(owner, trace, sequence)?;
        owner.ledger().receipt(trace, sequence)?.ok_or_else(|| {
            let message = "expected a statement that a key signed, found what the desk itself recorded";
            Refusal::new(Code::ReceiptUnknown, message)
        })
    });
    Ok(Json(found.await?))
}

/// Returns a trace that this caller may read.
fn seen(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<TraceSummary, Refusal> {
    let found = owner.ledger().store().trace(trace)?.ok_or(SequencerError::TraceUnknown { trace });
    check_trace(owner, caller, trace)?;
    Ok(found?)
}

fn event(owner: &Owner, trace: TraceId, sequence: Sequence) -> Result<Stored, Refusal> {
    owner.ledger().store().events(trace, sequence, 1)?.pop().ok_or_else(|| {
        let message = format!("expected an event of trace {trace}, found none with the number {sequence}");
        Refusal::new(Code::EventUnknown, message)
    })
}

fn no_artifact(message: &str) -> Refusal {
    Refusal::new(Code::ArtifactUnknown, message)
}

fn limit(wanted: Option<usize>) -> Result<usize, Problem> {
    let limit = wanted.unwrap_or(50);
    if (1..=200).contains(&limit) {
        Ok(limit)
    } else {
        Err(Problem::malformed(format!("limit: expected 1 to 200, found {limit}")))
    }
}

/// Who may see a trace that it takes part in.
const SEEING: &[Scope] = &[Scope::Ask, Scope::Answer, Scope::Relay, Scope::Read];
/// How large a page of events grows before it ends.
const ENOUGH: usize = 1 << 20;
/// The media type of artifacts.
const BYTES: &str = "application/octet-stream";
