//! The faults of the store in memory: what tests of the queues rely on.

use std::{
    slice,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use demur_store::{
    contract::{Cursor, Store as _, StoreError},
    memory::{Fault, MemoryStore, Write},
};

use crate::behaviour::PROPOSAL;
use demur_testing::sample::{Sample, done};

/// Returns a store and the fault its next append is to have.
fn faulty() -> (MemoryStore, Arc<Mutex<Fault>>) {
    let next = Arc::new(Mutex::new(Fault::None));
    let asked = Arc::clone(&next);
    let take = move |write| match write {
        Write::Append => std::mem::replace(&mut *asked.lock().unwrap(), Fault::None),
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
    assert!(matches!(store.append(slice::from_ref(&append)), Err(StoreError::Full)));
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
        assert!(matches!(store.append(slice::from_ref(&append)), Err(StoreError::Uncertain)));
        assert!(matches!(store.append(slice::from_ref(&append)), Err(StoreError::Stopped)));
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
        assert_eq!(length(&store), start + 1);
        store.lose_power();
        assert_eq!(length(&store), start);
    }
    *next.lock().unwrap() = Fault::Lie;
    done(&store, slice::from_ref(&opening));
    done(&store, &[proposal]);
    store.lose_power();
    assert_eq!(length(&store), start + 2);
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
    store.set_note("a", b"b").unwrap();
    store.note("a").unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}
