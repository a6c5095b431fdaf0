//! Accountable runs over HTTP (seed 002): opened, spoken in by whoever takes part, audited, looked at. The desk signs with a
//! key of the caller's own for each role, `NAME.ROLE`. Every guard of the ledger is in force.

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_api::{
    code::Code,
    operation,
    refusal::Refusal,
    run::{AuditRun, AuditedRun, GivenArtifact, OpenRun, RunEvent, RunStanding, SayInRun},
};
use demur_desk::{
    owner::Owner,
    run::{self, Opening, Saying},
};
use demur_ledger::{content::SessionContent, name::TraceId, role::Role};
use hyper::{HeaderMap, StatusCode};
use serde_json::value::to_raw_value;

use super::check_trace;
use crate::{
    api::{Api, Operation},
    caller::Caller,
    problem::Problem,
    read::{Bulky, Document, Named, idempotency_key},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    add_speaking(
        api.with(Operation::of::<operation::OpenRun>(), open)
            .with(Operation::of::<operation::ShowRun>(), show),
    )
}

fn add_speaking(api: Api) -> Api {
    api.with(Operation::of::<operation::SayInRun>(), say).with(Operation::of::<operation::AuditRun>(), audit)
}

async fn open(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Document(given): Document<OpenRun>,
) -> Result<Response, Problem> {
    let opened = service.work(move |_, owner| {
        let OpenRun { trace, task, objective, constraints, agents, policy, agent } = given;
        let planner = caller.player(owner, agent.as_deref())?;
        let opening = Opening {
            planner: &planner,
            agents: &agents,
            // Who has a token cannot fill the registry with names.
            anybody: caller.is_local(),
            trace,
            content: SessionContent { constraints, objective, task },
            demands: policy,
        };
        let opened = run::open(owner, &opening)?;
        Ok((opened.repeated, run::standing(owner, opened.trace)?))
    });
    let (repeated, standing) = opened.await?;
    Ok((status(repeated), Json(standing)).into_response())
}

async fn show(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
) -> Result<Json<RunStanding>, Problem> {
    let found = service.work(move |_, owner| {
        seen(owner, &caller, trace)?;
        run::standing(owner, trace)
    });
    Ok(Json(found.await?))
}

async fn say(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    headers: HeaderMap,
    Bulky(given, turn): Bulky<SayInRun>,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    // These look at the whole record.
    let looks = matches!(&*given.kind, "final_statement_signed" | "verification_run_completed");
    let turn = if looks && turn.is_none() { Some(service.heavy_turn()?) } else { turn };
    let said = service.work(move |_, owner| {
        let _turn = turn;
        seen(owner, &caller, trace)?;
        let SayInRun { role, kind, facts, content, artifact, agent } = given;
        let author = run::author(owner, &caller.player(owner, agent.as_deref())?, role)?;
        let artifact = artifact.map(bytes).transpose()?;
        let saying = Saying { trace, kind: kind.to_string(), facts, content, artifact };
        let recorded = run::say(owner, &author, saying, key.as_deref())?;
        let phase = owner.ledger().store().trace(trace)?.and_then(|summary| summary.phase);
        let (sequence, hash) = (recorded.position.sequence, recorded.position.hash);
        Ok((recorded.repeated, RunEvent { trace, sequence, hash, phase }))
    });
    let (repeated, event) = said.await?;
    Ok((status(repeated), Json(event)).into_response())
}

async fn audit(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(trace): Named<TraceId>,
    Document(given): Document<AuditRun>,
) -> Result<Json<AuditedRun>, Problem> {
    let turn = service.heavy_turn()?;
    let audited = service.work(move |_, owner| {
        let _turn = turn;
        seen(owner, &caller, trace)?;
        let player = caller.player(owner, given.agent.as_deref())?;
        let author = run::author(owner, &player, Role::Auditor)?;
        let audited = run::audit(owner, &author, trace, given.profile)?;
        let run::Audited { profile, status, events, report } = audited;
        let report = report.as_ref().map(to_raw_value).transpose().map_err(|error| Refusal::bug(&error))?;
        Ok(AuditedRun { status, profile, events, report, run: run::standing(owner, trace)? })
    });
    Ok(Json(audited.await?))
}

/// Checks that a trace is there and this caller may see it.
fn seen(owner: &Owner, caller: &Caller, trace: TraceId) -> Result<(), Refusal> {
    check_trace(owner, caller, trace)?;
    run::check_run(owner.ledger().store(), trace).map(|_| ())
}

fn bytes(artifact: GivenArtifact) -> Result<(Vec<u8>, &'static str), Refusal> {
    match (artifact.text, artifact.base64) {
        (Some(text), None) => Ok((text.into_bytes(), "text/plain")),
        (None, Some(text)) => {
            let bytes = STANDARD.decode(text).map_err(|error| {
                Refusal::new(Code::Malformed, format!("expected base64: {error}")).about("artifact.base64")
            })?;
            Ok((bytes, "application/octet-stream"))
        }
        _ => Err(Refusal::new(Code::Malformed, "expected either text or base64, found both or neither")
            .about("artifact")),
    }
}

const fn status(repeated: bool) -> StatusCode {
    if repeated { StatusCode::OK } else { StatusCode::CREATED }
}
