//! The chain: an event follows the one before it by trace, number, hash and time, or not at all.

use demur_engine::{command::Command, context::Context, decide, state::ApplyError};
use demur_ledger::{
    envelope::{Envelope, Event},
    meaning::Known,
    name::TraceId,
    role::Role,
};

use crate::{
    words::note,
    world::{To, World, submitted},
};

/// LED-05 LED-16
#[test]
fn each_part_of_the_chain_counts() {
    let mut world = World::opened();
    let decision = world.decided(To::Run, Command::Recover(note()));
    let good = &decision.events[0].event;
    let other_trace = TraceId::new(world.now, &mut world.random);
    let other_hash = *world.registry.entries[0].event.hash();
    let changes: [&dyn Fn(&mut Envelope); 4] = [
        &|envelope| envelope.trace = other_trace,
        &|envelope| envelope.sequence = envelope.sequence.next(),
        &|envelope| envelope.previous = Some(other_hash),
        &|envelope| envelope.time = demur_core::time::Timestamp::MIN,
    ];
    let mut state = world.run.state.clone();
    for (index, change) in changes.into_iter().enumerate() {
        let mut envelope = good.envelope().clone();
        change(&mut envelope);
        let applied = state.apply(&Event::seal(envelope).unwrap(), Known::NOTHING);
        assert!(matches!(applied, Err(ApplyError::Chain)), "change {index}: {applied:?}");
        assert_eq!(state, world.run.state, "change {index} left something behind");
    }
    state.apply(good, Known::NOTHING).unwrap();
    assert_eq!(state.tip().head(), Some(good.position()));
}

/// Whatever registry was looked up: the registry's own trace goes by its own state.
#[test]
fn a_command_to_the_registry_goes_by_its_own_state() {
    let mut world = World::new();
    let old = world.known_registry().clone();
    let (one, other) = (world.new_speaker(Role::Critic), world.new_speaker(Role::Critic));
    world.register(&one);
    let sent = world.registration(&other);
    let command = submitted(sent.submission, None, &old).unwrap();
    let context = Context { registry: &old, ..world.context(&world.registry, &command) };
    let decision = decide(&world.registry.state, &context, command, world.now, &mut world.random.clone());
    let event = &decision.events[0].event;
    assert_eq!(event.envelope().registry, world.registry.state.tip().head());
    world.registry.state.apply(event, Known::NOTHING).unwrap();
}
