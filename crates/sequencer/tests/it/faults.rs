//! A store that fails: what was acknowledged stays, what failed is told, and it goes on afterwards (ONE-05).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use demur_core::random::{Random as _, Seeded};
use demur_ledger::verify::Verdict;
use demur_sequencer::SequencerError;
use demur_store::{
    contract::{RESTORED, Store as _, StoreError},
    memory::{Fault, MemoryStore, Writing},
};
use demur_testing::{
    office::Office,
    sample::{keep_record, rounds, text},
};

/// What the next append meets: nothing, an error before, an error after.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicU64>);

impl Switch {
    fn set(&self, fault: u64) {
        self.0.store(fault, Ordering::Relaxed);
    }

    fn store(&self) -> Arc<MemoryStore> {
        let switch = self.clone();
        Arc::new(MemoryStore::with_faults(move |write| match (write, switch.0.load(Ordering::Relaxed)) {
            (Writing::Commit, 1) | (Writing::Artifact, 4) => Fault::Before(StoreError::Full),
            (Writing::Commit, 2) => Fault::After(StoreError::Uncertain),
            (Writing::Commit, 3) => Fault::Before(StoreError::Uncertain),
            _ => Fault::None,
        }))
    }
}

#[test]
fn a_full_disk_loses_nothing_and_works_again_with_room() {
    let switch = Switch::default();
    let office = Office::create(switch.store());
    let (mut run, proposal) = office.executing();
    let artifact = office.record(&mut run, b"words").unwrap();
    switch.set(1);
    assert!(matches!(office.call(&mut run, proposal, artifact), Err(SequencerError::Commit(_))));
    switch.set(4);
    assert!(matches!(office.record(&mut run, b"other"), Err(SequencerError::Store(StoreError::Full))));
    switch.set(0);
    office.call(&mut run, proposal, artifact).unwrap();
    let head = office.sequencer.store().trace(run.trace).unwrap().unwrap().head;
    assert_eq!(Some(head), run.seen);
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
}

/// ONE-02: whoever is refused because somebody was first hears of it when that is on the disk, and not at all if it
/// never gets there.
#[test]
fn nobody_is_refused_for_something_that_is_never_recorded() {
    let armed = Arc::new(AtomicBool::new(false));
    let (reached, arrived) = mpsc::channel();
    let (release, go) = mpsc::channel::<()>();
    let (gate, channels) = (Arc::clone(&armed), Mutex::new((reached, go)));
    let store = MemoryStore::with_faults(move |write| {
        if write == Writing::Commit && gate.swap(false, Ordering::SeqCst) {
            let channels = channels.lock().unwrap();
            channels.0.send(()).unwrap();
            channels.1.recv().unwrap();
            return Fault::Before(StoreError::Full);
        }
        Fault::None
    });
    let office = Office::create(Arc::new(store));
    let run = office.open();
    let abort = || office.sequencer.abort(run.trace, text("enough"));
    armed.store(true, Ordering::SeqCst);
    thread::scope(|scope| {
        let first = scope.spawn(abort);
        arrived.recv().unwrap();
        let (told, heard) = mpsc::channel();
        let second = scope.spawn(move || {
            let outcome = abort();
            told.send(()).unwrap();
            outcome
        });
        assert!(heard.recv_timeout(Duration::from_millis(200)).is_err(), "told before it is decided");
        release.send(()).unwrap();
        assert!(matches!(first.join().unwrap(), Err(SequencerError::Commit(_))));
        second.join().unwrap().unwrap();
    });
}

/// Without its moment nothing could be shown to have stood under a root.
#[test]
fn moment_of_a_root_is_on_the_disk_with_the_root() {
    let switch = Switch::default();
    let store = switch.store();
    let office = Office::create(store.clone());
    let run = office.whole_run();
    switch.set(2);
    assert!(matches!(office.sequencer.checkpoint(), Err(SequencerError::Uncertain)));
    switch.set(0);
    store.reopen();
    let office = office.reopen(store);
    let file = String::from_utf8(office.export(run.trace)).unwrap();
    assert_eq!(file.lines().filter(|line| line.starts_with("{\"inclusion\":")).count(), 1);
    assert_eq!(office.verdict(run.trace).verdict, Verdict::Pass);
}

#[test]
fn restoration_is_recorded_once_however_its_commit_ends() {
    for fault in [1, 2, 3] {
        let switch = Switch::default();
        let store = switch.store();
        let office = Office::create(store.clone());
        keep_record(&*store, RESTORED, b"").unwrap();
        office.sequencer.close().unwrap();
        switch.set(fault);
        assert!(Office::at(store.clone()).is_err(), "it goes on without having recorded it");
        switch.set(0);
        store.reopen();
        for _ in 0..2 {
            let registry = Office::at(store.clone()).unwrap().sequencer.registry();
            assert_eq!(registry.epoch_at(registry.head().sequence), 2, "fault {fault}");
        }
    }
}

#[test]
fn an_unconfirmed_write_stops_everything_until_the_store_is_opened_again() {
    for (fault, written) in [(2, 1), (3, 0)] {
        let switch = Switch::default();
        let store = switch.store();
        let office = Office::create(store.clone());
        let (mut run, proposal) = office.executing();
        let artifact = office.record(&mut run, b"words").unwrap();
        let before = run.seen.unwrap().sequence.number();
        switch.set(fault);
        assert!(matches!(office.call(&mut run, proposal, artifact), Err(SequencerError::Uncertain)));
        switch.set(0);
        assert!(office.call(&mut run, proposal, artifact).is_err(), "nothing may be written now");
        store.reopen();
        let office = office.reopen(store.clone());
        let head = office.sequencer.store().trace(run.trace).unwrap().unwrap().head;
        assert_eq!(head.sequence.number(), before + written);
        office.call(&mut run, proposal, artifact).unwrap();
        assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
    }
}

/// Faults before and after any write, restarts and power cuts, in any order: what was acknowledged is there, and the
/// trace verifies.
#[test]
fn proof_faults_in_any_order_lose_nothing_acknowledged() {
    for round in 0..rounds(20_000, 40) {
        let mut dice = Seeded::from_number(round as u64);
        let mut roll = move |sides: u64| {
            let mut bytes = [0; 8];
            dice.fill(&mut bytes);
            u64::from_le_bytes(bytes) % sides
        };
        let switch = Switch::default();
        let store = switch.store();
        let mut office = Office::create(store.clone());
        let (mut run, proposal) = office.executing();
        let artifact = office.record(&mut run, b"words").unwrap();
        let mut acknowledged = run.seen;
        for _ in 0..12 {
            switch.set(roll(6));
            if office.call(&mut run, proposal, artifact).is_ok() {
                acknowledged = run.seen;
            }
            switch.set(0);
            if roll(3) == 0 {
                if roll(2) == 0 {
                    store.lose_power();
                } else {
                    store.reopen();
                }
                office = office.reopen(store.clone());
            }
            run.seen = acknowledged.or(run.seen);
        }
        store.reopen();
        let office = office.reopen(store.clone());
        let kept = acknowledged.unwrap();
        assert_eq!(store.hash(run.trace, kept.sequence).unwrap(), Some(kept.hash), "round {round}");
        office.call(&mut run, proposal, artifact).unwrap();
        let report = office.verdict(run.trace);
        assert_ne!(report.verdict, Verdict::Fail, "round {round}: {}", report.to_text());
    }
}
