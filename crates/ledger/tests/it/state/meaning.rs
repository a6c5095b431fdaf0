//! What events mean: what was done is what was approved, and what is claimed is what was produced. Each demand is held
//! against the door here, and against a file in `verify`.

use std::collections::BTreeMap;

use demur_core::hash::sha256;
use demur_ledger::{
    admission::AdmissionError,
    content::{PolicyDocument, PolicyTool, PolicyTools},
    desk::DeskError,
    event_type::{Content, EventType, Facts},
    facts::{
        ClaimIssued, FailureKind, FinalStatementSigned, IntentDecision, Policy, PolicyRecorded,
        ProposalCreated, Question, QuestionAsked, QuestionCancelled, Risk, ToolExecutionCompleted,
        ToolExecutionFailed, ToolExecutionStarted, ToolIntentReviewed, ToolIntentSigned, VerificationProfile,
        VerificationRunCompleted, VerificationRunStarted, VerificationStatus,
    },
    name::Sequence,
    role::Role,
};

use super::{intent, refused, refuses};
use crate::{
    asking::{anyone, operation, question_for},
    world::{INPUT, World, list, reporting, text, usual_policy, whole},
};

/// Signs an intent for this tool and this input.
pub(crate) fn intend(
    world: &mut World,
    facts: ToolIntentSigned,
    tool: &str,
    input: &[u8],
) -> Result<Sequence, DeskError> {
    world.say_with(Role::Executor, facts, |content| {
        let Content::ToolIntentSigned(content) = content else { panic!("expected an intent") };
        content.tool = text(tool);
        content.input_hash = sha256(input);
    })
}

/// Returns a policy that names these tools.
pub(crate) fn naming<const COUNT: usize>(tools: [(&str, Risk); COUNT]) -> PolicyDocument {
    let tool = |(name, risk)| (text(name), PolicyTool { confirm: false, programs: list([]), risk });
    let tools = PolicyTools::try_from(tools.into_iter().map(tool).collect::<BTreeMap<_, _>>()).unwrap();
    PolicyDocument { tools: Some(tools), ..PolicyDocument::of_numbers(usual_policy()) }
}

#[track_caller]
fn refuses_intent(world: &mut World, facts: ToolIntentSigned, tool: &str, code: &str) {
    let before = world.open_run().length();
    let outcome = intend(world, facts, tool, INPUT);
    refused(world, before, outcome, code);
}

/// LED-23
#[test]
fn nothing_is_proposed_before_the_policy_is_recorded() {
    let mut world = World::new();
    let opening = world.opening(usual_policy());
    world.say(opening).unwrap();
    refuses(&mut world, ProposalCreated { fallback_for: None, replaces: None }, "POLICY_MISSING");
    world.record_policy(PolicyDocument::of_numbers(usual_policy())).unwrap();
    let before = world.open_run().length();
    let again = world.record_policy(PolicyDocument::of_numbers(usual_policy()));
    refused(&world, before, again, "POLICY_FIXED");
    world.propose();
    let late = world.record_policy(PolicyDocument::of_numbers(usual_policy()));
    refused(&world, before + 1, late, "OUT_OF_PHASE");
}

/// LED-23
#[test]
fn a_policy_has_the_numbers_of_the_opening() {
    let numbers = usual_policy();
    for other in [
        Policy { approval_from: Risk::Critical, ..numbers },
        Policy { evidence_minimum: whole(2), ..numbers },
        Policy { fallback: false, ..numbers },
        Policy { retry_limit: whole(9), ..numbers },
    ] {
        let mut world = World::new();
        let opening = world.opening(numbers);
        world.say(opening).unwrap();
        let outcome = world.record_policy(PolicyDocument::of_numbers(other));
        refused(&world, 1, outcome, "POLICY_MISMATCH");
    }
}

/// LED-02
#[test]
fn the_desk_records_a_policy_as_itself_and_not_as_the_operator() {
    for (role, allowed) in [(Role::Desk, true), (Role::Operator, false)] {
        let mut world = World::new();
        let opening = world.opening(usual_policy());
        world.say(opening).unwrap();
        let document = PolicyDocument::of_numbers(usual_policy());
        let content = Content::PolicyRecorded(demur_ledger::content::PolicyContent { document, hash: None });
        let said = (EventType::PolicyRecorded, role, PolicyRecorded {}.into());
        let World { desk, run, now, random, .. } = &mut world;
        assert_eq!(desk.record(run, said, &content, None, *now, random).is_ok(), allowed, "{role}");
    }
}

/// LED-11 LED-27 LED-36
#[test]
fn a_tool_starts_only_with_the_input_that_its_intent_names() {
    let (mut world, proposal) = World::executing();
    let signed = world.intend(proposal, Risk::Low);
    refuses(&mut world, ToolExecutionStarted { input: None, intent: signed }, "INPUT_MISMATCH");
    let other = world.record_artifact(b"{\"recursive\":true}");
    refuses(&mut world, ToolExecutionStarted { input: Some(other), intent: signed }, "INPUT_MISMATCH");
    world.start(signed);
}

/// LED-10 LED-36
#[test]
fn an_intent_is_for_a_tool_of_its_proposal() {
    let (mut world, proposal) = World::executing();
    refuses_intent(&mut world, intent(proposal, Risk::Low), "rm", "TOOL_NOT_PROPOSED");
    refuses_intent(&mut world, intent(proposal, Risk::Low), "WC", "TOOL_NOT_PROPOSED");
}

/// LED-23 LED-36
#[test]
fn a_policy_that_names_tools_lets_no_other_run_and_none_below_its_risk() {
    let mut world = World::opened_under(naming([("wc", Risk::Medium)]));
    let facts = ProposalCreated { fallback_for: None, replaces: None };
    let proposed = world.say_with(Role::Planner, facts, |content| {
        let Content::ProposalCreated(content) = content else { panic!("expected a proposal") };
        content.required_tools = list([text("wc"), text("rm")]);
    });
    let proposal = proposed.unwrap();
    world.review(proposal, demur_ledger::facts::ProposalDecision::Approved);
    refuses_intent(&mut world, intent(proposal, Risk::Critical), "rm", "TOOL_NOT_ALLOWED");
    refuses_intent(&mut world, intent(proposal, Risk::Low), "wc", "RISK_UNDERSTATED");
    intend(&mut world, intent(proposal, Risk::Medium), "wc", INPUT).unwrap();
    intend(&mut world, intent(proposal, Risk::High), "wc", INPUT).unwrap();
}

/// LED-11 LED-37
#[test]
fn a_blocked_call_starts_only_approved_after_that_and_at_no_lower_risk() {
    let (mut world, proposal) = World::executing();
    let review = |decision, intent| ToolIntentReviewed { decision, intent };
    let early = world.intend(proposal, Risk::Medium);
    world.say(review(IntentDecision::Approved, early)).unwrap();
    let blocked = world.intend(proposal, Risk::Medium);
    world.say(review(IntentDecision::Blocked, blocked)).unwrap();
    let input = Some(world.record_artifact(INPUT));
    let start = |intent| ToolExecutionStarted { input, intent };
    refuses(&mut world, start(early), "BLOCKED_AGAIN");
    let unasked = world.intend(proposal, Risk::Medium);
    refuses(&mut world, start(unasked), "BLOCKED_AGAIN");
    let lower = world.intend(proposal, Risk::Low);
    world.say(review(IntentDecision::Approved, lower)).unwrap();
    refuses(&mut world, start(lower), "BLOCKED_AGAIN");
    world.say(review(IntentDecision::Approved, unasked)).unwrap();
    world.say(start(unasked)).unwrap();
    // Another input is another call.
    let other = intend(&mut world, intent(proposal, Risk::Low), "wc", b"[]").unwrap();
    let input = Some(world.record_artifact(b"[]"));
    world.say(ToolExecutionStarted { input, intent: other }).unwrap();
}

/// LED-32 LED-37
#[test]
fn a_call_is_tried_as_often_as_the_policy_allows_whatever_its_intents_say() {
    let (mut world, proposal) = World::executing();
    // None of them says that it is tried again.
    world.fail_tool(proposal, None).unwrap();
    world.fail_tool(proposal, None).unwrap();
    let signed = world.intend(proposal, Risk::Low);
    let input = Some(world.record_artifact(INPUT));
    refuses(&mut world, ToolExecutionStarted { input, intent: signed }, "RETRY_LIMIT");
}

/// LED-32
#[test]
fn a_call_that_completed_may_fail_again_as_often() {
    let (mut world, proposal) = World::executing();
    world.fail_tool(proposal, None).unwrap();
    world.call_tool(proposal);
    world.fail_tool(proposal, None).unwrap();
    world.call_tool(proposal);
}

/// Whoever retries one call as another leaves the first behind: what is remembered of it is bounded all the same.
#[test]
fn a_run_has_only_so_many_calls_that_failed() {
    let (mut world, proposal) = World::executing();
    let call = |world: &mut World, number: usize, retries, fails: bool| {
        let bytes = format!("{{\"number\":{number}}}").into_bytes();
        let facts = ToolIntentSigned { retries, ..intent(proposal, Risk::Low) };
        let signed = intend(world, facts, "wc", &bytes).unwrap();
        let input = world.record_artifact(&bytes);
        let started = ToolExecutionStarted { input: Some(input), intent: signed };
        let outcome = world.say(started.clone());
        let Ok(started) = outcome else { return Err(started) };
        let (failure, outputs) = (FailureKind::Exit, list([]));
        if fails {
            world.say(ToolExecutionFailed { failure, outputs, started }).unwrap();
        } else {
            world.say(ToolExecutionCompleted { outputs, started }).unwrap();
        }
        Ok(signed)
    };
    let mut last = None;
    for number in 0..1024 {
        last = call(&mut world, number, None, true).ok();
        // One that completes takes the intent that failed out of play, and not the call.
        if number < 1023 {
            call(&mut world, 5000, last, false).unwrap();
        }
    }
    let refused = call(&mut world, 2000, None, true).unwrap_err();
    refuses(&mut world, refused, "TOO_MANY");
    // One of them completes, and there is room for another.
    call(&mut world, 1023, last, false).unwrap();
    call(&mut world, 2001, None, true).unwrap();
}

/// LED-31
#[test]
fn a_question_blocks_a_tool_by_its_name_in_any_case() {
    let (mut world, proposal) = World::executing();
    let signed = world.intend(proposal, Risk::Low);
    let other = world.intend(proposal, Risk::Low);
    let asked = world.say_as(Role::Executor, question(Some(signed), "Wc")).unwrap();
    let input = Some(world.record_artifact(INPUT));
    refuses(&mut world, ToolExecutionStarted { input, intent: signed }, "TOOL_BLOCKED");
    // It is about the first intent alone.
    world.say(ToolExecutionStarted { input, intent: other }).unwrap();
    world.say_as(Role::Executor, QuestionCancelled { question: asked }).unwrap();
    world.say(ToolExecutionStarted { input, intent: signed }).unwrap();
}

fn question(about: Option<Sequence>, blocks: &str) -> QuestionAsked {
    QuestionAsked(Question { about, blocks: list([operation(blocks)]), ..question_for(anyone()) })
}

/// LED-24 LED-38
#[test]
fn a_claim_rests_on_what_its_own_executions_produced() {
    let (mut world, proposal) = World::executing();
    let (first, output) = world.call_tool(proposal);
    let (second, _) = world.call_tool(proposal);
    let stray = world.record_artifact(b"stray");
    let claim = |evidence, execution| ClaimIssued {
        about_failure: false,
        evidence: list([evidence]),
        executions: list([execution]),
    };
    refuses(&mut world, claim(stray, first), "EVIDENCE_WEAK");
    refuses(&mut world, claim(output, second), "EVIDENCE_WEAK");
    world.say(claim(output, first)).unwrap();
}

/// LED-24 LED-38
#[test]
fn only_a_claim_about_a_failure_rests_on_what_a_tool_was_given() {
    for failed in [false, true] {
        let (mut world, proposal) = World::executing();
        let signed = world.intend(proposal, Risk::Low);
        let input = world.record_artifact(INPUT);
        let started = world.say(ToolExecutionStarted { input: Some(input), intent: signed }).unwrap();
        let output = world.record_artifact(b"out");
        let (failure, outputs) = (FailureKind::Exit, list([output]));
        let ended = if failed {
            world.say(ToolExecutionFailed { failure, outputs, started }).unwrap()
        } else {
            world.say(ToolExecutionCompleted { outputs, started }).unwrap()
        };
        let evidence = list([input, output]);
        let claim = ClaimIssued { about_failure: failed, evidence, executions: list([ended]) };
        if failed {
            world.say(claim).unwrap();
        } else {
            refuses(&mut world, claim, "EVIDENCE_WEAK");
        }
    }
}

/// LED-24 LED-38
#[test]
fn the_same_bytes_twice_are_one_piece_of_evidence() {
    let (mut world, proposal) =
        World::executing_with(Policy { evidence_minimum: whole(2), ..usual_policy() });
    let signed = world.intend(proposal, Risk::Low);
    let started = world.start(signed);
    let outputs = [b"same".as_slice(), b"same", b"other"].map(|bytes| world.record_artifact(bytes));
    let ended = world.say(ToolExecutionCompleted { outputs: list(outputs), started }).unwrap();
    let claim = |evidence: &[Sequence]| ClaimIssued {
        about_failure: false,
        evidence: list(evidence),
        executions: list([ended]),
    };
    refuses(&mut world, claim(&outputs[..2]), "EVIDENCE_WEAK");
    world.say(claim(&outputs[1..])).unwrap();
}

/// LED-14 LED-40
#[test]
fn the_final_statement_repeats_claims_in_their_own_words() {
    let (mut world, claim, _) = World::claiming();
    let before = world.open_run().length();
    let facts = FinalStatementSigned { claims: list([claim]) };
    let outcome = world.say_with(Role::Executor, facts.clone(), |content| {
        let Content::FinalStatementSigned(content) = content else { panic!("expected a statement") };
        let mut claims = content.claims.to_vec();
        claims[0].text = text("five thousand words");
        content.claims = list(claims);
    });
    refused(&world, before, outcome, "BUNDLE_DIFFERS");
    world.say(facts).unwrap();
}

/// Gives this verdict, naming these bytes.
fn verdict(world: &mut World, status: VerificationStatus, named: &[u8]) -> Result<Sequence, DeskError> {
    let through = world.events.iter().rev().find_map(|recorded| {
        let facts = recorded.event.said().unwrap().facts;
        matches!(facts, Facts::VerificationRunStarted(_)).then(|| recorded.event.position())
    });
    let facts = VerificationRunCompleted { status, through: through.unwrap() };
    world.say_with(Role::Auditor, facts, |content| {
        let Content::VerificationRunCompleted(content) = content else { panic!("expected a verdict") };
        content.report = sha256(named);
    })
}

/// Returns a world whose verification has begun.
fn verifying() -> World {
    let mut world = World::auditing();
    world.say(VerificationRunStarted { profile: VerificationProfile::Default }).unwrap();
    world
}

/// LED-15
#[test]
fn a_verdict_names_a_recorded_report_and_is_its_own() {
    let pass = reporting(VerificationStatus::Pass);
    for (recorded, named, status) in [
        (None, pass.as_str(), VerificationStatus::Pass),
        (Some(pass.as_str()), "{\"status\":\"pass\"}\n", VerificationStatus::Pass),
        (Some(pass.as_str()), pass.as_str(), VerificationStatus::Fail),
        (Some(pass.as_str()), pass.as_str(), VerificationStatus::PassWithWarnings),
        (Some("all is well"), "all is well", VerificationStatus::Pass),
    ] {
        let mut world = verifying();
        recorded.map(|report| world.report(report.as_bytes()));
        let before = world.open_run().length();
        let outcome = verdict(&mut world, status, named.as_bytes());
        refused(&world, before, outcome, "REPORT_MISMATCH");
    }
}

/// LED-15
#[test]
fn any_recorded_report_may_be_named() {
    for status in [VerificationStatus::Pass, VerificationStatus::Fail] {
        let mut world = verifying();
        world.report(reporting(VerificationStatus::Pass).as_bytes());
        world.report(reporting(VerificationStatus::Fail).as_bytes());
        verdict(&mut world, status, reporting(status).as_bytes()).unwrap();
        assert!(world.phase().is_final());
    }
}

/// LED-15
#[test]
fn reports_are_the_auditors_and_stand_between_final_statement_and_verdict() {
    let (mut world, _, _) = World::claiming();
    let report = world.artifact(b"{}");
    refuses(&mut world, report.report_facts(), "OUT_OF_PHASE");
    let mut world = World::auditing();
    let outcome = world.say_as(Role::Critic, report.report_facts());
    assert!(matches!(outcome, Err(DeskError::Admission(AdmissionError::Role { .. }))), "{outcome:?}");
    for _ in 0..64 {
        world.report(b"{}");
    }
    refuses(&mut world, report.report_facts(), "TOO_MANY");
}

/// LED-31
#[test]
fn after_the_final_statement_only_the_auditor_asks_and_its_question_holds_the_verdict() {
    let mut world = verifying();
    let pass = reporting(VerificationStatus::Pass);
    world.report(pass.as_bytes());
    for role in [Role::Planner, Role::Executor, Role::Critic] {
        let before = world.open_run().length();
        let outcome = world.say_as(role, QuestionAsked(question_for(anyone())));
        refused(&world, before, outcome, "SPOKE_AFTER_FINAL");
    }
    let asked = world.say_as(Role::Auditor, QuestionAsked(question_for(anyone()))).unwrap();
    let before = world.open_run().length();
    let outcome = verdict(&mut world, VerificationStatus::Pass, pass.as_bytes());
    refused(&world, before, outcome, "QUESTIONS_OPEN");
    world.say_as(Role::Auditor, QuestionCancelled { question: asked }).unwrap();
    verdict(&mut world, VerificationStatus::Pass, pass.as_bytes()).unwrap();
}
