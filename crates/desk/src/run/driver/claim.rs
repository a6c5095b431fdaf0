//! The claim on a run: a record, so that one process at a time drives it, at whatever server. Taken and renewed by compare
//! and swap; one that was not renewed in time is free for the next.
//!
//! A claim that ended leaves a mark, made in the same write that ends it. Everything that is recorded under a claim depends
//! on the absence of its mark: who slept meanwhile records nothing.

use demur_api::{code::Code, refusal::Refusal, run::ClaimId};
use demur_core::time::Timestamp;
use demur_ledger::name::TraceId;
use demur_store::contract::{RecordKey, StoreError, Swap, Version};

use crate::{
    owner::Owner,
    records::{self, ATTEMPTS},
};

/// Takes or renews the claim on a run. Another's claim stands in the way until it ends, unless its process has.
pub(super) fn take(
    owner: &Owner,
    trace: TraceId,
    claim: ClaimId,
    abandoned: bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    sweep(owner, now)?;
    for _ in 0..ATTEMPTS {
        let held = Held::find(owner, trace)?;
        if held.as_ref().is_some_and(|held| !abandoned && held.is_in_the_way(claim, now)) {
            return Err(claimed(trace));
        }
        let next = records::value(&claim, Some(now.plus_millis(ClaimId::LIFETIME_MILLIS)))?;
        let was = held.as_ref().map_or(Version::ABSENT, |held| held.version);
        let mut swaps = vec![Swap { key: key(trace)?, was, next: Some(next) }];
        if let Some(other) = held.and_then(|held| held.holder).filter(|holder| *holder != claim) {
            swaps.push(ending(other, now)?);
        }
        // Who comes back after the other one has left begins anew.
        if let Some(mark) = owner.sequencer().store().record(&mark(claim)?)? {
            swaps.push(records::removal(mark.key, mark.version));
        }
        if records::swap(owner, swaps)? {
            return Ok(());
        }
    }
    Err(claimed(trace))
}

/// Checks that a claim still holds, and renews it where it is time.
pub(super) fn hold(owner: &Owner, trace: TraceId, claim: ClaimId, now: Timestamp) -> Result<(), Refusal> {
    let held = Held::find(owner, trace)?.filter(|held| held.holder == Some(claim));
    let held = held.ok_or_else(|| claimed(trace))?;
    let fresh = now.plus_millis(ClaimId::LIFETIME_MILLIS - ClaimId::RENEWAL_MILLIS);
    if held.expires.is_some_and(|expires| expires > fresh) {
        return Ok(());
    }
    take(owner, trace, claim, false, now)
}

/// Gives a claim back.
pub(super) fn release(owner: &Owner, trace: TraceId, claim: ClaimId, now: Timestamp) -> Result<(), Refusal> {
    // Where somebody else has it by now, there is nothing to give back.
    if let Some(held) = Held::find(owner, trace)?.filter(|held| held.holder == Some(claim)) {
        records::swap(owner, vec![records::removal(key(trace)?, held.version), ending(claim, now)?])?;
    }
    Ok(())
}

/// Returns the key of the mark of a claim that ended. What is recorded under the claim depends on its absence.
pub(super) fn mark(claim: ClaimId) -> Result<RecordKey, StoreError> {
    RecordKey::new(format!("{PREFIX}ended/{claim}"))
}

/// Returns the refusal of a process that another one stands in the way of.
pub(super) fn claimed(trace: TraceId) -> Refusal {
    let message =
        format!("expected a run that nobody is running now, found another process that runs {trace}");
    Refusal::new(Code::RunClaimed, message)
        .with_cure("wait until it has ended, or stop it with Ctrl-C; then `demur run resume` goes on")
}

/// A claim as it is kept.
struct Held {
    /// None where a newer version wrote it: it stands in everybody's way until its time is over.
    holder: Option<ClaimId>,
    version: Version,
    expires: Option<Timestamp>,
}

impl Held {
    fn find(owner: &Owner, trace: TraceId) -> Result<Option<Self>, Refusal> {
        let kept = owner.sequencer().store().record(&key(trace)?)?;
        Ok(kept.map(|kept| Self {
            holder: records::read(&kept).ok(),
            version: kept.version,
            expires: kept.value.expires,
        }))
    }

    fn is_in_the_way(&self, claim: ClaimId, now: Timestamp) -> bool {
        self.holder != Some(claim) && self.expires.is_some_and(|expires| expires > now)
    }
}

/// Returns the swap that marks a claim as ended.
fn ending(claim: ClaimId, now: Timestamp) -> Result<Swap, Refusal> {
    Ok(records::creation(mark(claim)?, records::value(&(), Some(now))?))
}

/// Takes old claims and marks away that nobody came back to.
fn sweep(owner: &Owner, now: Timestamp) -> Result<(), Refusal> {
    let old = Timestamp::from_millis(now.as_millis().saturating_sub(KEPT_MILLIS)).unwrap_or(Timestamp::MIN);
    for kept in owner.sequencer().store().due(PREFIX, old, MAX_CLAIMS_REMOVED_AT_ONCE)? {
        records::swap(owner, vec![records::removal(kept.key, kept.version)])?;
    }
    Ok(())
}

fn key(trace: TraceId) -> Result<RecordKey, StoreError> {
    RecordKey::new(format!("{PREFIX}{trace}"))
}

const PREFIX: &str = "run-claim/";
/// How long a claim is kept after its end, in milliseconds.
const KEPT_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// How many old claims are taken away at a time.
const MAX_CLAIMS_REMOVED_AT_ONCE: usize = 8;

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use demur_store::memory::MemoryStore;
    use tempfile::TempDir;

    use super::*;
    use crate::{data::DataFolder, operating_system::OperatingSystem};

    const MINUTE: u64 = ClaimId::LIFETIME_MILLIS;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + millis).unwrap()
    }

    fn refused(result: Result<(), Refusal>) -> bool {
        result.is_err_and(|refusal| refusal.code == Code::RunClaimed)
    }

    /// One store with two owners, as two processes have them.
    pub(in super::super) struct Pair {
        pub(in super::super) here: Owner,
        pub(in super::super) there: Owner,
        pub(in super::super) trace: TraceId,
        pub(in super::super) claims: Vec<ClaimId>,
        pub(in super::super) _folder: TempDir,
    }

    pub(in super::super) fn pair() -> Pair {
        let (mut system, folder) = (OperatingSystem::open().unwrap(), tempfile::tempdir().unwrap());
        let (store, data) = (Arc::new(MemoryStore::shared(at(0))), DataFolder::at(folder.path().to_owned()));
        let [here, there] = [(); 2].map(|()| Owner::over(&data, &(Arc::clone(&store) as _)).unwrap().0);
        let claims = (0..16).map(|_| ClaimId::new(at(0), &mut system)).collect();
        Pair { here, there, trace: TraceId::new(at(0), &mut system), claims, _folder: folder }
    }

    /// Returns when the claim on a run ends by itself.
    pub(in super::super) fn expiry(owner: &Owner, trace: TraceId) -> Timestamp {
        Held::find(owner, trace).unwrap().unwrap().expires.unwrap()
    }

    fn is_there(owner: &Owner, key: &RecordKey) -> bool {
        owner.sequencer().store().record(key).unwrap().is_some()
    }

    #[test]
    fn second_claim_waits_until_the_first_is_given_back() {
        let Pair { here, there, trace, claims, _folder } = pair();
        let (first, second) = (claims[0], claims[1]);
        take(&here, trace, first, false, at(0)).unwrap();
        assert!(refused(take(&there, trace, second, false, at(MINUTE - 1))));
        assert!(refused(hold(&there, trace, second, at(1))));
        release(&there, trace, second, at(1)).unwrap();
        hold(&here, trace, first, at(1)).unwrap();
        release(&here, trace, first, at(1)).unwrap();
        take(&there, trace, second, false, at(1)).unwrap();
    }

    #[test]
    fn claim_that_was_not_renewed_in_time_is_taken_over_and_shut_out() {
        let Pair { here, there, trace, claims, _folder } = pair();
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
        let Pair { here, there, trace, claims, _folder } = pair();
        let (first, second) = (claims[0], claims[1]);
        take(&here, trace, first, false, at(0)).unwrap();
        take(&there, trace, second, true, at(1)).unwrap();
        assert!(refused(hold(&here, trace, first, at(1))));
    }

    #[test]
    fn of_many_who_claim_at_once_one_does() {
        let Pair { here, there, trace, claims, _folder } = pair();
        let claims = claims.iter().zip([&here, &there].into_iter().cycle());
        let taken = std::thread::scope(|scope| {
            let tries: Vec<_> = claims
                .map(|(claim, owner)| scope.spawn(move || take(owner, trace, *claim, false, at(0)).is_ok()))
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).filter(|taken| *taken).count()
        });
        assert_eq!(taken, 1);
    }

    #[test]
    fn claim_is_marked_as_ended_for_as_long_as_somebody_else_may_have_the_run() {
        let Pair { here, there, trace, claims, _folder } = pair();
        let (first, second) = (claims[0], claims[1]);
        let marked = || [first, second].map(|claim| is_there(&here, &mark(claim).unwrap()));
        take(&here, trace, first, false, at(0)).unwrap();
        hold(&here, trace, first, at(MINUTE / 2)).unwrap();
        assert_eq!(marked(), [false, false]);
        take(&there, trace, second, true, at(1)).unwrap();
        assert_eq!(marked(), [true, false]);
        release(&there, trace, second, at(2)).unwrap();
        assert_eq!(marked(), [true, true]);
        take(&here, trace, first, false, at(3)).unwrap();
        assert_eq!(marked(), [false, true]);
    }

    #[test]
    fn claim_that_a_newer_version_wrote_stands_in_the_way_until_its_time_is_over() {
        let Pair { here, trace, claims, _folder, .. } = pair();
        let value = records::value(&["newer"], Some(at(MINUTE))).unwrap();
        assert!(records::swap(&here, vec![records::creation(key(trace).unwrap(), value)]).unwrap());
        assert!(refused(take(&here, trace, claims[0], false, at(0))));
        take(&here, trace, claims[0], false, at(MINUTE)).unwrap();
    }

    #[test]
    fn old_claims_and_their_marks_go_away() {
        let Pair { here, there, trace, claims, _folder } = pair();
        let kept = || [key(trace).unwrap(), mark(claims[0]).unwrap()].map(|key| is_there(&here, &key));
        take(&here, trace, claims[0], false, at(0)).unwrap();
        take(&here, trace, claims[1], true, at(0)).unwrap();
        sweep(&there, at(KEPT_MILLIS - 1)).unwrap();
        assert_eq!(kept(), [true, true]);
        sweep(&there, at(KEPT_MILLIS)).unwrap();
        assert_eq!(kept(), [true, false]);
        sweep(&there, at(KEPT_MILLIS + MINUTE)).unwrap();
        assert_eq!(kept(), [false, false]);
    }
}
