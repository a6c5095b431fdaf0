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
use demur_clarify::uuid::Uuid;
use demur_core::limit::Text;
use demur_desk::{
    error::CommandError,
    owner::Owner,
    plan::{self, PlanStanding, Resolution, ResolvedGap, Submission},
    session::{self, Speaker},
};
use demur_ledger::{author::Author, name::Operation as Work, role::Role};
use demur_plan::{Session, Standing};
use demur_rules::Plan;
use demur_store::contract::Store as _;
use hyper::{Method, StatusCode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::check_trace;
use crate::{
    api::{Api, Operation},
    caller::{Caller, LOCAL_AGENT, Scope},
    problem::Problem,
    read::{Document, Named},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    result::add(paper::add(add_going_on(add_submitting(api))))
}

fn add_submitting(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::POST,
            "/v1/plans/check",
            "checkPlan",
            ASKING,
            "Hold a plan against the rules; nothing is recorded",
        )
        .takes::<CheckPlan>()
        .gives::<PlanStanding>(StatusCode::OK, "What the rules find"),
        check,
    )
    .with(
        Operation::new(
            Method::POST,
            "/v1/plans",
            "submitPlan",
            ASKING,
            "Submit a plan; what it lacks comes back as gaps. A retry names the same `session_id`",
        )
        .takes::<SubmitPlan>()
        .gives::<PlanStanding>(StatusCode::CREATED, "The plan is on record")
        .gives::<PlanStanding>(StatusCode::OK, "The same plan was recorded before, in this session"),
        submit,
    )
    .with(
        Operation::new(Method::GET, "/v1/plans/{session}", "plan", SEEING, "Say where a plan stands")
            .gives::<PlanStanding>(StatusCode::OK, "Where it stands"),
        show,
    )
}

fn add_going_on(api: Api) -> Api {
    api.with(
        Operation::new(
            Method::POST,
            "/v1/plans/{session}/gaps/{gap}",
            "resolveGap",
            ANSWERING,
            "Answer a gap of a plan, or accept a warning as it is",
        )
        .takes::<ResolveGap>()
        .gives::<ResolvedGap>(StatusCode::OK, "What became of the answer; an escalated gap stays open"),
        resolve,
    )
    .with(
        Operation::new(
            Method::POST,
            "/v1/plans/{session}/gaps/{gap}/own",
            "resolveOwnGap",
            ASKING,
            "Answer a gap of one's own plan, as an agent; refused where the rule demands a person",
        )
        .takes::<ResolveOwnGap>()
        .gives::<ResolvedGap>(StatusCode::OK, "What became of the answer; an escalated gap stays open"),
        resolve_own,
    )
    .with(
        Operation::new(
            Method::POST,
            "/v1/plans/{session}/operations",
            "beginOperation",
            ASKING,
            "Record that an operation begins; refused while an open gap blocks it",
        )
        .takes::<BeginOperation>()
        .gives::<PlanStanding>(StatusCode::OK, "It is on record: go ahead"),
        begin,
    )
    .with(
        Operation::new(
            Method::POST,
            "/v1/plans/{session}/confirm",
            "confirmPlan",
            ASKING,
            "Confirm a plan with every answer in it; refused while a gap is open",
        )
        .takes::<ConfirmPlan>()
        .gives::<PlanStanding>(StatusCode::OK, "It is confirmed, now or before"),
        confirm,
    )
}

/// A plan to be held against the rules.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckPlan {
    /// The plan.
    #[schemars(schema_with = "plan_schema")]
    plan: Map<String, Value>,
}

/// A plan to be submitted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitPlan {
    /// The plan.
    #[schemars(schema_with = "plan_schema")]
    plan: Map<String, Value>,
    /// The name of the session: the same plan under the same name is recorded once. Otherwise the server chooses one.
    #[serde(default)]
    session_id: Option<Uuid>,
    /// The agent in whose name the user of this machine submits; otherwise `agent`. A token speaks as itself.
    #[serde(default)]
    agent: Option<Text<1, 64>>,
}

/// What settles a gap.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveGap {
    /// The answer; none to accept a warning as it is.
    #[serde(default)]
    answer: Option<Text<1, 4000>>,
    /// Why.
    #[serde(default)]
    note: Option<Text<1, 4096>>,
    /// Who says so, where a person speaks through somebody else.
    #[serde(default)]
    by: Option<Text<1, 256>>,
}

/// What settles a gap by the word of whoever submitted the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveOwnGap {
    /// The answer; none to accept a warning as it is.
    #[serde(default)]
    answer: Option<Text<1, 4000>>,
    /// Why.
    #[serde(default)]
    note: Option<Text<1, 4096>>,
}

/// An operation that is to begin.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BeginOperation {
    /// Its name, as gaps name what they block.
    operation: Work,
    /// The agent in whose name the user of this machine begins it; otherwise whoever submitted the plan.
    #[serde(default)]
    agent: Option<Text<1, 64>>,
}

/// A plan to be confirmed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConfirmPlan {
    /// The agent in whose name the user of this machine confirms it; otherwise whoever submitted the plan.
    #[serde(default)]
    agent: Option<Text<1, 64>>,
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
        let name = spoken.parse().map_err(|error| CommandError::input("AGENT_NAME", error))?;
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
) -> Result<ResolvedGap, CommandError> {
    let (_, judged) = plan::resolve(owner, speaker, &Resolution { session, gap, answer, note })?;
    let to = match speaker.principal() {
        Some(principal) => owner.roster()?.name(principal).to_owned(),
        None => speaker.by().map(|by| by.to_string()).unwrap_or_default(),
    };
    let session = told(owner, &session::read(owner.ledger(), session)?, &to)?;
    Ok(ResolvedGap::new(gap, answer, &judged, session))
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
        if found.standing() == Standing::Confirmed && found.work().agent() == Some(author.principal()) {
            return standing(owner, &found);
        }
        let name = owner.roster()?.name(author.principal()).to_owned();
        told(owner, &plan::confirm(owner, author, session)?.1, &name)
    });
    Ok(Json(confirmed.await?))
}

/// Returns where a session stands, and records that its open gaps were put before somebody.
fn told(owner: &Owner, session: &Session, to: &str) -> Result<PlanStanding, CommandError> {
    let standing = standing(owner, session)?;
    plan::deliver(owner, session, to, CHANNEL)?;
    Ok(standing)
}

fn standing(owner: &Owner, session: &Session) -> Result<PlanStanding, CommandError> {
    let document = plan::document(session, owner.ledger(), owner.keystore())?;
    Ok(PlanStanding::of(session, document)?)
}

/// Returns a session that this caller may see; one that it may not see is as unknown as one that is not there.
fn seen(owner: &Owner, caller: &Caller, session: Uuid) -> Result<Session, CommandError> {
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
) -> Result<(Session, Arc<Author>), CommandError> {
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
        CommandError::refused("FORBIDDEN", message)
    })?;
    Ok((found, author))
}

fn unknown(session: Uuid) -> CommandError {
    let message = format!("expected a session of this data folder, found none called {session}");
    CommandError::input("SESSION_UNKNOWN", message).with_hint("a token sees the sessions that it opened")
}

fn read_plan(members: Map<String, Value>) -> Result<Plan, CommandError> {
    Plan::try_from(Value::Object(members)).map_err(|error| {
        CommandError::input("PLAN_MALFORMED", error)
            .about(Some("plan"))
            .with_hint("a plan is one JSON object; nothing was recorded")
    })
}

/// A plan is free in its members; the limits on their names and number are the rules' own.
fn plan_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "What somebody wants done, member by member: at most 256 KiB, every member named by letters, digits, _, $ and -.",
        "maxProperties": 1024,
    })
}

/// Who may submit plans and go on with them.
const ASKING: &[Scope] = &[Scope::Ask];
/// Who may settle gaps.
const ANSWERING: &[Scope] = &[Scope::Answer, Scope::Relay];
/// Who may see plans.
const SEEING: &[Scope] = &[Scope::Ask, Scope::Read];
/// The way on which questions of a plan reach somebody here.
const CHANNEL: &str = "http";
