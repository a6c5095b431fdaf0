//! What reads a whole trace: its verification, and the picture of a run. Only so many at once, and only so long.

use axum::{extract::State, response::Response};
use demur_api::refusal::Refusal;
use demur_desk::{access::Caller, desk::Desk, trace::TraceVerdict};
use demur_ledger::name::TraceId;
use demur_web::{frame::Here, run::RunPage, verification::VerificationPage};
use hyper::{Method, StatusCode};

use super::{LOOKING, Visiting, page, traces::about};
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::Named,
    service::{Service, Shared},
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/traces/{trace}/verification", LOOKING), verification)
        .with(Route::page(Method::GET, "/traces/{trace}/run", LOOKING), run)
}

async fn verification(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
) -> Result<Response, Problem> {
    let look = move |desk: &Desk, caller: &Caller| desk.trace_verdict(caller, trace);
    let (found, verdict) = in_turn(&service, visiting.caller.clone(), look).await?;
    let (frame, about) = (visiting.frame(Here::Traces), about(&found));
    let shown = match verdict {
        TraceVerdict::TooLong => VerificationPage::too_long(&frame, about),
        TraceVerdict::Report(report) => VerificationPage::new(&frame, about, &report),
        TraceVerdict::NotExported(reason) => VerificationPage::not_exported(&frame, about, &reason),
    };
    page(StatusCode::OK, &shown)
}

async fn run(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
) -> Result<Response, Problem> {
    let look = move |desk: &Desk, caller: &Caller| desk.run_graph(caller, trace);
    let (found, graph) = in_turn(&service, visiting.caller.clone(), look).await?;
    let (frame, about) = (visiting.frame(Here::Traces), about(&found));
    let shown = match &graph {
        Some(graph) => RunPage::new(&frame, about, graph),
        None => RunPage::without(&frame, about),
    };
    page(StatusCode::OK, &shown)
}

/// Looks at a whole trace, in one of the caller's turns for large requests.
async fn in_turn<T: Send + 'static>(
    service: &Service,
    caller: Caller,
    look: impl FnOnce(&Desk, &Caller) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Problem> {
    let turn = service.desk.large_turn(&caller)?;
    let work = move |desk: &Desk| {
        // Until the work ends, also when the browser has left.
        let _turn = turn;
        look(desk, &caller)
    };
    service.work(work).await
}
