//! The claim on a run: a record, so that one process at a time drives it, at whatever server. Taken and renewed by compare
//! and swap; one that was not renewed in time is free for the next.

use demur_api::{code::Code, refusal::Refusal, run::ClaimId};
use demur_core::time::Timestamp;
use demur_ledger::name::TraceId;
use demur_sequencer::{Sequencer, SequencerError};
use demur_store::contract::{KeptRecord, RecordKey, RecordValue, StoreError, Swap, Version};

/// Takes or renews the claim on a run. Another's claim stands in the way until it ends, unless its process has.
pub(super) fn take(
    ledger: &Sequencer,
    trace: TraceId,
    claim: ClaimId,
    abandoned: bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    sweep(ledger, now)?;
    for _ in 0..ATTEMPTS {
        let kept = ledger.store().record(&key(trace)?)?;
        if let Some(kept) = &kept
            && !abandoned
            && is_in_the_way(kept, Some(claim), now)
        {
            return Err(claimed(trace));
        }
        let next = RecordValue {
            bytes: claim.to_string().into_bytes(),
            expires: Some(now.plus_millis(ClaimId::LIFETIME_MILLIS)),
        };
        let was = kept.map_or(Version::ABSENT, |kept| kept.version);
        if swap(ledger, trace, was, Some(next))? {
            return Ok(());
        }
    }
    Err(claimed(trace))
}

/// Checks that a claim still holds, and renews it where it is time.
pub(super) fn hold(
    ledger: &Sequencer,
    trace: TraceId,
    claim: ClaimId,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(kept) = ledger.store().record(&key(trace)?)?.filter(|kept| holder(kept) == Some(claim)) else {
        return Err(claimed(trace));
    };
    let fresh = now.plus_millis(ClaimId::LIFETIME_MILLIS - ClaimId::RENEWAL_MILLIS);
    if kept.value.expires.is_some_and(|expires| expires > fresh) {
        return Ok(());
    }
    take(ledger, trace, claim, false, now)
}

/// Checks that nobody drives a run.
pub(super) fn expect_none(
    ledger: &Sequencer,
    trace: TraceId,
    abandoned: bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    match ledger.store().record(&key(trace)?)? {
        Some(kept) if !abandoned && is_in_the_way(&kept, None, now) => Err(claimed(trace)),
        _ => Ok(()),
    }
}

/// Gives a claim back.
pub(super) fn release(ledger: &Sequencer, trace: TraceId, claim: ClaimId) -> Result<(), Refusal> {
    // Where somebody else has it by now, there is nothing to give back.
    if let Some(kept) = ledger.store().record(&key(trace)?)?.filter(|kept| holder(kept) == Some(claim)) {
        swap(ledger, trace, kept.version, None)?;
    }
    Ok(())
}

/// Takes old claims away that nobody came back to.
fn sweep(ledger: &Sequencer, now: Timestamp) -> Result<(), Refusal> {
    let old = Timestamp::from_millis(now.as_millis().saturating_sub(KEPT_MILLIS)).unwrap_or(Timestamp::MIN);
    for kept in ledger.store().due(PREFIX, old, SWEPT)? {
        change(ledger, Swap { key: kept.key, was: kept.version, next: None })?;
    }
    Ok(())
}

fn is_in_the_way(kept: &KeptRecord, claim: Option<ClaimId>, now: Timestamp) -> bool {
    holder(kept) != claim && kept.value.expires.is_some_and(|expires| expires > now)
}

fn holder(kept: &KeptRecord) -> Option<ClaimId> {
    std::str::from_utf8(&kept.value.bytes).ok()?.parse().ok()
}

fn swap(
    ledger: &Sequencer,
    trace: TraceId,
    was: Version,
    next: Option<RecordValue>,
) -> Result<bool, Refusal> {
    change(ledger, Swap { key: key(trace)?, was, next })
}

/// Changes a record, and returns whether it was what it was taken for.
fn change(ledger: &Sequencer, swap: Swap) -> Result<bool, Refusal> {
    match ledger.swap(vec![swap]) {
        Ok(()) => Ok(true),
        Err(SequencerError::RecordChanged) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn key(trace: TraceId) -> Result<RecordKey, StoreError> {
    RecordKey::new(format!("{PREFIX}{trace}"))
}

fn claimed(trace: TraceId) -> Refusal {
    let message =
        format!("expected a run that nobody is running now, found another process that runs {trace}");
    Refusal::new(Code::RunClaimed, message)
        .with_cure("wait until it has ended, or stop it with Ctrl-C; then `demur run resume` goes on")
}

const PREFIX: &str = "run-claim/";
/// How often another process may be faster.
const ATTEMPTS: usize = 8;
/// How long a claim is kept after its end, in milliseconds.
const KEPT_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// How many old claims are taken away at a time.
const SWEPT: usize = 8;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use demur_core::key::SecretKey;
    use demur_store::memory::MemoryStore;

    use super::*;
    use crate::world::World;

    const MINUTE: u64 = ClaimId::LIFETIME_MILLIS;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + millis).unwrap()
    }

    fn refused(result: Result<(), Refusal>) -> bool {
        result.is_err_and(|refusal| refusal.code == Code::RunClaimed)
    }

    /// One store with two sequencers, as two processes have them.
    struct Pair {
        here: Sequencer,
        there: Sequencer,
        trace: TraceId,
        claims: Vec<ClaimId>,
    }

    fn pair() -> Pair {
        let mut world = World::open().unwrap();
        let key = SecretKey::generate(&mut world);
        let store = Arc::new(MemoryStore::shared(at(0)));
        let here = Sequencer::create(Arc::clone(&store) as _, key.clone(), "desk", Box::new(world)).unwrap();
        let there = Sequencer::open(store, move |_| Some(key.clone()), Box::new(world)).unwrap();
        let claims = (0..16).map(|_| ClaimId::new(at(0), &mut world)).collect();
        Pair { here, there, trace: TraceId::new(at(0), &mut world), claims }
    }

    #[test]
    fn second_claim_waits_until_the_first_is_given_back() {
        let Pair { here, there, trace, claims } = pair();
        let (first, second) = (claims[0], claims[1]);
        take(&here, trace, first, false, at(0)).unwrap();
        assert!(refused(take(&there, trace, second, false, at(MINUTE - 1))));
        assert!(refused(hold(&there, trace, second, at(1))));
        assert!(refused(expect_none(&there, trace, false, at(1))));
        release(&there, trace, second).unwrap();
        hold(&here, trace, first, at(1)).unwrap();
        release(&here, trace, first).unwrap();
        take(&there, trace, second, false, at(1)).unwrap();
    }

    #[test]
    fn claim_that_was_not_renewed_in_time_is_taken_over_and_shut_out() {
        let Pair { here, there, trace, claims } = pair();
        let (first, second) = (claims[0], claims[1]);
        take(&here, trace, first, false, at(0)).unwrap();
        // Each report renews it in time.
        for round in 1..5 {
            hold(&here, trace, first, at(round * ClaimId::RENEWAL_MILLIS)).unwrap();
        }
        assert!(refused(take(&there, trace, second, false, at(MINUTE + 1))));
        let late = 4 * ClaimId::RENEWAL_MILLIS + MINUTE;
        take(&there, trace, second, false, at(late)).unwrap();
        assert!(refused(hold(&here, trace, first, at(late))));
    }

    #[test]
    fn claim_of_a_process_that_has_ended_is_taken_over_at_once() {
        let Pair { here, there, trace, claims } = pair();
        let (first, second) = (claims[0], claims[1]);
        take(&here, trace, first, false, at(0)).unwrap();
        take(&there, trace, second, true, at(1)).unwrap();
        assert!(refused(hold(&here, trace, first, at(1))));
    }

    #[test]
    fn of_many_who_claim_at_once_one_does() {
        let Pair { here, there, trace, claims } = pair();
        let claims = claims.iter().zip([&here, &there].into_iter().cycle());
        let taken = std::thread::scope(|scope| {
            let tries: Vec<_> = claims
                .map(|(claim, ledger)| scope.spawn(move || take(ledger, trace, *claim, false, at(0)).is_ok()))
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).filter(|taken| *taken).count()
        });
        assert_eq!(taken, 1);
    }

    #[test]
    fn old_claims_go_away() {
        let Pair { here, there, trace, claims } = pair();
        let is_there = || here.store().record(&key(trace).unwrap()).unwrap().is_some();
        take(&here, trace, claims[0], false, at(0)).unwrap();
        sweep(&there, at(KEPT_MILLIS)).unwrap();
        assert!(is_there());
        sweep(&there, at(KEPT_MILLIS + MINUTE)).unwrap();
        assert!(!is_there());
    }
}
