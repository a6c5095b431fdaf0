//! What an event may refer to: only what is there and still in play.

use demur_ledger::{
    facts::{
        ClaimChallenged, ClaimIssued, ClaimResolved, ClaimRetracted, ProposalCreated, Risk,
        ToolExecutionCompleted, ToolExecutionStarted, ToolIntentSigned,
    },
    role::Role,
};

use super::{intent, refused, refuses};
use crate::world::{World, list};

/// LED-32
#[test]
fn only_a_failed_intent_is_tried_again() {
    let (mut world, proposal) = World::executing();
    let signed = world.intend(proposal, Risk::Low);
    let retry = ToolIntentSigned { retries: Some(signed), ..intent(proposal, Risk::Low) };
    refuses(&mut world, retry, "REFERENCE");
}

/// LED-13
#[test]
fn a_claim_is_taken_back_once() {
    let (mut world, claim, _) = World::claiming();
    world.say_as(Role::Executor, ClaimRetracted { claim }).unwrap();
    let before = world.open_run().length();
    let again = world.say_as(Role::Executor, ClaimRetracted { claim });
    refused(&world, before, again, "REFERENCE");
}

/// LED-13
#[test]
fn a_challenge_goes_with_its_own_claim_and_no_other() {
    let (mut world, first, facts) = World::claiming();
    let second = world.say(facts).unwrap();
    let against_first = world.say(ClaimChallenged { claim: first }).unwrap();
    let against_second = world.say(ClaimChallenged { claim: second }).unwrap();
    world.say_as(Role::Executor, ClaimRetracted { claim: first }).unwrap();
    assert_eq!(world.open_run().claims().collect::<Vec<_>>(), [(second, true)]);
    refuses(&mut world, ClaimResolved { challenge: against_first }, "REFERENCE");
    world.say(ClaimResolved { challenge: against_second }).unwrap();
    assert_eq!(world.open_run().claims().collect::<Vec<_>>(), [(second, false)]);
}

/// LED-07 LED-12 LED-27
#[test]
fn input_outputs_and_executions_are_named_once_and_are_what_they_are_named_as() {
    let (mut world, proposal) = World::executing();
    let (first, output) = world.call_tool(proposal);
    let (second, other) = world.call_tool(proposal);
    let intent = world.intend(proposal, Risk::Low);
    refuses(&mut world, ToolExecutionStarted { input: Some(intent), intent }, "REFERENCE");
    let started = world.start(intent);
    for outputs in [[output, output], [other, output]] {
        refuses(&mut world, ToolExecutionCompleted { outputs: list(outputs), started }, "ASCENDING");
    }
    // What was there before it started, it did not produce.
    refuses(&mut world, ToolExecutionCompleted { outputs: list([other]), started }, "EVIDENCE_WEAK");
    let produced = world.record_artifact(b"more");
    world.say(ToolExecutionCompleted { outputs: list([produced]), started }).unwrap();
    for executions in [[first, first], [second, first]] {
        let (evidence, executions) = (list([output]), list(executions));
        refuses(&mut world, ClaimIssued { about_failure: false, evidence, executions }, "ASCENDING");
    }
}

/// LED-20
#[test]
fn fallback_waits_until_nothing_runs() {
    let (mut world, proposal) = World::executing();
    let (failed, ..) = world.fail_tool(proposal, None).unwrap();
    let intent = world.intend(proposal, Risk::Medium);
    let started = world.start(intent);
    let fallback = ProposalCreated { fallback_for: Some(failed), replaces: None };
    refuses(&mut world, fallback.clone(), "EXECUTION_OPEN");
    let output = world.record_artifact(b"done");
    world.say(ToolExecutionCompleted { outputs: list([output]), started }).unwrap();
    world.say(fallback).unwrap();
}
