//! Reactors: the same event asks for the same thing, however often it is read.

use demur_core::hash::{Digest, sha256};
use demur_engine::reactor::{CheckpointAfterRun, Effect, Reactor};
use demur_ledger::{
    envelope::Event,
    event_type::{EventType, Facts},
    facts::SessionAborted,
};

use crate::{
    walk::Walk,
    words::abort,
    world::{To, World, meaning},
};

/// Never does anything, under a name of its own.
struct Idle;

impl Reactor for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn react(&self, _: &Event) -> Option<Effect> {
        None
    }
}

/// Another id would make what was done once happen again.
#[test]
fn the_command_of_an_effect_never_changes() {
    let source: Digest = sha256(b"an event");
    assert_eq!(CheckpointAfterRun.command(&source).to_string(), "18CPDZ25CDH6NA9R5REDR7WT9P");
    assert_eq!(CheckpointAfterRun.name(), "checkpoint_after_run");
}

#[test]
fn effects_of_other_events_and_other_reactors_have_other_commands() {
    let (one, other) = (sha256(b"one"), sha256(b"other"));
    assert_eq!(CheckpointAfterRun.command(&one), CheckpointAfterRun.command(&one));
    assert_ne!(CheckpointAfterRun.command(&one), CheckpointAfterRun.command(&other));
    assert_ne!(CheckpointAfterRun.command(&one), Idle.command(&one));
}

/// Whatever happened before: an event asks for a checkpoint exactly when the run is over after it and was not before.
#[test]
fn exactly_the_events_that_end_a_run_ask_for_a_checkpoint() {
    let world = World::new();
    let mut ended = 0;
    for seed in 0..12 {
        let mut walk = Walk::new(&world, seed);
        (0..200).for_each(|_| walk.step());
        let mut state = demur_engine::state::State::new(walk.world.run.state.tip().trace());
        let mut over = false;
        for entry in &walk.world.run.entries {
            let before = over;
            state.apply(&entry.event, meaning(entry)).unwrap();
            over = state.phase().unwrap().is_final();
            let expected = (over && !before).then_some(Effect::RecordCheckpoint);
            assert_eq!(CheckpointAfterRun.react(&entry.event), expected);
            ended += usize::from(expected.is_some());
        }
        for entry in &walk.world.registry.entries {
            assert_eq!(CheckpointAfterRun.react(&entry.event), None);
        }
    }
    assert!(ended > 3, "only {ended} runs ended");
}

#[test]
fn an_abort_asks_for_a_checkpoint_whoever_said_it() {
    let by_key = |world: &mut World| {
        world.say(SessionAborted { attribution: None });
    };
    let by_desk = |world: &mut World| {
        world.command(To::Run, abort());
    };
    for abort in [by_key as fn(&mut World), by_desk] {
        let mut world = World::opened();
        abort(&mut world);
        let event = &world.run.entries.last().unwrap().event;
        assert_eq!(event.said().unwrap().facts.event_type(), Some(EventType::SessionAborted));
        assert!(matches!(event.said().unwrap().facts, Facts::SessionAborted(_)));
        assert_eq!(CheckpointAfterRun.react(event), Some(Effect::RecordCheckpoint));
    }
}
