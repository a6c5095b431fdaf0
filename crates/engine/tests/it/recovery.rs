//! Coming back after a crash, and the operator's abort: what the desk says on its own word.

use demur_engine::{Reply, command::Command};
use demur_ledger::{
    envelope::Event, event_type::Facts, facts::ProposalCreated, proof::Proof, role::Role, state::Phase,
    verify::Verdict,
};

use crate::{
    words::{abort, note},
    world::{To, World, position, refusal},
};

fn recover(world: &mut World) -> Reply {
    world.command(To::Run, Command::Recover(note()))
}

fn newest(world: &World) -> &Event {
    &world.run.entries.last().unwrap().event
}

/// LED-22
#[test]
fn a_recovery_names_the_last_complete_event_and_the_run_goes_on_where_it_stood() {
    let mut world = World::opened();
    let head = world.run.state.tip().head().unwrap();
    position(&recover(&mut world));
    let Facts::RecoveryRecorded(facts) = newest(&world).said().unwrap().facts else { panic!("no recovery") };
    assert_eq!(facts.through, head);
    assert_eq!(newest(&world).envelope().actor, world.known_registry().desk());
    assert_eq!(world.run.state.phase(), Some(Phase::Planning));
    world.say(ProposalCreated { fallback_for: None, replaces: None });
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// LED-22
#[test]
fn only_a_run_that_is_open_recovers() {
    let mut world = World::new();
    assert_eq!(refusal(&recover(&mut world)).code, "NOT_OPENED");
    assert_eq!(refusal(&world.command(To::Registry, Command::Recover(note()))).code, "NOT_A_RUN");
    let mut world = World::opened();
    position(&world.command(To::Run, abort()));
    assert_eq!(refusal(&recover(&mut world)).code, "OUT_OF_PHASE");
}

#[test]
fn the_operator_ends_a_run_once_on_the_desks_word() {
    let mut world = World::opened();
    position(&world.command(To::Run, abort()));
    assert_eq!(world.run.state.phase(), Some(Phase::Aborted));
    let said = newest(&world).said().unwrap();
    assert_eq!(said.role, Role::Operator);
    assert_eq!(newest(&world).envelope().proof, Proof::None);
    let again = refusal(&world.command(To::Run, abort()));
    assert_eq!(again.code, "OUT_OF_PHASE");
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn only_a_run_is_aborted() {
    let mut world = World::new();
    for to in [To::Run, To::Registry] {
        assert_eq!(refusal(&world.command(to, abort())).code, "NOT_A_RUN");
    }
}

/// The operator may also sign the end of a run with a key.
#[test]
fn the_operator_ends_a_run_with_its_own_key() {
    let mut world = World::opened();
    world.say(demur_ledger::facts::SessionAborted { attribution: None });
    assert_eq!(world.run.state.phase(), Some(Phase::Aborted));
    assert!(matches!(newest(&world).envelope().proof, Proof::Ed25519(_)));
}
