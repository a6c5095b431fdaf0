//! Plans: held against the rules, clarified in the way of the client's tier, confirmed, attested (CLR-40 to CLR-43, CLR-60
//! to CLR-63). Nothing of a plan comes back while a gap is open.

mod attest;
mod paper;

pub(crate) use attest::{attest, audit as audit_attestation, confirm, sign, verify};
pub(crate) use paper::{Attested, Audited, Resolved, Standing, Verified};

use demur_api::{
    call::ApiRequest,
    operation::{self, AuditPlan, ListQuestions, NoArguments, Nothing, OfGap, OfPlan, ShowWholePlan},
    plan::{ResolveOwnGap, SubmitPlan, trace_of},
    question::{QuestionListParameters, QuestionView},
    refusal::Refusal,
};
use demur_clarify::uuid::Uuid;
use demur_ledger::question::OutcomeKind;
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time;

use crate::{
    api::Visitor,
    arguments::plan::{GivenPlan, GivenSession, ResolveGap},
    fresh::Fresh,
    need::Need,
    pass::{Passed, RETURN_DELAY},
    reply::{self, Stop},
    state::Ticket,
    task::{self, Matter},
    tier::{Modes, Tier},
    visit::Visit,
};

/// What somebody wants of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    /// To know what it lacks.
    Check,
    /// The whole plan.
    Plan,
}

impl Goal {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Plan => "plan",
        }
    }
}

/// Submits a plan, or goes on with it; what it lacks is asked through the client where that can be.
pub(crate) async fn clarify(
    visit: &mut Visit<'_>,
    given: &GivenPlan,
    goal: Goal,
) -> Result<CallToolResponse, Stop> {
    let visit = visit.within(given.wait_s);
    let (session, asks) = match &visit.ticket {
        None => (submit(visit, given).await?, true),
        Some(Ticket::Plan(session)) => (*session, take_in(visit, *session).await?),
        Some(Ticket::Question(_)) => {
            let error = ErrorData::invalid_params("expected the requestState of a plan, found another", None);
            return Err(error.into());
        }
    };
    match visit.tier {
        Tier::Task(_) if !visit.is_brief() => begin(visit, session, goal).await,
        Tier::Rounds(modes) if asks && !visit.is_brief() => round(visit, session, modes, goal).await,
        Tier::Elicits(modes) if !visit.is_brief() => {
            elicit(visit, session, modes).await?;
            wait(visit, session, goal).await
        }
        _ => wait(visit, session, goal).await,
    }
}

/// Makes a task of the call while something is missing.
async fn begin(visit: &Visit<'_>, session: Uuid, goal: Goal) -> Result<CallToolResponse, Stop> {
    let asked = questions(visit, session, Some(OutcomeKind::Open)).await?;
    match asked.iter().map(|question| question.asked).min() {
        Some(first) => task::begin(visit, Matter::Plan(session, goal), first),
        None => tell(visit, session, goal).await,
    }
}

/// Waits until nothing is missing or the time is over, and says where the plan stands.
async fn wait(visit: &Visit<'_>, session: Uuid, goal: Goal) -> Result<CallToolResponse, Stop> {
    while let Some(need) = open(visit, session).await?.first() {
        match visit.closed(need.question).await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(stop) if stop.is_replaced() => time::sleep(RETURN_DELAY).await,
            Err(stop) => return Err(stop),
        }
    }
    tell(visit, session, goal).await
}

async fn submit(visit: &Visit<'_>, given: &GivenPlan) -> Result<Uuid, Stop> {
    // Chosen here, so that the request can be sent again.
    let session = given.session_id.map_or_else(|| Fresh::open().map(|mut fresh| fresh.session()), Ok)?;
    let body = SubmitPlan { plan: given.plan.clone(), session_id: Some(session), agent: None };
    visit.visitor.ask(ApiRequest::<operation::SubmitPlan>::send(NoArguments {}, body)).await?;
    Ok(session)
}

/// Takes in what the client's user said; returns whether anything was, so that the rest is worth asking.
async fn take_in(visit: &Visit<'_>, session: Uuid) -> Result<bool, Stop> {
    let mut any = visit.responses.is_empty();
    for need in open(visit, session).await? {
        if let Some(said) = visit.response(&need)? {
            any |= !matches!(visit.pass_on(&need, said).await?, Passed::Nothing);
        }
    }
    Ok(any)
}

/// Ends this round with what is missing, if the client has a way to ask for it.
async fn round(visit: &Visit<'_>, session: Uuid, modes: Modes, goal: Goal) -> Result<CallToolResponse, Stop> {
    let address = visit.address().await;
    let request = |need: Need| need.request(modes, address.as_deref()).map(|request| (need.key, request));
    let needs = open(visit, session).await?.into_iter().filter(|need| visit.may_show(need));
    let requests: Vec<_> = needs.filter_map(request).collect();
    if requests.is_empty() {
        return wait(visit, session, goal).await;
    }
    Ok(visit.input_required(requests, &Ticket::Plan(session))?.into())
}

/// Asks the client's user for one gap after the other, also for those that an answer brings up, until the time is over or
/// the user has had enough.
async fn elicit(visit: &Visit<'_>, session: Uuid, modes: Modes) -> Result<(), Stop> {
    let address = visit.address().await;
    let way = |need: &Need| visit.may_show(need) && need.request(modes, address.as_deref()).is_some();
    for _ in 0..MAX_GAPS {
        // What is asked elsewhere, or cannot be asked, holds up nothing that a form can ask.
        let needs = open(visit, session).await?.into_iter().filter(way);
        let Some(need) = needs.min_by_key(|need| !need.is_relayable()) else { return Ok(()) };
        let passed = match visit.elicit(&need, modes).await {
            Ok(Some(Passed::Misfit(why))) => visit.elicit(&need.again(&why), modes).await,
            passed => passed,
        };
        match passed {
            Ok(Some(Passed::Done(_))) => {}
            Ok(_) => return Ok(()),
            Err(stop) if stop.is_replaced() => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(())
}

/// Returns what a plan lacks, as its questions ask for it.
async fn open(visit: &Visit<'_>, session: Uuid) -> Result<Vec<Need>, Stop> {
    Ok(questions(visit, session, Some(OutcomeKind::Open)).await?.iter().map(Need::of).collect())
}

/// Returns the questions of a plan, all or those in one state.
pub(crate) async fn questions(
    visit: &Visit<'_>,
    session: Uuid,
    state: Option<OutcomeKind>,
) -> Result<Vec<QuestionView>, Stop> {
    let query = QuestionListParameters {
        state: state.map(|state| state.to_string()),
        trace: Some(trace_of(session)),
        limit: Some(200),
        ..QuestionListParameters::default()
    };
    let listed = visit.visitor.ask(ApiRequest::<ListQuestions>::get(NoArguments {}, query)).await?;
    Ok(listed.questions.into_iter().filter(|question| question.gap.is_some()).collect())
}

/// Returns where a plan stands, and the plan itself where somebody wants it and nothing is missing.
async fn tell(visit: &Visit<'_>, session: Uuid, goal: Goal) -> Result<CallToolResponse, Stop> {
    Ok(result(visit, session, goal).await?.into())
}

/// Returns the same as the result of a tool.
pub(crate) async fn result(visit: &Visit<'_>, session: Uuid, goal: Goal) -> Result<CallToolResult, Stop> {
    let mut standing = Standing::read(visit, session).await?;
    if goal == Goal::Plan && !standing.is_open() {
        let request = ApiRequest::<ShowWholePlan>::get(OfPlan { session }, Nothing {});
        standing.plan = Some(Value::Object(visit.visitor.ask(request).await?.plan));
    }
    Ok(told(&standing))
}

fn told(standing: &Standing) -> CallToolResult {
    reply::with(standing, standing.words())
}

/// Returns the refusal of what needs a plan without gaps, while one is open (CLR-61, CLR-63).
pub(crate) async fn guard(
    visit: &Visit<'_>,
    session: Uuid,
) -> Result<Result<Standing, CallToolResult>, Stop> {
    let standing = Standing::read(visit, session).await?;
    if !standing.is_open() {
        return Ok(Ok(standing));
    }
    let mut refused = told(&standing);
    refused.is_error = Some(true);
    Ok(Err(refused))
}

/// Answers a gap in the agent's own name: on record as an agent's word.
pub(crate) async fn resolve(visit: &Visit<'_>, given: &ResolveGap) -> Result<CallToolResponse, Stop> {
    let path = OfGap { session: given.session_id, gap: given.gap_id.to_string() };
    let body = ResolveOwnGap { answer: given.answer.clone(), note: None };
    let reply = visit.visitor.ask(ApiRequest::<operation::ResolveOwnGap>::send(path, body)).await?;
    let resolved = Resolved::of(reply);
    let words = resolved.words();
    Ok(reply::with(&resolved, words).into())
}

/// Gives the record of every round.
pub(crate) async fn audit(visit: &Visit<'_>, given: &GivenSession) -> Result<CallToolResponse, Stop> {
    let audited = Audited::of(record(&visit.visitor, given.session_id).await?);
    let words = audited.words();
    Ok(reply::with(&audited, words).into())
}

/// Returns the signed record of every round, as it goes to clients.
pub(crate) async fn record(visitor: &Visitor, session: Uuid) -> Result<Value, Refusal> {
    let record = visitor.ask(ApiRequest::<AuditPlan>::get(OfPlan { session }, Nothing {})).await?;
    serde_json::to_value(record).map_err(|error| Refusal::bug(&error))
}

/// How many gaps are asked in one call.
const MAX_GAPS: usize = 64;
