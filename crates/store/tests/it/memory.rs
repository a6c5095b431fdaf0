//! The faults of the store in memory: what tests of the queues rely on.

use std::{
    slice,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use demur_core::{hash::sha256, time::Timestamp};
use demur_store::{
    contract::{Conflict, Cursor, Leases as _, Store as _, StoreError, Write, WriteOutcome},
    memory::{Fault, MemoryStore, Writing},
};
use demur_testing::sample::{Sample, commit, done, keep_record, record};

use crate::behaviour::PROPOSAL;

/// Returns a store and the fault its next append is to have.
fn faulty() -> (MemoryStore, Arc<Mutex<Fault>>) {
    let next = Arc::new(Mutex::new(Fault::None));
    let asked = Arc::clone(&next);
    let take = move |write| match write {
        Writing::Commit => std::mem::replace(&mut *asked.lock().unwrap(), Fault::None),
        _ => Fault::None,
    };
    (MemoryStore::with_faults(take), next)
}

/// ONE-05
#[test]
fn fault_before_a_write_leaves_nothing_and_the_next_works() {
    let (store, next) = faulty();
    let mut sample = Sample::in_store(&store);
    let mut work = sample.open();
    let append = sample.append(&mut work);
    *next.lock().unwrap() = Fault::Before(StoreError::Full);
    assert!(matches!(commit(&store, slice::from_ref(&append)), Err(StoreError::Full)));
    assert_eq!(store.trace(work.trace()).unwrap(), None);
    done(&store, &[append]);
}

/// ONE-05
#[test]
fn unconfirmed_write_stops_the_store_until_it_is_opened_again() {
    for happened in [false, true] {
        let (store, next) = faulty();
        let mut sample = Sample::in_store(&store);
        let mut work = sample.open();
        let append = sample.append(&mut work);
        *next.lock().unwrap() =
            if happened { Fault::After(StoreError::Uncertain) } else { Fault::Before(StoreError::Uncertain) };
        assert!(matches!(commit(&store, slice::from_ref(&append)), Err(StoreError::Uncertain)));
        assert!(matches!(commit(&store, slice::from_ref(&append)), Err(StoreError::Stopped)));
        assert!(matches!(store.put_artifact(b"more"), Err(StoreError::Stopped)));
        store.reopen();
        assert_eq!(store.trace(work.trace()).unwrap().is_some(), happened);
        store.put_artifact(b"more").unwrap();
    }
}

/// ONE-05
#[test]
fn lie_is_undone_by_a_power_cut_unless_an_honest_write_follows() {
    let (store, next) = faulty();
    let mut sample = Sample::in_store(&store);
    let mut work = sample.open();
    let opening = sample.append(&mut work);
    sample.say(&mut work, PROPOSAL);
    let proposal = sample.append(&mut work);
    let length = |store: &MemoryStore| store.changes(Cursor::START, 100).unwrap().len();
    let start = length(&store);

    for _ in 0..2 {
        *next.lock().unwrap() = Fault::Lie;
        done(&store, slice::from_ref(&opening));
        assert_eq!(length(&store), start + 2);
        store.lose_power();
        assert_eq!(length(&store), start);
    }
    *next.lock().unwrap() = Fault::Lie;
    done(&store, slice::from_ref(&opening));
    done(&store, &[proposal]);
    store.lose_power();
    assert_eq!(length(&store), start + 3);
}

#[test]
fn faults_are_asked_once_for_each_write() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let store = MemoryStore::with_faults(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Fault::None
    });
    Sample::in_store(&store);
    store.put_artifact(b"a").unwrap();
    keep_record(&store, "a", b"b").unwrap();
    record(&store, "a").unwrap();
    // The lease, the registry, the artifact, the record.
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

/// A shared store goes by its own clock, whatever the machines say.
#[test]
fn lease_of_a_shared_store_lives_as_long_as_it_is_renewed() {
    let begin = Timestamp::from_millis(1_794_700_800_000).unwrap();
    let store = MemoryStore::shared(begin);
    assert!(store.is_shared() && !MemoryStore::new().is_shared());
    let mut sample = Sample::new();
    let [kept, lost] = [b"kept", b"lost"].map(|rules| store.begin_lease(sha256(rules)).unwrap());
    assert_eq!((kept.began, kept.lives), (begin, true));
    let life = kept.expires.unwrap().as_millis() - begin.as_millis();
    store.pass(life - 1);
    assert_eq!(store.renew_lease(kept.id).unwrap(), begin.plus_millis(life - 1));
    assert!(store.leases().unwrap().iter().all(|lease| lease.lives));
    store.pass(1);
    let lives: Vec<_> = store.leases().unwrap().iter().map(|lease| (lease.id, lease.lives)).collect();
    assert_eq!(lives, [(kept.id, true), (lost.id, false)]);

    // Dead for good: what it writes is refused, it is not renewed, and its end was not in good order.
    let append = sample.registry_append();
    let refused = [WriteOutcome::Refused(Conflict::Lease)];
    assert_eq!(store.commit(&[Write::of_events(lost.id, append.clone())]).unwrap(), refused);
    assert!(matches!(store.renew_lease(lost.id), Err(StoreError::LeaseLost)));
    store.end_lease(lost.id).unwrap();
    assert_eq!(store.leases().unwrap().len(), 2);
    assert_eq!(store.commit(&[Write::of_events(kept.id, append)]).unwrap(), [WriteOutcome::Done]);
    // Another process that opens it changes nothing for the others.
    store.reopen();
    assert!(store.leases().unwrap()[0].lives);
}

/// Laptops sleep: where nobody else can write, nothing expires.
#[test]
fn lease_of_an_unshared_store_lives_until_the_store_is_opened_again() {
    let store = MemoryStore::new();
    let lease = store.begin_lease(sha256(b"rules")).unwrap();
    assert_eq!(lease.expires, None);
    store.pass(u64::from(u32::MAX));
    store.renew_lease(lease.id).unwrap();
    store.reopen();
    assert!(!store.leases().unwrap()[0].lives);
    assert!(matches!(store.renew_lease(lease.id), Err(StoreError::LeaseLost)));
}
