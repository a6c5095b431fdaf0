//! Runs that are driven, over HTTP: claimed, gone on with, submitted to, read, aborted. For the user of this machine alone:
//! the tools are the caller's.

use axum::{Extension, Json, extract::State};
use demur_api::{
    code::Code,
    operation,
    refusal::Refusal,
    run::{
        AbortRun, ClaimRun, ClaimedRun, DriveReply, DriveReport, ReadRunParameters, RunLines, SubmitInRun,
        SubmittedInRun,
    },
};
use demur_desk::run::driver;
use demur_ledger::name::TraceId;
use hyper::StatusCode;

use crate::{
    api::{Api, Operation},
    caller::Caller,
    problem::Problem,
    read::{Bulky, Document, Named, Parameters},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::ClaimRun>(), claim)
        .with(Operation::of::<operation::DriveRun>(), drive)
        .with(Operation::of::<operation::SubmitInRun>(), submit)
        .with(Operation::of::<operation::ReadRun>(), read)
        .with(Operation::of::<operation::AbortRun>(), abort)
}

async fn claim(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Bulky(given, turn): Bulky<ClaimRun>,
) -> Result<Json<ClaimedRun>, Problem> {
    let claimed = service.work(move |_, owner| {
        let _turn = turn;
        expect_driver(&caller)?;
        driver::claim(owner, trace, &given)
    });
    Ok(Json(claimed.await?))
}

async fn drive(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Bulky(report, turn): Bulky<DriveReport>,
) -> Result<Json<DriveReply>, Problem> {
    let driven = service.work(move |_, owner| {
        let _turn = turn;
        expect_driver(&caller)?;
        driver::drive(owner, trace, report)
    });
    Ok(Json(driven.await?))
}

async fn submit(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Bulky(said, turn): Bulky<SubmitInRun>,
) -> Result<Json<SubmittedInRun>, Problem> {
    let submitted = service.work(move |_, owner| {
        let _turn = turn;
        expect_driver(&caller)?;
        driver::submit(owner, trace, &said)
    });
    Ok(Json(submitted.await?))
}

async fn read(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Parameters(wanted): Parameters<ReadRunParameters>,
) -> Result<Json<RunLines>, Problem> {
    let lines = service.work(move |_, owner| {
        expect_driver(&caller)?;
        driver::read_lines(owner, trace, &wanted)
    });
    Ok(Json(lines.await?))
}

async fn abort(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Document(given): Document<AbortRun>,
) -> Result<StatusCode, Problem> {
    let aborted = service.work(move |_, owner| {
        expect_driver(&caller)?;
        driver::abort(owner, trace, given)
    });
    aborted.await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A client that passes on what its own user says has no tools here.
fn expect_driver(caller: &Caller) -> Result<(), Refusal> {
    match caller.client() {
        None => Ok(()),
        Some(_) => {
            let message = "expected the user of this machine, found a client that speaks for its own user";
            Err(Refusal::new(Code::Forbidden, message)
                .with_cure("start the run with `demur run` in a terminal"))
        }
    }
}
