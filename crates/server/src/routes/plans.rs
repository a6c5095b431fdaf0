//! Plans over HTTP: held against the rules, submitted, answered gap by gap, confirmed, attested, handed on (CLR-30). A
//! retry is safe everywhere: a session is named by whoever opens it, and what counted already is told again (CLR-04).

mod paper;
mod result;

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    code::Code,
    operation,
    plan::{
        BeginOperation, CheckPlan, ConfirmPlan, PlanStanding, ResolveGap, ResolveOwnGap, ResolvedGap,
        SubmitPlan,
    },
    refusal::Refusal,
};
use demur_clarify::{status::PlanStatus, uuid::Uuid};
use demur_core::limit::Text;
use demur_desk::{
    owner::Owner,
    plan::{self, Resolution, Submission},
    session::{self, Speaker},
};
use demur_ledger::{author::Author, role::Role};
use demur_plan::Session;
use demur_rules::Plan;
use hyper::StatusCode;
use serde_json::{Map, Value};

use super::check_trace;
use crate::{
    api::{Api, Operation},
    caller::{Caller, LOCAL_AGENT},
    problem::Problem,
    read::{Document, Named},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    result::add(paper::add(add_going_on(add_submitting(api))))
}

fn add_submitting(api: Api) -> Api {
    api.with(Operation::of::<operation::CheckPlan>(), check)
        .with(Operation::of::<operation::SubmitPlan>(), submit)
        .with(Operation::of::<operation::ShowPlan>(), show)
}

fn add_going_on(api: Api) -> Api {
    api.with(Operation::of::<operation::ResolveGap>(), resolve)
        .with(Operation::of::<operation::ResolveOwnGap>(), resolve_own)
        .with(Operation::of::<operation::BeginOperation>(), begin)
        .with(Operation::of::<operation::ConfirmPlan>(), confirm)
}

async fn check(
    State(service): State<Shared>,
    Document(given): Document<CheckPlan>,
) -> Result<Json<PlanStanding>, Problem> {
    let checked = service.work(move |service, owner| {
        let (plan, signer) = (read_plan(given.plan)?, session::signer(owner.ledger(), owner.keystore())?);
        plan::check(&plan, &*service.rules()?, Some(&signer))
    });
    Ok(Json(checked.await?))
}

async fn submit(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Document(given): Document<SubmitPlan>,
) -> Result<Response, Problem> {
    let submitted = service.work(move |service, owner| {
        let (plan, rules) = (read_plan(given.plan)?, service.rules()?);
        let chosen = given.agent.as_deref();
        let author =
            caller.asker(owner, chosen.or(caller.client()).or(caller.is_local().then_some(LOCAL_AGENT)))?;
        let spoken = owner.roster()?.name(author.principal()).to_owned();
        let name = spoken.parse().map_err(|error| Refusal::new(Code::AgentName, error))?;
        let known = |session| owner.ledger().store().trace(session::trace_of(session));
        let repeated = given.session_id.map(known).transpose()?.flatten().is_some();
        let submission =
            Submission { author, name: &name, plan: &plan, rules: &rules, session: given.session_id };
        let session = plan::submit(owner, submission)?;
        Ok((repeated, told(owner, &session, &spoken)?))
    });
    let (repeated, standing) = submitted.await?;
    let status = if repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(standing)).into_response())
}

async fn show(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
) -> Result<Json<PlanStanding>, Problem> {
    let found = service.work(move |_, owner| standing(owner, &seen(owner, &caller, session)?));
    Ok(Json(found.await?))
}

async fn resolve(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named((session, gap)): Named<(Uuid, String)>,
    Document(given): Document<ResolveGap>,
) -> Result<Json<ResolvedGap>, Problem> {
    let resolved = service.work(move |_, owner| {
        let speaker = caller.answerer(owner, given.by)?;
        resolving(owner, &speaker, session, &gap, given.answer.as_deref(), given.note)
    });
    Ok(Json(resolved.await?))
}

async fn resolve_own(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named((session, gap)): Named<(Uuid, String)>,
    Document(given): Document<ResolveOwnGap>,
) -> Result<Json<ResolvedGap>, Problem> {
    let resolved = service.work(move |_, owner| {
        let (_, author) = own(owner, &caller, session, None)?;
        // Whoever answers needs a key for that; it is the agent's, and its word is an agent's.
        let name = format!("{}.answers", owner.roster()?.name(author.principal()));
        let speaker = Speaker::Key(owner.find_or_enrol(&name, Role::Answerer)?);
        resolving(owner, &speaker, session, &gap, given.answer.as_deref(), given.note)
    });
    Ok(Json(resolved.await?))
}

fn resolving(
    owner: &Owner,
    speaker: &Speaker,
    session: Uuid,
    gap: &str,
    answer: Option<&str>,
    note: Option<Text<1, 4096>>,
) -> Result<ResolvedGap, Refusal> {
    let (_, judged) = plan::resolve(owner, speaker, &Resolution { session, gap, answer, note })?;
    let to = match speaker.principal() {
        Some(principal) => owner.roster()?.name(principal).to_owned(),
        None => speaker.by().map(|by| by.to_string()).unwrap_or_default(),
    };
    let session = told(owner, &session::read(owner.ledger(), session)?, &to)?;
    Ok(plan::resolved(gap, answer, &judged, session))
}

async fn begin(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
    Document(given): Document<BeginOperation>,
) -> Result<Json<PlanStanding>, Problem> {
    let begun = service.work(move |_, owner| {
        let (_, author) = own(owner, &caller, session, given.agent.as_deref())?;
        let name = owner.roster()?.name(author.principal()).to_owned();
        told(owner, &plan::begin(owner, author, session, &given.operation)?, &name)
    });
    Ok(Json(begun.await?))
}

async fn confirm(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(session): Named<Uuid>,
    Document(given): Document<ConfirmPlan>,
) -> Result<Json<PlanStanding>, Problem> {
    let confirmed = service.work(move |_, owner| {
        let (found, author) = own(owner, &caller, session, given.agent.as_deref())?;
        // The same confirmation again.
        if found.standing() == PlanStatus::Confirmed && found.work().agent() == Some(author.principal()) {
            return standing(owner, &found);
        }
        let name = owner.roster()?.name(author.principal()).to_owned();
        told(owner, &plan::confirm(owner, author, session)?.1, &name)
    });
    Ok(Json(confirmed.await?))
}

/// Returns where a session stands, and records that its open gaps were put before somebody.
fn told(owner: &Owner, session: &Session, to: &str) -> Result<PlanStanding, Refusal> {
    let standing = standing(owner, session)?;
    plan::deliver(owner, session, to, CHANNEL)?;
    Ok(standing)
}

fn standing(owner: &Owner, session: &Session) -> Result<PlanStanding, Refusal> {
    let document = plan::document(session, owner.ledger(), owner.keystore())?;
    Ok(plan::standing(session, document)?)
}

/// Returns a session that this caller may see; one that it may not see is as unknown as one that is not there.
fn seen(owner: &Owner, caller: &Caller, session: Uuid) -> Result<Session, Refusal> {
    let found = session::read(owner.ledger(), session)?;
    check_trace(owner, caller, found.trace()).map_err(|_| unknown(session))?;
    Ok(found)
}

/// Returns a session that this caller may go on with, and in whose name.
fn own(
    owner: &Owner,
    caller: &Caller,
    session: Uuid,
    name: Option<&str>,
) -> Result<(Session, Arc<Author>), Refusal> {
    let found = seen(owner, caller, session)?;
    let agent = found.work().agent();
    let name = name.or(caller.client());
    let author = match (caller, name, agent) {
        (Caller::Local { .. }, None, Some(agent)) => Some(owner.author_of(agent)?),
        // No key is made for a name that cannot be the right one.
        (Caller::Local { .. }, Some(name), _) => owner.find_author(name, Role::Agent)?,
        (Caller::Local { .. } | Caller::Token(_) | Caller::Stranger, ..) => Some(caller.asker(owner, name)?),
    };
    let author = author.filter(|author| agent == Some(author.principal())).ok_or_else(|| {
        let message = "expected whoever submitted the plan, found somebody else";
        Refusal::new(Code::Forbidden, message)
    })?;
    Ok((found, author))
}

fn unknown(session: Uuid) -> Refusal {
    let message = format!("expected a session of this data folder, found none called {session}");
    Refusal::new(Code::SessionUnknown, message).with_cure("a token sees the sessions that it opened")
}

fn read_plan(members: Map<String, Value>) -> Result<Plan, Refusal> {
    Plan::try_from(Value::Object(members)).map_err(|error| {
        Refusal::new(Code::PlanMalformed, error)
            .about("plan")
            .with_cure("a plan is one JSON object; nothing was recorded")
    })
}

/// The way on which questions of a plan reach somebody here.
const CHANNEL: &str = "http";
