//! One command, one event: repeats are recognized, and nobody uses an id twice.

use demur_engine::Reply;
use demur_ledger::{
    facts::ProposalCreated,
    name::{Position, TraceId},
    role::Role,
    verify::Verdict,
};

use crate::{
    words::abort,
    world::{GOOD_FOR, Sent, To, World, position, refusal},
};

/// Returns a world, a statement that is recorded in it, and where.
fn recorded() -> (World, Sent, Position) {
    let mut world = World::opened();
    let sent = world.saying(proposal());
    let at = position(&world.send(To::Run, &sent));
    (world, sent, at)
}

fn proposal() -> ProposalCreated {
    ProposalCreated { fallback_for: None, replaces: None }
}

#[track_caller]
fn assert_repeated(world: &mut World, sent: &Sent, at: Position) {
    let trace = world.run.state.tip().trace();
    let before = world.run.entries.len();
    assert_eq!(world.send(To::Run, sent), Reply::Repeated { trace, position: at });
    assert_eq!(world.run.entries.len(), before);
}

#[test]
fn the_same_bytes_again_get_the_first_answer() {
    let (mut world, sent, at) = recorded();
    assert_repeated(&mut world, &sent, at);
    world.say(proposal());
    assert_repeated(&mut world, &sent, at);
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn a_repeat_is_recognized_after_the_statement_expired() {
    let (mut world, sent, at) = recorded();
    world.now = world.now.plus_millis(10 * GOOD_FOR);
    assert_repeated(&mut world, &sent, at);
}

#[test]
fn a_repeat_is_recognized_after_the_run_ended() {
    let (mut world, sent, at) = recorded();
    position(&world.command(To::Run, abort()));
    assert_repeated(&mut world, &sent, at);
}

#[test]
fn a_repeat_sent_to_another_trace_is_told_where_it_stands() {
    let (mut world, sent, at) = recorded();
    let trace: TraceId = world.run.state.tip().trace();
    let before = world.registry.state.clone();
    assert_eq!(world.send(To::Registry, &sent), Reply::Repeated { trace, position: at });
    assert_eq!(world.registry.state, before);
}

/// LED-21
#[test]
fn other_bytes_under_the_same_id_are_refused() {
    let (mut world, sent, _) = recorded();
    let mut draft = world.draft(To::Run, Role::Planner, proposal());
    let statement = demur_ledger::statement::Statement::parse(&sent.submission.statement).unwrap();
    draft.command = statement.command;
    let key = world.speaker(Role::Planner).key.clone();
    let other = world.sign(draft, &key);
    assert_eq!(refusal(&world.send(To::Run, &other)).code, "COMMAND_USED");
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

#[test]
fn an_id_belongs_to_one_key_and_not_to_all() {
    let (mut world, sent, _) = recorded();
    let statement = demur_ledger::statement::Statement::parse(&sent.submission.statement).unwrap();
    let mut draft =
        world.draft(To::Run, Role::Operator, demur_ledger::facts::SessionAborted { attribution: None });
    draft.command = statement.command;
    let key = world.speaker(Role::Operator).key.clone();
    let other = world.sign(draft, &key);
    position(&world.send(To::Run, &other));
    assert_ne!(world.verified().verdict, Verdict::Fail);
}

/// A refused command left nothing behind: once what stood in its way is gone, it counts.
#[test]
fn a_refused_command_may_be_sent_again_as_it_is() {
    let mut world = World::new();
    let opening = world.opening(crate::world::usual_policy());
    let sent = world.saying(opening);
    let now = world.now;
    world.now = now.plus_millis(GOOD_FOR + 1);
    assert_eq!(refusal(&world.send(To::Run, &sent)).code, "EXPIRED");
    world.now = now;
    position(&world.send(To::Run, &sent));
}
