//! What an author in this process says: its signature is not looked at again, everything else is.

use demur_engine::{
    Reply,
    command::{Command, Consequences},
};
use demur_ledger::{
    author::{Author, Place},
    event_type::{Content, Facts},
    facts::{KeyRegistered, ProposalCreated},
    name::CommandId,
    role::Role,
};

use crate::{
    words::{fitting, list},
    world::{Speaker, To, World, position, refusal},
};

fn proposal() -> Facts {
    ProposalCreated { fallback_for: None, replaces: None }.into()
}

/// Has somebody say something at the end of a trace.
fn speak(world: &mut World, to: To, speaker: &Speaker, facts: Facts, content: Option<Content>) -> Reply {
    let tip = *world.log(to).state.tip();
    let place = Place { store: world.store(), trace: tip.trace(), seen: tip.head(), now: world.now };
    let author = Author::new(speaker.key.clone(), speaker.principal, speaker.role);
    let id = CommandId::new(world.now, &mut world.random);
    let said = author.speak(id, &place, facts, content, &mut world.random).unwrap();
    world.command(to, Command::submit(said, None, Consequences::default()))
}

fn planner(world: &World) -> Speaker {
    let Speaker { key, principal, role } = world.speaker(Role::Planner);
    Speaker { key: key.clone(), principal: *principal, role: *role }
}

/// LED-09
#[test]
fn what_is_said_here_is_recorded_as_if_it_came_from_outside() {
    let mut world = World::opened();
    let planner = planner(&world);
    let recorded = position(&speak(&mut world, To::Run, &planner, proposal(), fitting(&proposal())));
    let newest = world.run.entries.last().unwrap();
    assert_eq!(newest.event.position(), recorded);
    assert_eq!(newest.event.envelope().actor, planner.principal);
    assert_eq!(world.run.state, world.run.replayed());
}

/// LED-09
#[test]
fn who_is_not_in_the_registry_says_nothing_from_here_either() {
    let mut world = World::opened();
    let stranger = world.new_speaker(Role::Planner);
    let before = world.run.state.clone();
    let refused = speak(&mut world, To::Run, &stranger, proposal(), fitting(&proposal()));
    assert_eq!(refusal(&refused).code, "KEY_UNKNOWN");
    assert_eq!(world.run.state, before);
}

/// LED-09
#[test]
fn nobody_registers_the_key_of_somebody_else_from_here() {
    let mut world = World::opened();
    let (one, other) = (world.new_speaker(Role::Holder), world.new_speaker(Role::Critic));
    let facts = KeyRegistered {
        key: other.key.public(),
        principal: other.principal,
        recovery: None,
        roles: list([other.role]),
    };
    let facts = Facts::from(facts);
    let before = world.registry.state.clone();
    let content = fitting(&facts);
    let refused = speak(&mut world, To::Registry, &one, facts, content);
    assert!(matches!(refused, Reply::Refused(_)), "{refused:?}");
    assert_eq!(world.registry.state, before);
}

/// LED-09
#[test]
fn content_that_is_missing_is_refused_from_here_too() {
    let mut world = World::opened();
    let planner = planner(&world);
    let refused = speak(&mut world, To::Run, &planner, proposal(), None);
    assert_eq!(refusal(&refused).code, "CONTENT_RULE");
}
