//! The server itself: what it is, how it is, and how it steps aside or ends.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    operation,
    refusal::Refusal,
    scope::Scope,
    server::{PROTOCOL, ServerStatus},
};
use demur_ledger::question::OutcomeKind;
use hyper::{Method, StatusCode, header};

use crate::{
    api::{Api, Operation},
    problem::Problem,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::ShowServer>(), status)
        .with(Operation::of::<operation::StopServer>(), stop)
        .with(Operation::of::<operation::LendFolder>(), lend)
        .with(
            Operation::new(
                Method::GET,
                "/metrics",
                "metrics",
                &[Scope::Metrics],
                "Counters in the format of Prometheus",
            )
            .gives_text("The counters", METRICS),
            metrics,
        )
}

async fn status(State(service): State<Shared>) -> Result<Json<ServerStatus>, Problem> {
    let found = service.work(|service, owner| {
        let counts = owner.ledger().store().question_counts()?;
        let open = counts.iter().find(|(kind, _)| *kind == OutcomeKind::Open).map_or(0, |(_, count)| *count);
        Ok(ServerStatus {
            version: service.version.clone(),
            protocol: PROTOCOL,
            process: std::process::id(),
            folder: service.premises.data().path().to_string_lossy().into_owned(),
            store: owner.ledger().registry().store().to_string(),
            address: service.address(),
            open,
            waiting: service.notices.len() as u64,
            limits: service.most,
        })
    });
    Ok(Json(found.await?))
}

async fn stop(State(service): State<Shared>) -> StatusCode {
    service.end();
    StatusCode::NO_CONTENT
}

async fn lend(State(service): State<Shared>) -> Result<StatusCode, Problem> {
    let premises = Arc::clone(&service.premises);
    let lent = tokio::task::spawn_blocking(move || premises.lend());
    lent.await.map_err(|error| Refusal::bug(&error))??;
    Ok(StatusCode::NO_CONTENT)
}

async fn metrics(State(service): State<Shared>) -> Result<Response, Problem> {
    let page = service.work(|service, owner| service.metrics.text(owner)).await?;
    Ok(([(header::CONTENT_TYPE, METRICS)], page).into_response())
}

/// The media type of the counters.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
