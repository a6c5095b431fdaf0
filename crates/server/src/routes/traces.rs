//! Traces over HTTP: listed, looked at event by event, exported, with their artifacts and receipts (ONE-04, CLR-03).

mod export;

use axum::{Extension, body::Body, extract::State, response::Response};
use demur_api::{
    operation::{self as op, SEEING},
    refusal::Refusal,
};
use demur_desk::access::Caller;
use demur_ledger::name::{Sequence, TraceId};
use hyper::{Method, header};

pub(super) use export::LINES;

use crate::{
    api::{Api, Route},
    parts::Held,
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    let api = api.mount::<op::ListTraces>().mount::<op::ShowTrace>().mount::<op::ListEvents>();
    let api = api.with(
        Route::new(
            Method::GET,
            "/v1/traces/{trace}/artifacts/{sequence}",
            "artifact",
            SEEING,
            "Give the bytes of the artifact that an event records",
        )
        .gives_bytes("The bytes, whatever they are", BYTES),
        artifact,
    );
    export::add(api.mount::<op::ShowReceipt>().mount::<op::EraseEvent>())
}

async fn artifact(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named((trace, sequence)): Named<(TraceId, Sequence)>,
) -> Result<Response, Problem> {
    let turn = service.desk.large_turn(&caller)?;
    let found = service.work(move |desk| desk.artifact(&caller, trace, sequence)).await?;
    let body = Body::from_stream(Held::new(found.into(), turn));
    let response = Response::builder()
        .header(header::CONTENT_TYPE, BYTES)
        // Whatever it is, a browser must not show it as a page of this server.
        .header(header::CONTENT_DISPOSITION, "attachment");
    Ok(response.body(body).map_err(|error| Refusal::bug(&error))?)
}

/// The media type of artifacts.
const BYTES: &str = "application/octet-stream";
