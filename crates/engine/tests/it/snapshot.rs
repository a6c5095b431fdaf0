//! Snapshots: disposable, and never wrong.

use demur_engine::{
    snapshot::{from_bytes, to_bytes},
    state::State,
};
use demur_ledger::facts::ProposalCreated;

use crate::{
    walk::Walk,
    world::{World, meaning},
};

/// LED-22
#[test]
fn a_snapshot_taken_anywhere_is_the_replayed_state() {
    let world = World::new();
    let mut taken = 0;
    for seed in 100..112 {
        let mut walk = Walk::new(&world, seed);
        (0..150).for_each(|_| walk.step());
        let mut state = State::new(walk.world.run.state.tip().trace());
        for entry in &walk.world.run.entries {
            state.apply(&entry.event, meaning(entry)).unwrap();
            let bytes = to_bytes(&state).unwrap();
            assert_eq!(from_bytes(&bytes, &entry.event), Some(state.clone()), "seed {seed}");
            taken += 1;
        }
    }
    assert!(taken > 200, "only {taken} snapshots were taken");
}

#[test]
fn a_damaged_snapshot_is_none() {
    let world = World::opened();
    let newest = &world.run.entries.last().unwrap().event;
    let good = to_bytes(&world.run.state).unwrap();
    assert!(from_bytes(&good, newest).is_some());
    for index in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[index] ^= 1 << bit;
            assert!(from_bytes(&bad, newest).is_none(), "byte {index}, bit {bit}");
        }
        assert!(from_bytes(&good[..index], newest).is_none(), "cut at {index}");
    }
}

#[test]
fn a_snapshot_of_another_head_is_none() {
    let mut world = World::opened();
    let old = to_bytes(&world.run.state).unwrap();
    let first = world.run.entries[0].event.clone();
    world.say(ProposalCreated { fallback_for: None, replaces: None });
    let newest = &world.run.entries.last().unwrap().event;
    assert!(from_bytes(&old, newest).is_none());
    assert!(from_bytes(&to_bytes(&world.run.state).unwrap(), &first).is_none());
}

#[test]
fn only_runs_have_snapshots() {
    let world = World::new();
    assert!(to_bytes(&world.registry.state).is_none());
    assert!(to_bytes(&world.run.state).is_none());
}
