//! The script: four acts of a run, each step with its words for the record and its words for whoever watches.

use std::{collections::BTreeMap, time::Instant};

use demur_api::run::{Demands, OpenRun};
use demur_core::{
    canonical,
    hash::sha256,
    limit::{List, Text},
};
use demur_ledger::{
    content::{
        ClaimContent, ExecutionContent, ExecutionResultContent, FinalClaim, FinalStatementContent,
        IntentContent, PolicyTool, ProposalContent, ProposalReviewContent, RationaleContent, ReasonContent,
    },
    facts::{
        ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRevised, ConditionJudged, FinalStatementSigned,
        IntentDecision, ProposalCreated, ProposalDecision, ProposalReviewed, Risk, ToolExecutionCompleted,
        ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned, VerificationStatus,
    },
    name::Sequence,
};
use serde_json::Value;

use super::{
    cast::Cast,
    session::{Refusal, Session},
    task::{self, Count},
};
use crate::failure::Failure;

/// What came of it.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) count: Count,
    pub(super) refusal: Refusal,
    /// The auditor's report, whose hash is in the record.
    pub(super) report: Vec<u8>,
}

/// Performs all four acts.
pub(super) fn perform(session: &mut Session<'_>, cast: &Cast) -> Result<Outcome, Failure> {
    let proposal = plan(session, cast)?;
    let (work, refusal) = work(session, cast, proposal)?;
    let claim = doubt(session, cast, proposal, &work)?;
    let report = close(session, cast, claim, work.count)?;
    Ok(Outcome { count: work.count, refusal, report })
}

/// The first count: where its input, its result and its end stand in the record.
struct Work {
    count: Count,
    input: Sequence,
    output: Sequence,
    completed: Sequence,
}

/// Act one: the run opens, the planner proposes, the critic sets a condition.
fn plan(session: &mut Session<'_>, cast: &Cast) -> Result<Sequence, Failure> {
    session.tell("\nAct one: the plan. The number is the event's place in the record.\n")?;
    let tool = PolicyTool { confirm: false, programs: List::default(), risk: Risk::Low };
    let tools = BTreeMap::from([(Text::try_from("count-text")?, tool)]);
    let opening = OpenRun {
        trace: None,
        task: "count a text".try_into()?,
        objective: "say how many lines and words a short text has".try_into()?,
        constraints: list(["change nothing outside the folder of the run"])?,
        agents: cast.players()?,
        policy: Demands {
            approval_from: Risk::Medium,
            distinct_clients: false,
            evidence_minimum: 1.try_into()?,
            fallback: false,
            retry_limit: 1.try_into()?,
            tools: Some(tools.try_into()?),
        },
        agent: None,
    };
    let words = "opens the run: how many lines and words does a short text have?";
    let policy = "only count-text may run, from medium risk on with the critic's approval.";
    session.open(&cast.planner, (words, policy), opening)?;

    let content = ProposalContent {
        assumptions: list(["words are separated by white space", "a line feed ends a line"])?,
        expected_evidence: list(["the text", "the result of the count"])?,
        objective: "count once with the tool count-text".try_into()?,
        required_tools: list(["count-text"])?,
    };
    let words = "proposes to count once, and says what she assumes and what will show it.";
    let facts = ProposalCreated { fallback_for: None, replaces: None };
    let proposal = session.act(&cast.planner, words, facts, &content)?;

    let content = ProposalReviewContent {
        conditions: list(["the text is recorded before it is counted, so that anybody can count again"])?,
        rationale: "a number alone could not be checked later".try_into()?,
    };
    let decision = ProposalDecision::ConditionallyApproved;
    let facts = ProposalReviewed { conditions: 1.try_into()?, decision, proposal };
    let words = "agrees on one condition: record the text first, or nobody can count again.";
    session.act(&cast.critic, words, facts, &content)?;
    Ok(proposal)
}

/// Act two: intent, a step too early, approval, work, claim.
fn work(session: &mut Session<'_>, cast: &Cast, proposal: Sequence) -> Result<(Work, Refusal), Failure> {
    session.tell("\nAct two: the work. One step comes too early.\n")?;
    let words = "signs what he is about to do, before he does it, and that it meets the condition.";
    let justification = "carries out the plan; the text is recorded first, which meets condition 0";
    let intent = intend(session, cast, proposal, Risk::Medium, (words, justification))?;
    let text = task::TEXT.to_owned();
    let words = "records the text; the chain holds a salted commitment, so the text can be erased.";
    let input = session.store(&cast.executor, words, ("text.txt", "text/plain"), text)?;

    let (facts, content) = start(intent, input)?;
    let words = "wants to start at once, but the critic has not looked at the intent yet.";
    let refusal = session.attempt(&cast.executor, words, facts, &content)?;

    let facts = ToolIntentReviewed { decision: IntentDecision::Approved, intent };
    let content = RationaleContent { rationale: "the text is in the record now".try_into()? };
    let words = "has seen the text in the record and approves.";
    session.act(&cast.critic, words, facts, &content)?;
    judge(session, cast, (intent, input))?;
    let (count, output, completed) =
        execute(session, cast, (intent, input), "result.json", || task::count(task::TEXT))?;
    Ok((Work { count, input, output, completed }, refusal))
}

/// Act three: a claim, a doubt, a second count, a better claim.
fn doubt(
    session: &mut Session<'_>,
    cast: &Cast,
    proposal: Sequence,
    work: &Work,
) -> Result<Sequence, Failure> {
    session.tell("\nAct three: the doubt.\n")?;
    let text = sentence(work.count);
    let facts = ClaimIssued {
        about_failure: false,
        evidence: vec![work.output].try_into()?,
        executions: vec![work.completed].try_into()?,
    };
    let content = ClaimContent { confidence: 80.try_into()?, text: text.as_str().try_into()? };
    let words = format!("claims: \"{text}\" He cites the result.");
    let claim = session.act(&cast.executor, &words, facts, &content)?;

    let reason = "one count by one method";
    let content = ReasonContent { reason: reason.try_into()? };
    let words = "challenges the claim: one count by one method proves little.";
    let facts = ClaimChallenged { claim };
    let challenge = session.act(&cast.critic, words, facts, &content)?;

    let words = "signs a second intent: count another way. Low risk, so no approval is needed.";
    let intent =
        intend(session, cast, proposal, Risk::Low, (words, "answers the challenge; meets condition 0"))?;
    judge(session, cast, (intent, work.input))?;
    let again = || task::count_by_bytes(task::TEXT.as_bytes());
    let (second, output, completed) = execute(session, cast, (intent, work.input), "again.json", again)?;
    if second != work.count {
        return Err(Failure::bug(&"two ways to count one text disagree"));
    }

    let facts = ClaimRevised {
        about_failure: false,
        evidence: vec![work.output, output].try_into()?,
        executions: vec![work.completed, completed].try_into()?,
        replaces: claim,
    };
    let content = ClaimContent { confidence: 99.try_into()?, text: text.as_str().try_into()? };
    let words = "revises the claim; it now cites both results.";
    let revised = session.act(&cast.executor, words, facts, &content)?;

    let content = ReasonContent { reason: "two methods agree, and the text is there".try_into()? };
    let words = "closes the challenge: two methods agree, and the text is there to count.";
    session.act(&cast.critic, words, ClaimResolved { challenge }, &content)?;
    Ok(revised)
}

/// Act four: the final statement and the audit.
fn close(session: &mut Session<'_>, cast: &Cast, claim: Sequence, count: Count) -> Result<Vec<u8>, Failure> {
    session.tell("\nAct four: the audit.\n")?;
    let text = sentence(count);
    let content = FinalStatementContent {
        claims: vec![FinalClaim { claim, text: text.as_str().try_into()? }].try_into()?,
        verdict: "the task is done".try_into()?,
    };
    let facts = FinalStatementSigned { claims: vec![claim].try_into()? };
    let words = "signs the final statement with the one claim he stands by.";
    session.act(&cast.executor, words, facts, &content)?;

    let audited = session.audit(&cast.auditor)?;
    let ([began, reported, ended], Some(report)) = (&audited.events[..], &audited.report) else {
        return Err(Failure::bug(&"an audit that recorded nothing"));
    };
    session.recorded(&cast.auditor, "takes an export and begins to verify it.", *began)?;
    session.recorded(&cast.auditor, "records her report, which everybody can read.", *reported)?;
    let verdict = match audited.status {
        VerificationStatus::Pass => "passes it: every check of the export holds",
        VerificationStatus::PassWithWarnings => "passes it with warnings: nothing failed",
        VerificationStatus::Fail => "fails it: the export does not hold",
    };
    session.recorded(&cast.auditor, &format!("{verdict}. The run is closed."), *ended)?;
    let report: Value = serde_json::from_str(report.get()).map_err(|error| Failure::bug(&error))?;
    // In the form whose hash is in the record.
    Ok(canonical::to_vec(&report)?)
}

/// The critic judges the condition of an intent: the text is there.
fn judge(
    session: &mut Session<'_>,
    cast: &Cast,
    (intent, input): (Sequence, Sequence),
) -> Result<(), Failure> {
    let (condition, evidence) = (0.try_into()?, vec![input].try_into()?);
    let facts = ConditionJudged { condition, evidence, holds: true, intent };
    session.act_bare(&cast.critic, "judges that the condition holds: the text is recorded.", facts)?;
    Ok(())
}

fn intend(
    session: &mut Session<'_>,
    cast: &Cast,
    proposal: Sequence,
    risk: Risk,
    (words, justification): (&str, &str),
) -> Result<Sequence, Failure> {
    let facts = ToolIntentSigned { meets: vec![0.try_into()?].try_into()?, proposal, retries: None, risk };
    let content = IntentContent {
        input_hash: sha256(task::TEXT.as_bytes()),
        justification: justification.try_into()?,
        tool: "count-text".try_into()?,
    };
    session.act(&cast.executor, words, facts, &content)
}

fn start(intent: Sequence, input: Sequence) -> Result<(ToolExecutionStarted, ExecutionContent), Failure> {
    let limits = list(["runs inside the demo, without network"])?;
    Ok((ToolExecutionStarted { input: Some(input), intent }, ExecutionContent { limits }))
}

/// Carries out an intent; returns the count, and where result and end stand in the record.
fn execute(
    session: &mut Session<'_>,
    cast: &Cast,
    (intent, input): (Sequence, Sequence),
    name: &str,
    tool: impl FnOnce() -> Count,
) -> Result<(Count, Sequence, Sequence), Failure> {
    let (facts, content) = start(intent, input)?;
    let started = session.act(&cast.executor, "starts the tool.", facts, &content)?;
    let began = Instant::now();
    let count = tool();
    let duration = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX >> 11);
    let words = format!("records the result: {} lines, {} words.", count.lines, count.words);
    let media = (name, "application/json");
    let text = serde_json::to_string(&count).map_err(|error| Failure::bug(&error))?;
    let output = session.store(&cast.executor, &words, media, text)?;
    let facts = ToolExecutionCompleted { outputs: vec![output].try_into()?, started };
    let content = ExecutionResultContent {
        duration_ms: duration.try_into()?,
        exit_status: Some(0.try_into()?),
        note: None,
    };
    let words = "ends the tool.";
    let completed = session.act(&cast.executor, words, facts, &content)?;
    Ok((count, output, completed))
}

fn sentence(count: Count) -> String {
    format!("The text has {} lines and {} words.", count.lines, count.words)
}

fn list<const COUNT: usize, const LENGTH: usize, const MIN: usize, const MAX: usize>(
    entries: [&str; COUNT],
) -> Result<List<Text<1, LENGTH>, MIN, MAX>, Failure> {
    let entries: Result<Vec<Text<1, LENGTH>>, _> = entries.into_iter().map(Text::try_from).collect();
    Ok(entries?.try_into()?)
}
