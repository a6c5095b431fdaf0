//! Whoever listens hears of what is recorded, all of it and nothing else; and the figures count it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use demur_core::hash::Digest;
use demur_ledger::{
    entry::Entry,
    facts::ProposalCreated,
    name::{Position, TraceId},
};
use demur_sequencer::{Figures, Listener, Sequencer, SequencerError};
use demur_store::{
    contract::{Cursor, Store, StoreError},
    memory::{Fault, MemoryStore, Writing},
    sqlite::SqliteStore,
};
use demur_testing::{
    office::{Office, POLICY, Run},
    sample::{rounds, text},
};

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

/// Writes down what it hears, after it has found it in the store.
struct Ear {
    store: Arc<dyn Store>,
    heard: Mutex<Vec<(TraceId, Vec<Digest>)>>,
}

impl Listener for Ear {
    fn recorded(&self, trace: TraceId, entries: &[Entry]) {
        for entry in entries {
            let at = entry.event.envelope().sequence;
            assert_eq!(self.store.hash(trace, at).unwrap(), Some(*entry.event.hash()));
        }
        let hashes = entries.iter().map(|entry| *entry.event.hash()).collect();
        self.heard.lock().unwrap().push((trace, hashes));
    }
}

impl Ear {
    /// Has an ear listen to a ledger; returns it and the cursor from which on it hears.
    fn at(sequencer: &mut Sequencer, store: Arc<dyn Store>) -> (Arc<Self>, Cursor) {
        let from = store.end().unwrap();
        let ear = Arc::new(Self { store, heard: Mutex::default() });
        sequencer.listen(Arc::clone(&ear) as Arc<dyn Listener>);
        (ear, from)
    }

    /// Expects that everything recorded after a cursor was heard of once, in the order of each trace.
    fn expect_all_since(&self, from: Cursor) {
        let mut recorded: BTreeMap<TraceId, Vec<Digest>> = BTreeMap::new();
        for (_, stored) in self.store.changes(from, 100_000).unwrap() {
            let event = demur_ledger::envelope::Event::parse(&stored.bytes).unwrap();
            recorded.entry(event.envelope().trace).or_default().push(stored.hash);
        }
        let mut heard: BTreeMap<TraceId, Vec<Digest>> = BTreeMap::new();
        for (trace, hashes) in &*self.heard.lock().unwrap() {
            heard.entry(*trace).or_default().extend(hashes);
        }
        assert_eq!(heard, recorded);
    }

    fn count(&self) -> usize {
        self.heard.lock().unwrap().len()
    }
}

#[test]
fn what_is_recorded_is_heard_of_and_what_is_refused_is_not() {
    let store = Arc::new(MemoryStore::new());
    let mut office = Office::create(store.clone());
    let before = office.sequencer.figures();
    let (ear, from) = Ear::at(&mut office.sequencer, store);
    let mut run = office.open();
    office.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(ear.count(), 2);
    let repeated = office.submission(&run, PROPOSAL);
    let first = office.sequencer.submit(repeated.clone(), None).unwrap();
    assert!(office.sequencer.submit(repeated, None).unwrap().repeated);
    run.seen = Some(first.position);
    assert_eq!(ear.count(), 3);
    // Recorded as a refusal, and so heard of.
    office.sequencer.abort(run.trace, text("enough")).unwrap();
    assert!(matches!(office.say(&mut run, PROPOSAL), Err(SequencerError::Refused(_))));
    ear.expect_all_since(from);

    let after = office.sequencer.figures();
    let heard: usize = ear.heard.lock().unwrap().iter().map(|(_, hashes)| hashes.len()).sum();
    assert_eq!(after.events - before.events, heard as u64);
    assert_eq!(after.commits - before.commits, ear.count() as u64);
    assert_eq!((after.refusals, after.waiting), (before.refusals + 1, 0));
}

#[test]
fn one_append_is_heard_of_once_however_many_statements_it_carries() {
    let store = Arc::new(MemoryStore::new());
    let mut office = Office::create(store.clone());
    let (ear, from) = Ear::at(&mut office.sequencer, store);
    let mut run = office.open();
    let mut series = office.sequencer.series();
    for _ in 0..5 {
        let decided = series.submit(office.submission(&run, PROPOSAL), None).unwrap();
        let event = &decided.events.last().unwrap().event;
        run.seen = Some(event.position());
    }
    assert_eq!(ear.count(), 1, "nobody may hear of what is not recorded");
    series.commit().unwrap();
    assert_eq!(ear.count(), 2);
    ear.expect_all_since(from);
}

#[test]
fn failed_commit_is_never_heard_of() {
    let fault = Arc::new(Mutex::new(Fault::None));
    let next = Arc::clone(&fault);
    let store = Arc::new(MemoryStore::with_faults(move |write| match write {
        Writing::Commit => std::mem::replace(&mut *next.lock().unwrap(), Fault::None),
        _ => Fault::None,
    }));
    let mut office = Office::create(store.clone());
    let (ear, from) = Ear::at(&mut office.sequencer, store.clone());
    let mut run = office.open();
    let figures = office.sequencer.figures();
    *fault.lock().unwrap() = Fault::Before(StoreError::Full);
    assert!(matches!(office.say(&mut run, PROPOSAL), Err(SequencerError::Commit(_))));
    assert_eq!((ear.count(), office.sequencer.figures()), (1, figures));
    office.say(&mut run, PROPOSAL).unwrap();
    ear.expect_all_since(from);
    *fault.lock().unwrap() = Fault::Before(StoreError::Uncertain);
    assert!(matches!(office.say(&mut run, PROPOSAL), Err(SequencerError::Uncertain)));
    store.reopen();
    let mut office = office.reopen(store.clone());
    let (ear, from) = Ear::at(&mut office.sequencer, store);
    office.say(&mut run, PROPOSAL).unwrap();
    ear.expect_all_since(from);
    // This one is on the disk, but nobody knows: whoever listened finds it in the record.
    *fault.lock().unwrap() = Fault::After(StoreError::Uncertain);
    let heard = ear.count();
    assert!(matches!(office.say(&mut run, PROPOSAL), Err(SequencerError::Uncertain)));
    assert_eq!(ear.count(), heard);
}

/// Another process on the same store wins each race: what loses is decided again, and heard of when it is recorded.
#[test]
fn append_that_lost_a_race_is_heard_of_once() {
    let store = Arc::new(MemoryStore::new());
    let mut office = Office::create(store.clone());
    let (ear, _) = Ear::at(&mut office.sequencer, store.clone());
    let twin = office.twin(store.clone());
    let mut run = office.open();
    let mut expected = 1;
    for _ in 0..3 {
        let mut other = Run { ..run };
        twin.say(&mut other, PROPOSAL).unwrap();
        office.say(&mut run, PROPOSAL).unwrap();
        expected += 1;
    }
    let heard = ear.heard.lock().unwrap();
    let hashes: Vec<_> = heard.iter().flat_map(|(_, hashes)| hashes).collect();
    assert_eq!(
        (heard.len(), hashes.len()),
        (expected, expected + 1),
        "the opening brings the policy with it"
    );
    let newest = store.trace(run.trace).unwrap().unwrap().head;
    assert_eq!(newest.sequence.number(), POLICY.number() + 6);
}

#[test]
fn proof_listener_beside_many_callers_misses_and_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::create(folder.path().join("data")).unwrap());
    let mut office = Office::create(store.clone());
    let (ear, from) = Ear::at(&mut office.sequencer, store);
    let count = rounds(500, 25);
    thread::scope(|scope| {
        for caller in 0..8 {
            let office = &office;
            // Two callers to a trace.
            let run = (caller % 2 == 0).then(|| office.open());
            for shared in [run; 2] {
                let Some(mut run) = shared else { continue };
                scope.spawn(move || {
                    for _ in 0..count {
                        office.say(&mut run, PROPOSAL).unwrap();
                    }
                });
            }
        }
    });
    ear.expect_all_since(from);
    let Figures { events, commits, waiting, refusals } = office.sequencer.figures();
    assert!(commits <= events && waiting == 0 && refusals == 0, "{:?}", office.sequencer.figures());
}

#[test]
fn callers_in_line_are_counted_while_they_wait() {
    let armed = Arc::new(AtomicBool::new(false));
    let (reached, arrived) = mpsc::channel();
    let (release, go) = mpsc::channel::<()>();
    let (gate, channels) = (Arc::clone(&armed), Mutex::new((reached, go)));
    let store = MemoryStore::with_faults(move |write| {
        if write == Writing::Commit && gate.swap(false, Ordering::SeqCst) {
            let channels = channels.lock().unwrap();
            channels.0.send(()).unwrap();
            channels.1.recv().unwrap();
        }
        Fault::None
    });
    let office = Office::create(Arc::new(store));
    let mut run = office.open();
    assert_eq!(office.sequencer.figures().waiting, 0);
    armed.store(true, Ordering::SeqCst);
    let said: Option<Position> = thread::scope(|scope| {
        let caller = scope.spawn(|| {
            office.say(&mut run, PROPOSAL).unwrap();
            run.seen
        });
        arrived.recv().unwrap();
        assert_eq!(office.sequencer.figures().waiting, 1);
        release.send(()).unwrap();
        caller.join().unwrap()
    });
    assert!(said.is_some());
    assert_eq!(office.sequencer.figures().waiting, 0);
}
