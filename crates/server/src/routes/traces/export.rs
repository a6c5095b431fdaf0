//! The export of a trace as it is written (ONE-04). A slow reader holds up nobody and fills no memory; when the server
//! ends, it has a few seconds left.

use axum::{Extension, body::Body, extract::State, response::Response};
use demur_api::{operation::SEEING, refusal::Refusal};
use demur_desk::access::Caller;
use demur_ledger::name::TraceId;
use hyper::{Method, header};
use tokio::task;

use crate::{
    api::{Api, Route},
    parts,
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Route::new(
            Method::GET,
            "/v1/traces/{trace}/export",
            "exportTrace",
            SEEING,
            "Export a trace as one file that anybody can verify offline",
        )
        .gives_text("The file, one JSON document per line", LINES),
        export,
    )
}

async fn export(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
) -> Result<Response, Problem> {
    let asking = caller.clone();
    service.work(move |desk| desk.check_export(&asking, trace)).await?;
    let turn = service.desk.large_turn(&caller)?;
    let (mut writer, parts) = parts::open(&service);
    let writing = task::spawn_blocking(move || {
        let _turn = turn;
        let written = service.desk.export(&caller, trace, &mut writer);
        match &written {
            Ok(()) => writer.finish(),
            Err(error) => tracing::warn!(%trace, code = error.code.as_str(), %error, "an export ended early"),
        }
        written
    });
    // What does not even begin is refused like anything else; what ends early later on breaks the connection off.
    let Some(stream) = parts.begun().await else {
        writing.await.map_err(|error| Refusal::bug(&error))??;
        return Err(Refusal::bug(&"an export without a first part").into());
    };
    let name = format!("attachment; filename=\"{trace}.jsonl\"");
    let response =
        Response::builder().header(header::CONTENT_TYPE, LINES).header(header::CONTENT_DISPOSITION, name);
    Ok(response.body(Body::from_stream(stream)).map_err(|error| Refusal::bug(&error))?)
}

/// The media type of an export.
pub(crate) const LINES: &str = "application/jsonl";
