//! A trace that failed an integrity check: nothing is added to it any more.

use demur_engine::{Reply, command::Command, snapshot};
use demur_ledger::facts::ProposalCreated;

use crate::{
    words::{abort, note},
    world::{To, World, refusal},
};

/// LED-18
#[test]
fn a_failed_trace_refuses_everything_and_records_nothing() {
    let mut world = World::opened();
    let proposal = ProposalCreated { fallback_for: None, replaces: None };
    let recorded = world.saying(proposal.clone());
    world.send(To::Run, &recorded);
    let (good, bad) =
        (world.saying(proposal.clone()), world.saying(world.opening(crate::world::usual_policy())));
    world.run.state.mark_failed();
    let before = world.run.entries.len();
    let mut replies: Vec<Reply> =
        vec![world.command(To::Run, abort()), world.command(To::Run, Command::Recover(note()))];
    // A good statement, one that would be refused anyway, and one that stands in the failed trace already.
    for sent in [good, bad, recorded] {
        replies.push(world.send(To::Run, &sent));
    }
    for reply in replies {
        assert_eq!(refusal(&reply).code, "TRACE_FAILED");
    }
    assert_eq!(world.run.entries.len(), before);
}

/// LED-18
#[test]
fn a_snapshot_does_not_wash_a_failed_trace() {
    let mut world = World::opened();
    assert!(snapshot::to_bytes(&world.run.state).is_some());
    world.run.state.mark_failed();
    assert!(snapshot::to_bytes(&world.run.state).is_none());
}

/// LED-18
#[test]
fn a_failed_run_does_not_hold_up_other_traces() {
    let mut world = World::opened();
    world.run.state.mark_failed();
    let newcomer = world.new_speaker(demur_ledger::role::Role::Critic);
    let before = world.registry.entries.len();
    world.register(&newcomer);
    assert_eq!(world.registry.entries.len(), before + 1);
}
