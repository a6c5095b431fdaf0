//! What holds for every chain and every time.

use demur_clarify::{
    answer::Answer,
    audit::{AuditRecord, Known},
    chain::Chain,
    gap::{Gap, Severity},
    name::GapId,
    time::Time,
};
use demur_core::{limit::List, time::Timestamp};
use proptest::prelude::*;

use crate::world::{after, agent, caller, keys, of, session};

/// Returns a chain with one round for each entry: (which gap, whether its answerer signs, whether it settles).
fn chain(rounds: &[(u32, bool, bool)]) -> Chain {
    let mut chain = Chain::new(session());
    for (index, (number, signs, settles)) in rounds.iter().enumerate() {
        let at = after(index as u64);
        let id = GapId::number(*number).unwrap();
        let gap = Gap::new(id, of("a.b"), Severity::Block, of("Which?")).unwrap();
        let ask = chain.ask(gap, at, &agent()).unwrap();
        if *signs {
            let answer = Answer::sign(&ask, of("this"), at, &caller()).unwrap();
            chain.accept(&ask, &answer, *settles).unwrap();
        } else {
            chain.record(&ask, of("that"), at, *settles, &agent()).unwrap();
        }
    }
    chain
}

fn rounds() -> impl Strategy<Value = Vec<(u32, bool, bool)>> {
    prop::collection::vec((1_u32..6, any::<bool>(), any::<bool>()), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// CLR-50: whatever is written verifies, and what it says of itself is so.
    #[test]
    fn every_written_chain_verifies(rounds in rounds()) {
        let chain = chain(&rounds);
        let record = chain.seal(false, &agent()).unwrap();
        let verified = record.verify(&keys(), &[]).unwrap();
        prop_assert_eq!(verified.rounds() as u64, record.total_rounds.as_u64());
        prop_assert_eq!(verified.head(), chain.head());
        prop_assert_eq!(record.all_resolved, chain.unresolved().next().is_none());
    }

    /// CLR-51: any order or selection of the rounds but the one that was written is found against the known head,
    /// even if the agent signs the record anew.
    #[test]
    fn no_other_order_or_selection_verifies(rounds in rounds(), picks in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let chain = chain(&rounds);
        let known = Known { round: chain.rounds().len() as u64, hash: chain.head().unwrap() };
        let picked: Vec<_> = picks.iter().map(|pick| pick.get(chain.rounds()).clone()).collect();
        let same = picked == chain.rounds();
        let record = chain.seal(true, &agent()).unwrap();
        let forged = forged(&record, picked);
        prop_assert_eq!(forged.verify(&keys(), &[known]).is_ok(), same);
    }

    #[test]
    fn every_time_is_read_back(millis in 0_u64..=253_402_300_799_999) {
        let time = Time::from(Timestamp::from_millis(millis).unwrap());
        prop_assert_eq!(of::<Time>(&time.to_string()), time);
    }
}

/// Returns the record with other rounds, signed by the agent.
fn forged(record: &AuditRecord, rounds: Vec<demur_clarify::round::Round>) -> AuditRecord {
    let mut forged = record.clone();
    forged.total_rounds = (rounds.len() as u64).try_into().unwrap();
    forged.chain = List::try_from(rounds).unwrap();
    forged.chain_signature = agent().sign(&forged.signing_input().unwrap()).unwrap();
    forged
}
