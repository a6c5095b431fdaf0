//! The server itself: what it is, how it is, and how it ends.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{operation as op, scope::Scope};
use hyper::{Method, header};

use crate::{
    api::{Api, Operation},
    problem::Problem,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::ShowServer>().mount::<op::StopServer>().with(
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

async fn metrics(State(service): State<Shared>) -> Result<Response, Problem> {
    let metrics = Arc::clone(&service.metrics);
    let page = service.work(move |_, owner| metrics.text(owner)).await?;
    Ok(([(header::CONTENT_TYPE, METRICS)], page).into_response())
}

/// The media type of the counters.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
