//! What a statement means is judged before it is recorded: what is approved is what is done, and what is claimed is what
//! was produced. Refusals are on record like all others.

use std::collections::BTreeMap;

use demur_core::hash::sha256;
use demur_engine::{
    Reply,
    command::{Command, Consequences, Saying},
};
use demur_ledger::{
    content::{Comparison, PolicyContent, PolicyDocument, PolicyTool, PolicyTools},
    event_type::{Content, Facts},
    facts::{
        CheckStated, ClaimIssued, ConditionJudged, FinalStatementSigned, PolicyRecorded, ProposalCreated,
        ProposalDecision, ProposalReviewed, Question, QuestionAsked, QuestionCancelled, Risk,
        ToolExecutionCompleted, ToolExecutionStarted, ToolIntentSigned, VerificationProfile,
        VerificationRunCompleted, VerificationRunStarted, VerificationStatus,
    },
    name::{Position, Sequence},
    role::Role,
    state::Phase,
    verify::Verdict,
};

use crate::{
    asking::{operation, question},
    words::{INPUT, SIZE, list, reporting, text, whole},
    world::{To, World, refusal, usual_policy},
};

/// Returns a run under a policy that names these tools, with an approved proposal that asks for `wc`.
fn executing<const COUNT: usize>(tools: [(&str, Risk); COUNT]) -> (World, Sequence) {
    let mut world = World::new();
    let opening = world.opening(usual_policy());
    world.say(opening);
    let tool = |(name, risk)| (text(name), PolicyTool { confirm: false, programs: list([]), risk });
    let tools = PolicyTools::try_from(tools.into_iter().map(tool).collect::<BTreeMap<_, _>>()).unwrap();
    let tools = Some(tools).filter(|tools| tools.iter().next().is_some());
    let document = PolicyDocument { tools, ..PolicyDocument::of_numbers(usual_policy()) };
    let saying =
        Saying { role: Role::Desk, facts: PolicyRecorded {}.into(), content: Some(policy(document)) };
    let reply = world.command(To::Run, Command::record(saying, Consequences::default()));
    assert!(matches!(reply, Reply::Recorded(_)), "{reply:?}");
    let proposal = world.say(ProposalCreated { fallback_for: None, replaces: None });
    let decision = ProposalDecision::Approved;
    world.say(ProposalReviewed { conditions: whole(0), decision, proposal });
    (world, proposal)
}

fn policy(document: PolicyDocument) -> Content {
    Content::PolicyRecorded(PolicyContent { document, hash: None })
}

fn intent(proposal: Sequence) -> ToolIntentSigned {
    ToolIntentSigned { meets: list([]), proposal, retries: None, risk: Risk::Low }
}

/// Signs an intent for this tool and this input.
fn intend(world: &mut World, proposal: Sequence, tool: &str, input: &[u8]) -> Reply {
    world.say_with(intent(proposal), |content| {
        let Content::ToolIntentSigned(content) = content else { panic!("expected an intent") };
        content.tool = text(tool);
        content.input_hash = sha256(input);
    })
}

/// Carries out one call; returns its end and its output.
fn call(world: &mut World, proposal: Sequence) -> (Sequence, Sequence) {
    let intent = world.say(intent(proposal));
    let input = Some(world.record_input());
    let started = world.say(ToolExecutionStarted { input, intent });
    let output = world.record(*b"bbbbb");
    (world.say(ToolExecutionCompleted { outputs: list([output]), started }), output)
}

/// LED-11
#[test]
fn approved_input_is_the_one_that_runs() {
    let (mut world, proposal) = executing([]);
    let intent = world.say(intent(proposal));
    let other = world.record(*b"ccccc");
    let refused = world.refuses(ToolExecutionStarted { input: Some(other), intent });
    assert_eq!((refused.code, refused.field), ("INPUT_MISMATCH", Some("facts.input")));
    let newest = world.run.entries.last().unwrap().event.said().unwrap().facts.clone();
    assert!(matches!(newest, Facts::CommandRefused(facts) if facts.code.as_str() == "INPUT_MISMATCH"));
    assert_eq!(world.refuses(ToolExecutionStarted { input: None, intent }).code, "INPUT_MISMATCH");
    let input = Some(world.record_input());
    world.say(ToolExecutionStarted { input, intent });
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// LED-10 LED-23
#[test]
fn tools_are_those_of_the_proposal_and_of_the_policy_at_its_risk() {
    let (mut world, proposal) = executing([]);
    assert_eq!(refusal(&intend(&mut world, proposal, "rm", INPUT)).code, "TOOL_NOT_PROPOSED");
    let (mut world, proposal) = executing([("cat", Risk::Low)]);
    assert_eq!(refusal(&intend(&mut world, proposal, "wc", INPUT)).code, "TOOL_NOT_ALLOWED");
    let (mut world, proposal) = executing([("wc", Risk::Medium)]);
    assert_eq!(refusal(&intend(&mut world, proposal, "wc", INPUT)).code, "RISK_UNDERSTATED");
}

/// LED-23
#[test]
fn policy_that_is_not_the_openings_is_refused() {
    let mut world = World::new();
    let opening = world.opening(usual_policy());
    world.say(opening);
    let document = PolicyDocument { fallback: false, ..PolicyDocument::of_numbers(usual_policy()) };
    let reply = world.say_with(PolicyRecorded {}, |content| *content = policy(document));
    assert_eq!(refusal(&reply).code, "POLICY_MISMATCH");
}

/// LED-31
#[test]
fn question_that_names_a_tool_holds_it_back() {
    let (mut world, proposal) = executing([]);
    let blocks = list([operation("WC")]);
    world.say(QuestionAsked(Question { blocks, ..question() }));
    let intent = world.say(intent(proposal));
    let input = Some(world.record_input());
    assert_eq!(world.refuses(ToolExecutionStarted { input, intent }).code, "TOOL_BLOCKED");
}

/// LED-14
#[test]
fn final_statement_is_in_the_words_of_its_claims() {
    let (mut world, proposal) = executing([]);
    let (ended, output) = call(&mut world, proposal);
    let claim = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    let claim = world.say(claim);
    let reply = world.say_with(FinalStatementSigned { claims: list([claim]) }, |content| {
        let Content::FinalStatementSigned(content) = content else { panic!("expected a statement") };
        let mut claims = content.claims.to_vec();
        claims[0].text = text("five thousand words");
        content.claims = list(claims);
    });
    assert_eq!(refusal(&reply).code, "BUNDLE_DIFFERS");
    world.say(FinalStatementSigned { claims: list([claim]) });
}

/// Returns a run whose verification has begun, there.
fn auditing() -> (World, Position) {
    let (mut world, proposal) = executing([]);
    let (ended, output) = call(&mut world, proposal);
    let claim = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    let claim = world.say(claim);
    world.say(FinalStatementSigned { claims: list([claim]) });
    world.say(VerificationRunStarted { profile: VerificationProfile::Default });
    let through = world.run.state.tip().head().unwrap();
    (world, through)
}

/// LED-15 LED-34
#[test]
fn verdict_is_that_of_a_recorded_report() {
    let (mut world, through) = auditing();
    let verdict = |status| VerificationRunCompleted { status, through };
    let missing = world.refuses(verdict(VerificationStatus::Pass));
    assert_eq!((missing.code, missing.field), ("REPORT_MISMATCH", Some("content.report")));
    world.report(b"all is well");
    world.report(&reporting(VerificationStatus::Fail));
    assert_eq!(world.refuses(verdict(VerificationStatus::Pass)).code, "REPORT_MISMATCH");
    let reply = world.say_with(verdict(VerificationStatus::Pass), |content| {
        let Content::VerificationRunCompleted(content) = content else { panic!("expected a verdict") };
        content.report = sha256(&reporting(VerificationStatus::Fail));
    });
    let differs = refusal(&reply);
    assert_eq!((differs.code, differs.field), ("REPORT_MISMATCH", Some("facts.status")));
    world.say(verdict(VerificationStatus::Fail));
    assert_eq!(world.run.state.phase(), Some(Phase::Failed));
}

/// LED-31
#[test]
fn auditor_alone_asks_after_the_final_statement_and_waits_for_the_answer() {
    let (mut world, through) = auditing();
    world.report(&reporting(VerificationStatus::Pass));
    let late = world.refuses(QuestionAsked(question()));
    assert_eq!((late.code, late.field), ("SPOKE_AFTER_FINAL", Some("statement.role")));
    let asked = world.say_as(Role::Auditor, QuestionAsked(question()));
    let verdict = VerificationRunCompleted { status: VerificationStatus::Pass, through };
    assert_eq!(world.refuses(verdict.clone()).code, "QUESTIONS_OPEN");
    world.say_as(Role::Auditor, QuestionCancelled { question: asked });
    world.say(verdict);
    assert_eq!(world.verified().verdict, Verdict::Pass);
}

/// LED-10
#[test]
fn conditions_are_shown_by_the_critic_before_a_tool_starts() {
    let mut world = World::opened();
    let proposal = world.say(ProposalCreated { fallback_for: None, replaces: None });
    let decision = ProposalDecision::ConditionallyApproved;
    world.say(ProposalReviewed { conditions: whole(2), decision, proposal });
    let intent = world.say(ToolIntentSigned { meets: list([whole(0), whole(1)]), ..intent(proposal) });
    let input = world.record_input();
    let start = ToolExecutionStarted { input: Some(input), intent };
    let refused = world.refuses(start.clone());
    assert_eq!((refused.code, refused.field), ("CONDITION_UNSHOWN", Some("facts.intent")));
    world.say(ConditionJudged { condition: whole(0), evidence: list([input]), holds: true, intent });
    let check = CheckStated { about: intent, artifact: input, condition: Some(whole(1)) };
    world.say_as(Role::Executor, check.clone());
    assert_eq!(world.refuses(start.clone()).code, "CONDITION_UNSHOWN", "the executor's own check");
    // The bytes were looked up: a check of the critic that is false shows nothing.
    let reply = world.say_as_with(Role::Critic, check.clone(), |content| {
        let Content::CheckStated(content) = content else { panic!("expected a check") };
        content.is = Comparison::Ne;
    });
    assert!(matches!(reply, Reply::Recorded(_)), "{reply:?}");
    assert_eq!(world.refuses(start.clone()).code, "CONDITION_UNSHOWN");
    world.say_as(Role::Critic, check);
    world.say(start);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// LED-24
#[test]
fn check_that_refutes_its_authors_claim_is_refused() {
    let (mut world, proposal) = executing([]);
    let (ended, output) = call(&mut world, proposal);
    let claim = ClaimIssued { about_failure: false, evidence: list([output]), executions: list([ended]) };
    let claim = world.say(claim);
    let check = CheckStated { about: claim, artifact: output, condition: None };
    let refute = |content: &mut Content| {
        let Content::CheckStated(content) = content else { panic!("expected a check") };
        content.is = Comparison::Lt;
    };
    let refused = refusal(&world.say_as_with(Role::Executor, check.clone(), refute));
    assert_eq!((refused.code, refused.field), ("CHECK_FAILED", Some("content.value")));
    world.say_as(Role::Executor, check.clone());
    let disputed = world.say_as_with(Role::Critic, check, refute);
    assert!(matches!(disputed, Reply::Recorded(_)), "{disputed:?}");
    let report = world.verified();
    assert!(report.claims[0].disputed, "{}", report.to_text());
}

/// A state that was read from a snapshot judges as the one that it was taken of.
#[test]
fn snapshot_keeps_what_is_judged_by() {
    let (mut world, proposal) = executing([("wc", Risk::Low)]);
    let signed = world.say(intent(proposal));
    let other = world.record([b'd'; SIZE]);
    let newest = world.run.entries.last().unwrap().event.clone();
    let bytes = demur_engine::snapshot::to_bytes(&world.run.state).unwrap();
    world.run.state = demur_engine::snapshot::from_bytes(&bytes, &newest).unwrap();
    let refused = world.refuses(ToolExecutionStarted { input: Some(other), intent: signed });
    assert_eq!(refused.code, "INPUT_MISMATCH");
    assert_eq!(refusal(&intend(&mut world, proposal, "rm", INPUT)).code, "TOOL_NOT_PROPOSED");
}
