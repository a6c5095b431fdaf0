//! What reads a whole trace: its verification, and the picture of a run. Only so many at once, and only so long. Where its states are
//! drawn, operators can end a run.

use axum::{extract::State, response::Response};
use demur_api::{
    call::ApiRequest,
    operation::{self as op, Operation as _},
    refusal::Refusal,
    run::AbortRun,
};
use demur_core::limit::Text;
use demur_desk::{access::Caller, desk::Desk, trace::TraceVerdict};
use demur_ledger::name::TraceId;
use demur_web::{frame::Here, run::RunPage, verification::VerificationPage};
use hyper::{Method, StatusCode};

use super::{Form, LOOKING, Visiting, limit, page, see_other, traces::about};
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
        .with(Route::page(Method::POST, "/traces/{trace}/abort", op::AbortRun::ABOUT.scopes), abort)
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
    let (frame, about) = (visiting.signing_frame(&service, Here::Traces).await?, about(&found));
    let shown = match &graph {
        Some(graph) => RunPage::new(&frame, about, graph),
        None => RunPage::without(&frame, about),
    };
    page(StatusCode::OK, &shown)
}

/// Ends a run for good.
async fn abort(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
    form: Form,
) -> Result<Response, Problem> {
    form.check_key()?;
    let reason = form.one("reason").unwrap_or_default();
    let reason = Text::try_from(reason.trim()).map_err(|error| limit("reason", &error))?;
    let request = ApiRequest::<op::AbortRun>::send(op::OfTrace { trace }, AbortRun { reason });
    service.desk.call(&visiting.caller, request).await?;
    Ok(see_other(&format!("/traces/{trace}/run")))
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
