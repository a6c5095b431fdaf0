//! What an event may refer to: only what is there and still in play.

use demur_ledger::{
    facts::{ClaimChallenged, ClaimResolved, ClaimRetracted, Risk, ToolIntentSigned},
    role::Role,
};

use super::{intent, refused, refuses};
use crate::world::World;

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
