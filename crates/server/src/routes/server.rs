//! The server itself: what it is, how it is, and how it ends.

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{operation as op, scope::Scope};
use demur_desk::access::Caller;
use hyper::{Method, header};

use crate::{
    api::{Api, Route},
    problem::Problem,
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.mount::<op::ShowServer>().mount::<op::StopServer>().with(
        Route::new(
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

async fn metrics(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let figures = service.work(move |desk| desk.figures(&caller)).await?;
    let page = service.metrics.text(&figures)?;
    Ok(([(header::CONTENT_TYPE, METRICS)], page).into_response())
}

/// The media type of the counters.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
