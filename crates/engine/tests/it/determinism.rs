//! The same input gives the same decision, wherever the state came from.

use demur_core::random::Seeded;
use demur_engine::{Decision, command::Command, decide, snapshot, state::State};
use demur_ledger::{facts::ProposalCreated, role::Role};

use crate::{
    walk::Walk,
    words::{abort, note},
    world::{To, World, submitted},
};

/// Returns commands that are recorded, refused and refused with a record, in some phase or other.
fn commands(world: &mut World) -> Vec<Command> {
    let proposal = || ProposalCreated { fallback_for: None, replaces: None };
    let good = world.saying(proposal());
    let planner = world.speaker(Role::Planner).key.clone();
    let draft = world.draft(To::Run, Role::Critic, proposal());
    let wrong_role = world.sign(draft, &planner);
    let mut commands = vec![abort(), Command::Recover(note())];
    for sent in [good, wrong_role] {
        commands.push(submitted(sent.submission, None, world.known_registry()).unwrap());
    }
    commands
}

fn decided(world: &World, state: &State, command: &Command) -> Decision {
    let context = world.context(&world.run, command);
    decide(state, &context, command.clone(), world.now, &mut Seeded::from_number(5))
}

#[test]
fn a_replayed_state_and_a_snapshot_decide_as_the_original_does() {
    let world = World::new();
    let mut events = 0;
    for seed in 200..220 {
        let mut walk = Walk::new(&world, seed);
        (0..90).for_each(|_| walk.step());
        let mut world = walk.world;
        let replayed = world.run.replayed();
        let mut states = vec![replayed];
        if let (Some(bytes), Some(newest)) = (snapshot::to_bytes(&world.run.state), world.run.entries.last())
        {
            states.push(snapshot::from_bytes(&bytes, &newest.event).unwrap());
        }
        for command in commands(&mut world) {
            let expected = decided(&world, &world.run.state, &command);
            events += expected.events.len();
            for state in &states {
                let found = decided(&world, state, &command);
                assert_eq!(found, expected, "seed {seed}");
                let bytes = |decision: &Decision| -> Vec<Vec<u8>> {
                    decision.events.iter().map(|entry| entry.event.bytes().to_vec()).collect()
                };
                assert_eq!(bytes(&found), bytes(&expected), "seed {seed}");
            }
        }
    }
    assert!(events > 20, "only {events} events were decided");
}

/// The salt is the only thing that chance decides.
#[test]
fn another_random_stream_changes_nothing_but_the_salt() {
    let world = World::opened();
    let command = abort();
    let context = world.context(&world.run, &command);
    let decided = |seed| {
        let decision =
            decide(&world.run.state, &context, command.clone(), world.now, &mut Seeded::from_number(seed));
        decision.events[0].clone()
    };
    let (one, other) = (decided(1), decided(2));
    assert_ne!(one.opening.as_ref().unwrap().salt, other.opening.as_ref().unwrap().salt);
    assert_eq!(one.opening.unwrap().bytes, other.opening.unwrap().bytes);
    let without_content = |entry: &demur_ledger::entry::Entry| {
        let mut envelope = entry.event.envelope().clone();
        envelope.content = None;
        envelope
    };
    let (one, other) = (decided(1), decided(2));
    assert_eq!(without_content(&one), without_content(&other));
}

/// An author's statement needs no chance at all: the salt is the author's.
#[test]
fn a_statement_is_recorded_the_same_under_any_random_stream() {
    let mut world = World::opened();
    let sent = world.saying(ProposalCreated { fallback_for: None, replaces: None });
    let command = submitted(sent.submission, None, world.known_registry()).unwrap();
    let context = world.context(&world.run, &command);
    let decided =
        |seed| decide(&world.run.state, &context, command.clone(), world.now, &mut Seeded::from_number(seed));
    assert_eq!(decided(1), decided(2));
}
