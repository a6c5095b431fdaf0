//! What reads a whole trace: its verification, and the picture of a run. Only so many at once, and only so long.

use axum::{extract::State, response::Response};
use demur_desk::{audit, excerpt};
use demur_ledger::{name::TraceId, verify::Options};
use demur_web::{frame::Here, run::Run, verification::Verification};
use hyper::{Method, StatusCode};

use super::{LOOKING, Visiting, page, traces::about};
use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::page(Method::GET, "/traces/{trace}/verification", LOOKING), verification)
        .with(Operation::page(Method::GET, "/traces/{trace}/run", LOOKING), run)
}

async fn verification(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
) -> Result<Response, Problem> {
    let _turn = service.desk.large_turn()?;
    let found = service.work(move |_, owner| {
        let about = about(owner, &excerpt::summary(owner, trace)?)?;
        if about.events > LONGEST {
            return Ok((about, None));
        }
        let options = Options { threads: THREADS, ..Options::default() };
        let report = audit::audit(owner.ledger(), trace, &options, &mut |_| ())?;
        Ok((about, Some(report)))
    });
    let (about, report) = found.await?;
    let frame = visiting.frame(Here::Traces);
    let shown = match report {
        None => Verification::too_long(&frame, about),
        Some(Ok(report)) => Verification::new(&frame, about, &report),
        Some(Err(error)) => Verification::not_exported(&frame, about, &error.to_string()),
    };
    page(StatusCode::OK, &shown)
}

async fn run(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(trace): Named<TraceId>,
) -> Result<Response, Problem> {
    let _turn = service.desk.large_turn()?;
    let found = service.work(move |_, owner| {
        let about = about(owner, &excerpt::summary(owner, trace)?)?;
        let drawable = about.is_run && about.events <= LONGEST;
        let graph = drawable.then(|| excerpt::graph(owner, trace)).transpose()?;
        Ok((about, graph))
    });
    let (about, graph) = found.await?;
    let frame = visiting.frame(Here::Traces);
    let shown = match &graph {
        Some(graph) => Run::new(&frame, about, graph),
        None => Run::without(&frame, about),
    };
    page(StatusCode::OK, &shown)
}

/// How many events a trace has at most that is read for a page.
const LONGEST: u64 = 200_000;
/// How many threads one verification uses: others want to be served meanwhile.
const THREADS: usize = 1;
