//! Plans: held against the rules, clarified in the way of the client's tier, confirmed, attested (CLR-40 to CLR-43, CLR-60
//! to CLR-63). Nothing of a plan comes back while a gap is open.

mod attest;
mod documents;

pub(crate) use attest::{attest, audit as audit_attestation, confirm, sign, verify};
pub(crate) use documents::{Attested, Audited, Resolved, Standing, Verified};

use demur_api::{
    call::ApiRequest,
    operation::{self, AuditPlan, ListQuestions, NoArguments, Nothing, OfGap, OfPlan, ShowWholePlan},
    plan::{AmendPlan, PlanAct, ResolveOwnGap, SubmitPlan},
    question::{QuestionListParameters, QuestionView},
    refusal::Refusal,
};
use demur_clarify::{audit::AuditRecord, name::GapId, uuid::Uuid};
use demur_ledger::{name::TraceId, question::OutcomeKind};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time;

use crate::{
    arguments::plan::{ChangePlan, GivenPlan, GivenSession, PlanChange, ResolveGap, checked},
    host::{CallerConnection, Visitor},
    new_names::NewNames,
    pass::{Passed, RETURN_DELAY},
    prompt::Prompt,
    reply::{self, Stop},
    state::RoundState,
    task::{self, TaskSubject},
    tier::{Modes, Tier},
    tool_call::ToolCall,
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
    call: &mut ToolCall<'_, impl CallerConnection>,
    given: &GivenPlan,
    goal: Goal,
) -> Result<CallToolResponse, Stop> {
    let call = call.within(given.wait_s);
    let (session, asks) = match &call.round {
        None => (submit(call, given).await?, true),
        Some(RoundState::Plan(session)) => (*session, take_in(call, *session).await?),
        Some(RoundState::Question(_)) => {
            let error = ErrorData::invalid_params("expected the requestState of a plan, found another", None);
            return Err(error.into());
        }
    };
    match call.tier {
        Tier::Task(_) if !call.is_brief() => begin(call, session, goal).await,
        Tier::Rounds(modes) if asks && !call.is_brief() => round(call, session, modes, goal).await,
        Tier::Elicits(modes) if !call.is_brief() => {
            elicit(call, session, modes).await?;
            wait(call, session, goal).await
        }
        _ => wait(call, session, goal).await,
    }
}

/// Makes a task of the call while something is missing.
async fn begin(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
    goal: Goal,
) -> Result<CallToolResponse, Stop> {
    let asked = questions(call, session, Some(OutcomeKind::Open)).await?;
    match asked.iter().map(|question| question.asked).min() {
        Some(first) => task::begin(call, TaskSubject::Plan(session, goal), first),
        None => tell(call, session, goal).await,
    }
}

/// Waits until nothing is missing or the time is over, and says where the plan stands.
async fn wait(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
    goal: Goal,
) -> Result<CallToolResponse, Stop> {
    while let Some(prompt) = open(call, session).await?.first() {
        match call.closed(prompt.question).await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(stop) if stop.is_replaced() => time::sleep(RETURN_DELAY).await,
            Err(stop) => return Err(stop),
        }
    }
    tell(call, session, goal).await
}

async fn submit(call: &ToolCall<'_, impl CallerConnection>, given: &GivenPlan) -> Result<Uuid, Stop> {
    // Chosen here, so that the request can be sent again.
    let session = given.session_id.map_or_else(|| NewNames::open().map(|mut names| names.session()), Ok)?;
    let body = SubmitPlan { plan: given.checked()?, session_id: Some(session), agent: None };
    call.visitor.ask(ApiRequest::<operation::SubmitPlan>::send(NoArguments {}, body)).await?;
    Ok(session)
}

/// Takes in what the client's user said; returns whether anything was, so that the rest is worth asking.
async fn take_in(call: &ToolCall<'_, impl CallerConnection>, session: Uuid) -> Result<bool, Stop> {
    let mut any = call.responses.is_empty();
    for prompt in open(call, session).await? {
        if let Some(said) = call.response(&prompt)? {
            any |= !matches!(call.pass_on(&prompt, said).await?, Passed::Nothing);
        }
    }
    Ok(any)
}

/// Ends this round with what is missing, if the client has a way to ask for it.
async fn round(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
    modes: Modes,
    goal: Goal,
) -> Result<CallToolResponse, Stop> {
    let address = call.address().await;
    let request =
        |prompt: Prompt| prompt.request(modes, address.as_deref()).map(|request| (prompt.key, request));
    let prompts = open(call, session).await?.into_iter().filter(|prompt| call.may_show(prompt));
    let requests: Vec<_> = prompts.filter_map(request).collect();
    if requests.is_empty() {
        return wait(call, session, goal).await;
    }
    Ok(call.input_required(requests, &RoundState::Plan(session))?.into())
}

/// Asks the client's user for one gap after the other, also for those that an answer brings up, until the time is over or
/// the user has had enough.
async fn elicit(call: &ToolCall<'_, impl CallerConnection>, session: Uuid, modes: Modes) -> Result<(), Stop> {
    let address = call.address().await;
    let way = |prompt: &Prompt| call.may_show(prompt) && prompt.request(modes, address.as_deref()).is_some();
    for _ in 0..MAX_GAPS {
        // What is asked elsewhere, or cannot be asked, holds up nothing that a form can ask.
        let prompts = open(call, session).await?.into_iter().filter(way);
        let Some(prompt) = prompts.min_by_key(|prompt| !prompt.is_relayable()) else { return Ok(()) };
        let passed = match call.elicit(&prompt, modes).await {
            Ok(Some(Passed::Misfit(why))) => call.elicit(&prompt.again(&why), modes).await,
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
async fn open(call: &ToolCall<'_, impl CallerConnection>, session: Uuid) -> Result<Vec<Prompt>, Stop> {
    Ok(questions(call, session, Some(OutcomeKind::Open)).await?.iter().map(Prompt::of).collect())
}

/// Returns the questions of a plan, all or those in one state.
pub(crate) async fn questions(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
    state: Option<OutcomeKind>,
) -> Result<Vec<QuestionView>, Stop> {
    let query = QuestionListParameters {
        state: state.map(|state| state.to_string()),
        trace: Some(TraceId::of_session(session.as_u128())),
        limit: Some(200),
        ..QuestionListParameters::default()
    };
    let listed = call.visitor.ask(ApiRequest::<ListQuestions>::get(NoArguments {}, query)).await?;
    Ok(listed.questions.into_iter().filter(|question| question.gap.is_some()).collect())
}

/// Returns where a plan stands, and the plan itself where somebody wants it and nothing is missing.
async fn tell(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
    goal: Goal,
) -> Result<CallToolResponse, Stop> {
    Ok(result(call, session, goal).await?.into())
}

/// Returns the same as the result of a tool.
pub(crate) async fn result(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
    goal: Goal,
) -> Result<CallToolResult, Stop> {
    let mut standing = Standing::read(call, session).await?;
    if goal == Goal::Plan && standing.is_whole() {
        let request = ApiRequest::<ShowWholePlan>::get(OfPlan { session }, Nothing {});
        standing.plan = Some(Value::Object(call.visitor.ask(request).await?.plan));
    }
    Ok(told(&standing))
}

fn told(standing: &Standing) -> CallToolResult {
    reply::with(standing, standing.words())
}

/// Returns the refusal of what needs a plan without gaps, while one is open (CLR-61, CLR-63).
pub(crate) async fn guard(
    call: &ToolCall<'_, impl CallerConnection>,
    session: Uuid,
) -> Result<Result<Standing, CallToolResult>, Stop> {
    let standing = Standing::read(call, session).await?;
    if !standing.is_open() {
        return Ok(Ok(standing));
    }
    let mut refused = told(&standing);
    refused.is_error = Some(true);
    Ok(Err(refused))
}

/// Answers a gap in the agent's own name: on record as an agent's word.
pub(crate) async fn resolve(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &ResolveGap,
) -> Result<CallToolResponse, Stop> {
    let path = OfGap { session: given.session_id, gap: given.gap_id.to_string() };
    let body = ResolveOwnGap { answer: given.answer.clone(), note: None, change: given.change };
    let reply = call.visitor.ask(ApiRequest::<operation::ResolveOwnGap>::send(path, body)).await?;
    let resolved = Resolved::of(reply);
    let words = resolved.words();
    Ok(reply::with(&resolved, words).into())
}

/// Amends a plan, withdraws it or a gap of it, or puts a gap again.
pub(crate) async fn change(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &ChangePlan,
) -> Result<CallToolResponse, Stop> {
    let session = given.session_id;
    let act = || PlanAct { reason: given.reason.clone(), ..PlanAct::default() };
    let of_gap = |gap: &GapId| OfGap { session, gap: gap.to_string() };
    let standing = match (given.change, &given.plan_object, &given.gap_id) {
        (PlanChange::Amend, Some(plan), None) => {
            let body = AmendPlan { plan: checked(plan)?, agent: None };
            call.visitor.ask(ApiRequest::<operation::AmendPlan>::send(OfPlan { session }, body)).await?
        }
        (PlanChange::Withdraw, None, None) => {
            call.visitor.ask(ApiRequest::<operation::WithdrawPlan>::send(OfPlan { session }, act())).await?
        }
        (PlanChange::Withdraw, None, Some(gap)) => {
            call.visitor.ask(ApiRequest::<operation::WithdrawGap>::send(of_gap(gap), act())).await?
        }
        (PlanChange::AskAgain, None, Some(gap)) => {
            call.visitor.ask(ApiRequest::<operation::AskGapAgain>::send(of_gap(gap), act())).await?
        }
        _ => {
            let message =
                "expected plan_object with amend, gap_id with ask_again, and gap_id or nothing with withdraw";
            return Err(ErrorData::invalid_params(message, None).into());
        }
    };
    Ok(told(&Standing::of(standing)).into())
}

/// Gives the record of every round.
pub(crate) async fn audit(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &GivenSession,
) -> Result<CallToolResponse, Stop> {
    let audited = Audited::of(record(&call.visitor, given.session_id).await?);
    let words = audited.words();
    Ok(reply::with(&audited, words).into())
}

/// Returns the signed record of every round.
pub(crate) async fn record(
    visitor: &Visitor<impl CallerConnection>,
    session: Uuid,
) -> Result<AuditRecord, Refusal> {
    visitor.ask(ApiRequest::<AuditPlan>::get(OfPlan { session }, Nothing {})).await
}

/// How many gaps are asked in one call.
const MAX_GAPS: usize = 64;
