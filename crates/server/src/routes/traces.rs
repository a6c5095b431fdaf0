//! Traces over HTTP: listed, looked at event by event, exported, with their artifacts and receipts (ONE-04, CLR-03).
//! Whoever may `read` sees all; others see the traces they take part in, and the list is for readers only.

mod export;

use axum::{Extension, Json, body::Body, extract::State, response::Response};
use demur_core::{commitment::Salt, hash::Digest, time::Timestamp};
use demur_desk::{error::CommandError, excerpt, owner::Owner};
use demur_ledger::{
    event_type::TraceKind,
    name::{Position, Sequence, TraceId},
    signed::{Receipt, Signed},
    state::Phase,
};
use demur_store::{
    contract::{Kept, Store as _, Stored, TraceSummary},
    ledger::LedgerError,
};
use hyper::{Method, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(super) use export::LINES;

use super::check_trace;
use crate::{
    api::{Api, Operation},
    caller::{Caller, Scope},
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
    api.with(
        Operation::new(
            Method::GET,
            "/v1/traces",
            "listTraces",
            &[Scope::Read],
            "List the traces, the newest first; the registry of keys is none of them",
        )
        .query::<ListParameters>()
        .gives::<ListedTraces>(StatusCode::OK, "One page"),
        list,
    )
    .with(
        Operation::new(Method::GET, "/v1/traces/{trace}", "trace", SEEING, "Say what a trace is")
            .gives::<TraceView>(StatusCode::OK, "The trace"),
        show,
    )
    .with(
        Operation::new(
            Method::GET,
            "/v1/traces/{trace}/events",
            "listEvents",
            SEEING,
            "List the events of a trace with their content, in order",
        )
        .query::<EventParameters>()
        .gives::<ListedEvents>(StatusCode::OK, "One page"),
        events,
    )
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
    .with(
        Operation::new(
            Method::GET,
            "/v1/traces/{trace}/receipts/{sequence}",
            "receipt",
            SEEING,
            "Give the desk's signed receipt for a statement",
        )
        .gives::<Signed<Receipt>>(StatusCode::OK, "The receipt: keep it, an export has to agree with it"),
        receipt,
    )
}

/// Which traces to list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TraceListParameters")]
struct ListParameters {
    /// The last trace of the page before.
    after: Option<TraceId>,
    /// How many at most, up to 200.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

/// Which events to list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EventParameters {
    /// The number of the last event seen; otherwise from the first on.
    after: Option<Sequence>,
    /// How many at most, up to 200; fewer come where they are large.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

/// One page of traces.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ListedTraces {
    /// The newest first.
    traces: Vec<TraceView>,
    /// What to give as `after` for the next page; none at the end.
    next: Option<TraceId>,
}

/// A trace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct TraceView {
    /// Its name.
    trace: TraceId,
    /// `registry`, `run` or `work`.
    kind: &'static str,
    /// How many events it has.
    events: u64,
    /// The newest of them.
    head: Position,
    /// When it was opened.
    opened: Timestamp,
    /// When the newest event was recorded.
    changed: Timestamp,
    /// Where a run stands.
    phase: Option<&'static str>,
    /// The integrity violation that was found, if any.
    failed: Option<Violation>,
}

/// An integrity violation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Violation {
    /// The verifier's code.
    code: String,
    /// Where it was found, if at one event.
    sequence: Option<Sequence>,
}

/// One page of events.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ListedEvents {
    /// In the order in which they were recorded.
    events: Vec<EventView>,
    /// What to give as `after` for the next page; none at the end.
    next: Option<Sequence>,
}

/// An event with what is kept beside it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct EventView {
    /// Its place in the trace.
    sequence: Sequence,
    /// Its hash, over the canonical bytes of the envelope.
    hash: Digest,
    /// The envelope.
    #[schemars(schema_with = "envelope_schema")]
    envelope: Box<RawValue>,
    /// The content that the envelope commits to; none where there is none or it was erased.
    #[schemars(schema_with = "content_schema")]
    content: Option<Box<RawValue>>,
    /// What opens the commitment to the content.
    salt: Option<Salt>,
    /// Whether there was content that was erased.
    erased: bool,
    /// What became of the artifact that it records: `here` or `erased`; none where it records none.
    artifact: Option<&'static str>,
}

impl From<TraceSummary> for TraceView {
    fn from(summary: TraceSummary) -> Self {
        let TraceSummary { trace, kind, head, opened, changed, phase, failed, .. } = summary;
        let failed = failed.map(|failure| Violation { code: failure.code, sequence: failure.sequence });
        let events = head.sequence.next().number();
        let phase = phase.map(Phase::as_str);
        Self { trace, kind: kind.as_str(), events, head, opened, changed, phase, failed }
    }
}

async fn list(
    State(service): State<Shared>,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Json<ListedTraces>, Problem> {
    let (limit, after) = (limit(parameters.limit)?, parameters.after);
    let page = service.work(move |_, owner| {
        let store = owner.ledger().store();
        if let Some(trace) = after
            && store.trace(trace)?.is_none()
        {
            return Err(LedgerError::TraceUnknown { trace }.into());
        }
        // One more for the registry, one more to know whether there are more.
        let mut found = store.traces(after, limit + 2)?;
        found.retain(|summary| summary.kind != TraceKind::Registry);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.trace);
        Ok(ListedTraces { traces: found.into_iter().map(TraceView::from).collect(), next })
    });
    Ok(Json(page.await?))
}

async fn show(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
) -> Result<Json<TraceView>, Problem> {
    Ok(Json(service.work(move |_, owner| seen(owner, &caller, trace)).await?.into()))
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
            let shown = EventView::new(trace, next, stored)?;
            bytes += shown.len();
            events.push(shown);
            next = next.next();
        }
        let last = events.last().map(|event: &EventView| event.sequence);
        Ok(ListedEvents { next: last.filter(|last| *last < head), events })
    });
    Ok(Json(page.await?))
}

impl EventView {
    fn new(trace: TraceId, sequence: Sequence, stored: Stored) -> Result<Self, CommandError> {
        excerpt::refuse_newer(trace, sequence, &stored)?;
        let raw = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).ok();
            let raw = text.and_then(|text| RawValue::from_string(text).ok());
            raw.ok_or(LedgerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" })
        };
        let erased = matches!(stored.content, Kept::Erased);
        let (content, salt) = match stored.content {
            Kept::Here(opening) => (Some(raw(opening.bytes)?), Some(opening.salt)),
            Kept::Absent | Kept::Erased => (None, None),
        };
        let artifact = match stored.artifact {
            Kept::Here(_) => Some("here"),
            Kept::Erased => Some("erased"),
            Kept::Absent => None,
        };
        Ok(Self {
            sequence,
            hash: stored.hash,
            envelope: raw(stored.bytes)?,
            content,
            salt,
            erased,
            artifact,
        })
    }

    fn len(&self) -> usize {
        self.envelope.get().len() + self.content.as_ref().map_or(0, |content| content.get().len())
    }
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
    Ok(response.body(body).map_err(|error| CommandError::bug(&error))?)
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
            CommandError::input("RECEIPT_UNKNOWN", message)
        })
    });
    Ok(Json(found.await?))
}

/// Returns a trace that this caller may read.
fn seen(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<TraceSummary, CommandError> {
    let found = owner.ledger().store().trace(trace)?.ok_or(LedgerError::TraceUnknown { trace });
    check_trace(owner, caller, trace)?;
    Ok(found?)
}

fn event(owner: &Owner, trace: TraceId, sequence: Sequence) -> Result<Stored, CommandError> {
    owner.ledger().store().events(trace, sequence, 1)?.pop().ok_or_else(|| {
        let message = format!("expected an event of trace {trace}, found none with the number {sequence}");
        CommandError::input("EVENT_UNKNOWN", message)
    })
}

fn no_artifact(message: &str) -> CommandError {
    CommandError::input("ARTIFACT_UNKNOWN", message)
}

fn limit(wanted: Option<usize>) -> Result<usize, Problem> {
    let limit = wanted.unwrap_or(50);
    if (1..=200).contains(&limit) {
        Ok(limit)
    } else {
        Err(Problem::malformed(format!("limit: expected 1 to 200, found {limit}")))
    }
}

fn envelope_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "The envelope as recorded, in canonical JSON. /schemas/ledger/envelope.json describes it.",
    })
}

fn content_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "description": "The content that the envelope commits to; none where there is none or it was erased. The schema of its type is below /schemas/ledger/events.",
    })
}

/// Who may see a trace that it takes part in.
const SEEING: &[Scope] = &[Scope::Ask, Scope::Answer, Scope::Relay, Scope::Read];
/// How large a page of events grows before it ends.
const ENOUGH: usize = 1 << 20;
/// The media type of artifacts.
const BYTES: &str = "application/octet-stream";
