//! Time and order: the clock may go back, authors may be slow, two may be at it at once.

use demur_core::time::Timestamp;
use demur_ledger::{facts::ProposalCreated, meaning::Known, verify::Verdict};

use crate::world::{GOOD_FOR, To, World, position, refusal, submitted};

fn proposal() -> ProposalCreated {
    ProposalCreated { fallback_for: None, replaces: None }
}

fn set(world: &mut World, millis: u64) {
    world.now = Timestamp::from_millis(millis).unwrap();
}

/// LED-05
#[test]
fn an_event_is_never_earlier_than_the_one_before_it() {
    let mut world = World::opened();
    let before = world.run.state.tip().time();
    let sent = world.saying(proposal());
    set(&mut world, before.as_millis() - 60_000);
    position(&world.send(To::Run, &sent));
    assert_eq!(world.run.state.tip().time(), before);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// The event would carry a time after the statement's end, and the verifier would say that the desk held it back.
#[test]
fn a_statement_that_expires_before_the_newest_event_is_refused_though_the_clock_went_back() {
    let mut world = World::opened();
    let opened = world.now.as_millis();
    set(&mut world, opened - 2 * GOOD_FOR);
    let early = world.saying(proposal());
    assert_eq!(refusal(&world.send(To::Run, &early)).code, "EXPIRED");
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn a_statement_holds_to_the_last_millisecond_and_not_beyond() {
    let mut world = World::opened();
    let (last, late) = (world.saying(proposal()), world.saying(proposal()));
    world.now = world.now.plus_millis(GOOD_FOR);
    position(&world.send(To::Run, &last));
    world.now = world.now.plus_millis(1);
    assert_eq!(refusal(&world.send(To::Run, &late)).code, "EXPIRED");
}

/// LED-16
#[test]
fn several_may_speak_at_once_and_nobody_signs_again() {
    let mut world = World::opened();
    let (one, other) = (world.saying(proposal()), world.saying(proposal()));
    let first = position(&world.send(To::Run, &one));
    let second = position(&world.send(To::Run, &other));
    assert_eq!(second.sequence, first.sequence.next());
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// LED-16
#[test]
fn an_event_decided_on_an_old_state_does_not_chain_and_deciding_again_does() {
    let mut world = World::opened();
    let one = world.saying(proposal());
    let command = submitted(one.submission.clone(), None, world.known_registry()).unwrap();
    let early = world.decided(To::Run, command);
    world.say(proposal());
    let mut state = world.run.state.clone();
    assert!(state.apply(&early.events[0].event, Known::NOTHING).is_err());
    assert_eq!(state, world.run.state, "a refused event left something behind");
    position(&world.send(To::Run, &one));
}
