//! The property the engine exists for: whatever is sent to it, the verifier accepts what it records.

use std::collections::BTreeSet;

use demur_ledger::{state::Phase, verify::Verdict};

use crate::{
    codes::{ELSEWHERE, PINNED},
    walk::Walk,
    world::World,
};

/// LED-05 LED-16 LED-21 LED-29 ONE-03
#[test]
fn proof_no_order_of_commands_makes_a_trace_the_verifier_rejects() {
    let world = World::new();
    let mut phases = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for seed in 0..rounds(20_000, 120) {
        let mut walk = Walk::new(&world, seed);
        for _ in 0..STEPS {
            walk.step();
            phases.insert(walk.world.run.state.phase().unwrap_or(Phase::Initialized));
        }
        let report = walk.world.verified();
        assert_ne!(report.verdict, Verdict::Fail, "seed {seed}: {}", report.to_text());
        assert_eq!(walk.world.run.state, walk.world.run.replayed(), "seed {seed}");
        assert_eq!(walk.world.registry.state, walk.world.registry.replayed(), "seed {seed}");
        refused.extend(walk.world.refused);
    }
    assert_eq!(phases, Phase::ALL.into(), "the walks did not reach every phase");
    let expected: BTreeSet<_> = PINNED.iter().copied().filter(|code| !ELSEWHERE.contains(code)).collect();
    let missed: Vec<_> = expected.difference(&refused).collect();
    assert!(missed.is_empty(), "the walks never met {missed:?}");
}

/// Returns how often a proof is to be repeated: fully under `cargo xtask prove`, else a reduced number.
#[expect(clippy::disallowed_methods, reason = "the one place where the tests read the environment")]
fn rounds(full: u64, reduced: u64) -> u64 {
    if std::env::var("DEMUR_PROOF").as_deref() == Ok("full") { full } else { reduced }
}

/// How many things happen in one sequence.
const STEPS: usize = 200;
