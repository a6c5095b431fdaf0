//! Whoever plays a role in an accountable run: each tool says one thing, in the client's own name and with a key of its own for
//! that role. What may happen when is the ledger's to say: its refusals are passed on as they are.

use std::collections::BTreeMap;

use demur_api::{
    call::ApiRequest,
    code::{Code, RuleCode},
    operation::{self, NoArguments, OfTrace},
    refusal::Refusal,
    run,
    run::{ClaimView, Demands},
};
use demur_core::{
    canonical,
    hash::sha256,
    limit::{List, Text},
};
use demur_ledger::{
    content::{PolicyTool, PolicyTools},
    event_type::EventType,
    facts::{ProposalDecision, Risk},
    name::Sequence,
    role::Role,
};
use rmcp::model::{CallToolResponse, JsonObject};

use super::{
    progress::{self, Turn},
    statement::{
        CheckFacts, ClaimContent, ClaimFacts, ClaimWords, CompletionContent, ConclusionContent,
        ConclusionFacts, DisputeContent, Disputed, EndFacts, FailureContent, IntentContent, IntentFacts,
        IntentReviewContent, IntentReviewFacts, JudgementFacts, ProposalContent, ProposalFacts,
        ProposalReviewContent, ProposalReviewFacts, StartContent, StartFacts,
    },
};
use crate::{
    arguments::{
        read,
        run::{
            AbortRun, AuditRun, Challenge, Claim, Conclude, Dispute, Intend, OpenRun, Propose, Report,
            Review, Start,
        },
    },
    host::CallerConnection,
    new_names::NewNames,
    reply::Stop,
    tool_call::ToolCall,
    tools::RunJob,
};

/// Does what a tool of a run is for.
pub(crate) async fn play(
    call: &ToolCall<'_, impl CallerConnection>,
    job: RunJob,
    arguments: JsonObject,
) -> Result<CallToolResponse, Stop> {
    match job {
        RunJob::OpenRun => open(call, read(arguments)?).await,
        RunJob::Propose => propose(call, &read(arguments)?).await,
        RunJob::Review => review(call, &read(arguments)?).await,
        RunJob::Intend => intend(call, &read(arguments)?).await,
        RunJob::Start => start(call, &read(arguments)?).await,
        RunJob::Report => report(call, read(arguments)?).await,
        RunJob::Claim => claim(call, &read(arguments)?).await,
        RunJob::Challenge => challenge(call, &read(arguments)?).await,
        RunJob::Conclude => conclude(call, &read(arguments)?).await,
        RunJob::AuditRun => audit(call, &read(arguments)?).await,
        RunJob::AbortRun => abort(call, &read(arguments)?).await,
    }
}

async fn open(call: &ToolCall<'_, impl CallerConnection>, given: OpenRun) -> Result<CallToolResponse, Stop> {
    // Chosen here, so that the request can be sent again.
    let trace = NewNames::open()?.trace();
    let OpenRun { task, objective, constraints, agents, tools, distinct_clients } = given;
    let body = run::OpenRun {
        trace: Some(trace),
        task,
        objective,
        constraints,
        agents: agents.by_role(),
        policy: Demands {
            distinct_clients,
            tools: tools.map(policy_tools).transpose()?,
            ..Demands::default()
        },
        agent: None,
    };
    let request = ApiRequest::<operation::OpenRun>::send(NoArguments {}, body);
    Ok(progress::opened(&call.visitor.ask(request).await?))
}

/// Returns tools that may each start the program of their name.
fn policy_tools(tools: BTreeMap<Text<1, 256>, Risk>) -> Result<PolicyTools, Refusal> {
    let tool = |(name, risk)| (name, PolicyTool { confirm: false, programs: List::default(), risk });
    let tools: BTreeMap<_, _> = tools.into_iter().map(tool).collect();
    tools.try_into().map_err(|error| {
        let mut refusal = Refusal::new(Code::Arguments, format!("tools: {error}"));
        refusal.field = Some("tools".to_owned());
        refusal
    })
}

async fn propose(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Propose,
) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let facts = ProposalFacts { replaces: given.replaces, fallback_for: given.fallback_for };
    let content = ProposalContent {
        objective: &given.objective,
        required_tools: &given.tools,
        assumptions: &given.assumptions,
        expected_evidence: &given.expected_evidence,
    };
    turn.say(Role::Planner, EventType::ProposalCreated, &facts, &content).await?;
    turn.end().await
}

async fn review(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Review,
) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let standing = turn.standing().await?;
    if standing.intents.iter().any(|intent| intent.event.number() == given.event) {
        if !matches!(given.decision, ProposalDecision::Approved | ProposalDecision::Blocked)
            || !given.conditions.is_empty()
        {
            let message = "expected approved or blocked without conditions: the event is an intent";
            let mut refusal = Refusal::new(Code::Arguments, message);
            refusal.field = Some("decision".to_owned());
            return Err(refusal.into());
        }
        let facts = IntentReviewFacts { intent: given.event, decision: given.decision };
        let content = IntentReviewContent { rationale: &given.rationale };
        turn.say(Role::Critic, EventType::ToolIntentReviewed, &facts, &content).await?;
        return turn.end().await;
    }
    let conditions = given.conditions.len();
    let facts = ProposalReviewFacts { proposal: given.event, decision: given.decision, conditions };
    let content = ProposalReviewContent { rationale: &given.rationale, conditions: &given.conditions };
    turn.say(Role::Critic, EventType::ProposalReviewed, &facts, &content).await?;
    turn.end().await
}

async fn intend(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Intend,
) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let bytes = canonical::to_vec(&given.input)
        .map_err(|error| Refusal::new(Code::Arguments, format!("input: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| Refusal::bug(&error))?;
    let facts = IntentFacts {
        proposal: given.proposal,
        meets: &given.meets,
        retries: given.retries,
        risk: given.risk,
    };
    let content = IntentContent {
        tool: &given.tool,
        input_hash: sha256(text.as_bytes()),
        justification: &given.justification,
    };
    // The intent first: what is refused leaves nothing behind.
    let intent = turn.say(Role::Executor, EventType::ToolIntentSigned, &facts, &content).await?;
    turn.store(&format!("input-{intent}.json"), "application/json", &text).await?;
    turn.end().await
}

async fn start(call: &ToolCall<'_, impl CallerConnection>, given: &Start) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let standing = turn.standing().await?;
    let input = standing.intents.iter().find(|intent| intent.event.number() == given.intent);
    let facts = StartFacts { intent: given.intent, input: input.and_then(|intent| intent.input) };
    turn.say(Role::Executor, EventType::ToolExecutionStarted, &facts, &StartContent::default()).await?;
    turn.end().await
}

async fn report(call: &ToolCall<'_, impl CallerConnection>, given: Report) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let standing = turn.standing().await?;
    let runs = |started: Option<Sequence>| started.is_some_and(|at| at.number() == given.started);
    let mut outputs = Vec::new();
    // Of something that does not run nothing is stored: the ledger says why.
    if standing.intents.iter().any(|intent| runs(intent.started)) {
        for output in &given.outputs {
            outputs.push(turn.store(&output.name, "text/plain", &output.text).await?);
        }
        // That a tool put out nothing and succeeded is evidence too.
        if given.outputs.is_empty() && given.failure.is_none() {
            let name = format!("output-{}.txt", given.started);
            outputs.push(turn.store(&name, "text/plain", "").await?);
        }
    }
    let Report { started, failure, exit_status, duration_ms, note, .. } = given;
    let facts = EndFacts { started, outputs, failure };
    if failure.is_some() {
        let message = note.unwrap_or_else(|| "it failed".to_owned());
        let content = FailureContent { duration_ms, exit_status, message };
        turn.say(Role::Executor, EventType::ToolExecutionFailed, &facts, &content).await?;
    } else {
        let content = CompletionContent { duration_ms, exit_status, note };
        turn.say(Role::Executor, EventType::ToolExecutionCompleted, &facts, &content).await?;
    }
    turn.end().await
}

async fn claim(call: &ToolCall<'_, impl CallerConnection>, given: &Claim) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let facts = ClaimFacts {
        about_failure: given.about_failure,
        evidence: ascending(&given.evidence),
        executions: ascending(&given.executions),
        replaces: given.replaces,
    };
    let content = ClaimContent { text: &given.text, confidence: given.confidence };
    let kind = if given.replaces.is_some() { EventType::ClaimRevised } else { EventType::ClaimIssued };
    turn.say(Role::Executor, kind, &facts, &content).await?;
    turn.end().await
}

async fn challenge(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Challenge,
) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let (role, kind, facts) = match given.act {
        Dispute::Challenge => (Role::Critic, EventType::ClaimChallenged, Disputed::Claim(given.event)),
        Dispute::Resolve => (Role::Critic, EventType::ClaimResolved, Disputed::Challenge(given.event)),
        Dispute::Retract => (Role::Executor, EventType::ClaimRetracted, Disputed::Claim(given.event)),
        Dispute::Judge => return judge(turn, given).await,
        Dispute::Check => return check(turn, Role::Critic, given).await,
        Dispute::CheckOwn => return check(turn, Role::Executor, given).await,
    };
    turn.say(role, kind, &facts, &DisputeContent { reason: &given.reason }).await?;
    turn.end().await
}

/// Judges a condition of an intent.
async fn judge(
    mut turn: Turn<'_, impl CallerConnection>,
    given: &Challenge,
) -> Result<CallToolResponse, Stop> {
    let facts = JudgementFacts { intent: given.event, rest: &given.check };
    turn.say_bare(Role::Critic, EventType::ConditionJudged, &facts).await?;
    turn.end().await
}

/// States a check: what is not a fact of it is its content.
async fn check(
    mut turn: Turn<'_, impl CallerConnection>,
    role: Role,
    given: &Challenge,
) -> Result<CallToolResponse, Stop> {
    let mut content = given.check.clone();
    let (artifact, condition) = (content.remove("artifact"), content.remove("condition"));
    let facts = CheckFacts { about: given.event, artifact, condition };
    turn.say(role, EventType::CheckStated, &facts, &content).await?;
    turn.end().await
}

async fn conclude(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &Conclude,
) -> Result<CallToolResponse, Stop> {
    let mut turn = Turn::new(call, given.trace);
    let standing = turn.standing().await?;
    let numbers: Vec<_> = standing.claims.iter().map(|claim| claim.event).collect();
    if numbers.is_empty() {
        let message = format!("expected a claim in play, found none while the run is {}", standing.phase);
        let refusal = Refusal::new(Code::Rule(RuleCode::BUNDLE_INCOMPLETE), message)
            .with_cure("Claim what was done first: session_claim.");
        return Err(refusal.into());
    }
    let words =
        standing.claims.iter().map(|ClaimView { event, text, .. }| ClaimWords { claim: *event, text });
    let content = ConclusionContent { claims: words.collect(), verdict: &given.verdict };
    let facts = ConclusionFacts { claims: numbers };
    turn.say(Role::Executor, EventType::FinalStatementSigned, &facts, &content).await?;
    turn.end().await
}

async fn audit(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &AuditRun,
) -> Result<CallToolResponse, Stop> {
    let body = run::AuditRun { profile: given.profile, agent: None };
    let request = ApiRequest::<operation::AuditRun>::send(OfTrace { trace: given.trace }, body);
    Ok(progress::audited(&call.visitor.ask(request).await?))
}

/// Ends a run on an operator's word. Who may, the desk says.
async fn abort(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &AbortRun,
) -> Result<CallToolResponse, Stop> {
    let body = run::AbortRun { reason: given.reason.clone() };
    let request = ApiRequest::<operation::AbortRun>::send(OfTrace { trace: given.trace }, body);
    call.visitor.ask(request).await?;
    // Whoever may end a run need not be able to look at it.
    Ok(progress::aborted(given.trace))
}

/// Returns these numbers in order, each once: one set has one spelling.
fn ascending(numbers: &[u64]) -> Vec<u64> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
