//! The claim on a run: a record, so that one process at a time drives it, at whatever server. Taken and renewed by compare
//! and swap; one that was not renewed in time is free for the next.

use demur_api::{code::Code, refusal::Refusal, run::ClaimId};
use demur_core::time::Timestamp;
use demur_ledger::name::TraceId;
use demur_store::contract::{
    Conflict, KeptRecord, LeaseId, Outcome, RecordKey, RecordValue, Store, StoreError, Swap, Version, Write,
};

/// The records of a store, and the lease under which they are changed.
#[derive(Clone, Copy)]
pub(super) struct Records<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) writer: LeaseId,
}

impl Records<'_> {
    /// Changes one, if it still is what it was.
    fn swap(self, swap: Swap) -> Result<bool, StoreError> {
        let outcomes = self.store.commit(&[Write::of_records(self.writer, vec![swap])])?;
        match outcomes.first() {
            Some(Outcome::Refused(Conflict::Lease)) => Err(StoreError::LeaseLost),
            outcome => Ok(outcome == Some(&Outcome::Done)),
        }
    }
}

/// Takes or renews the claim on a run. Another's claim stands in the way until it ends, unless its process has.
pub(super) fn take(
    records: Records<'_>,
    trace: TraceId,
    claim: ClaimId,
    abandoned: bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    sweep(records, now)?;
    for _ in 0..ATTEMPTS {
        let kept = records.store.record(&key(trace)?)?;
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
        if swap(records, trace, was, Some(next))? {
            return Ok(());
        }
    }
    Err(claimed(trace))
}

/// Checks that a claim still holds, and renews it where it is time.
pub(super) fn hold(
    records: Records<'_>,
    trace: TraceId,
    claim: ClaimId,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(kept) = records.store.record(&key(trace)?)?.filter(|kept| holder(kept) == Some(claim)) else {
        return Err(claimed(trace));
    };
    let fresh = now.plus_millis(ClaimId::LIFETIME_MILLIS - ClaimId::RENEWAL_MILLIS);
    if kept.value.expires.is_some_and(|expires| expires > fresh) {
        return Ok(());
    }
    take(records, trace, claim, false, now)
}

/// Checks that nobody drives a run.
pub(super) fn expect_none(
    records: Records<'_>,
    trace: TraceId,
    abandoned: bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    match records.store.record(&key(trace)?)? {
        Some(kept) if !abandoned && is_in_the_way(&kept, None, now) => Err(claimed(trace)),
        _ => Ok(()),
    }
}

/// Gives a claim back.
pub(super) fn release(records: Records<'_>, trace: TraceId, claim: ClaimId) -> Result<(), Refusal> {
    // Where somebody else has it by now, there is nothing to give back.
    if let Some(kept) = records.store.record(&key(trace)?)?.filter(|kept| holder(kept) == Some(claim)) {
        swap(records, trace, kept.version, None)?;
    }
    Ok(())
}

/// Takes old claims away that nobody came back to.
fn sweep(records: Records<'_>, now: Timestamp) -> Result<(), Refusal> {
    let old = Timestamp::from_millis(now.as_millis().saturating_sub(KEPT_MILLIS)).unwrap_or(Timestamp::MIN);
    for kept in records.store.due(PREFIX, old, SWEPT)? {
        records.swap(Swap { key: kept.key, was: kept.version, next: None })?;
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
    records: Records<'_>,
    trace: TraceId,
    was: Version,
    next: Option<RecordValue>,
) -> Result<bool, StoreError> {
    records.swap(Swap { key: key(trace)?, was, next })
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
    use demur_core::{hash::sha256, random::Random};
    use demur_store::{
        contract::{Leases as _, Records as _},
        memory::MemoryStore,
    };

    use super::*;

    struct Counting(u8);

    impl Random for Counting {
        fn fill(&mut self, bytes: &mut [u8]) {
            self.0 += 1;
            bytes.fill(self.0);
        }
    }

    const MINUTE: u64 = ClaimId::LIFETIME_MILLIS;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + millis).unwrap()
    }

    fn refused(result: Result<(), Refusal>) -> bool {
        result.is_err_and(|refusal| refusal.code == Code::RunClaimed)
    }

    fn records((store, writer): &(MemoryStore, LeaseId)) -> Records<'_> {
        Records { store, writer: *writer }
    }

    fn two(random: &mut Counting) -> ((MemoryStore, LeaseId), TraceId, [ClaimId; 2]) {
        let trace = TraceId::new(at(0), random);
        let store = MemoryStore::default();
        let lease = store.begin_lease(sha256(b"")).unwrap().id;
        ((store, lease), trace, [ClaimId::new(at(0), random), ClaimId::new(at(0), random)])
    }

    #[test]
    fn second_claim_waits_until_the_first_is_given_back() {
        let (store, trace, [first, second]) = two(&mut Counting(0));
        take(records(&store), trace, first, false, at(0)).unwrap();
        assert!(refused(take(records(&store), trace, second, false, at(MINUTE - 1))));
        assert!(refused(hold(records(&store), trace, second, at(1))));
        assert!(refused(expect_none(records(&store), trace, false, at(1))));
        release(records(&store), trace, second).unwrap();
        hold(records(&store), trace, first, at(1)).unwrap();
        release(records(&store), trace, first).unwrap();
        take(records(&store), trace, second, false, at(1)).unwrap();
    }

    #[test]
    fn claim_that_was_not_renewed_in_time_is_taken_over_and_shut_out() {
        let (store, trace, [first, second]) = two(&mut Counting(0));
        take(records(&store), trace, first, false, at(0)).unwrap();
        // Each report renews it in time.
        for round in 1..5 {
            hold(records(&store), trace, first, at(round * ClaimId::RENEWAL_MILLIS)).unwrap();
        }
        assert!(refused(take(records(&store), trace, second, false, at(MINUTE + 1))));
        let late = 4 * ClaimId::RENEWAL_MILLIS + MINUTE;
        take(records(&store), trace, second, false, at(late)).unwrap();
        assert!(refused(hold(records(&store), trace, first, at(late))));
    }

    #[test]
    fn claim_of_a_process_that_has_ended_is_taken_over_at_once() {
        let (store, trace, [first, second]) = two(&mut Counting(0));
        take(records(&store), trace, first, false, at(0)).unwrap();
        take(records(&store), trace, second, true, at(1)).unwrap();
        assert!(refused(hold(records(&store), trace, first, at(1))));
    }

    #[test]
    fn of_many_who_claim_at_once_one_does() {
        let mut random = Counting(0);
        let (store, trace, _) = two(&mut random);
        let claims: Vec<_> = (0..16).map(|_| ClaimId::new(at(0), &mut random)).collect();
        let taken = std::thread::scope(|scope| {
            let tries: Vec<_> = claims
                .iter()
                .map(|claim| scope.spawn(|| take(records(&store), trace, *claim, false, at(0)).is_ok()))
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).filter(|taken| *taken).count()
        });
        assert_eq!(taken, 1);
    }

    #[test]
    fn old_claims_go_away() {
        let (store, trace, [first, _]) = two(&mut Counting(0));
        take(records(&store), trace, first, false, at(0)).unwrap();
        sweep(records(&store), at(KEPT_MILLIS)).unwrap();
        assert!(store.0.record(&key(trace).unwrap()).unwrap().is_some());
        sweep(records(&store), at(KEPT_MILLIS + MINUTE)).unwrap();
        assert!(store.0.record(&key(trace).unwrap()).unwrap().is_none());
    }
}
