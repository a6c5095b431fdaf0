//! Many callers: every acknowledgement is one event, traces do not disturb each other, commands count once.

use std::{
    collections::BTreeSet,
    sync::{Arc, Barrier},
    thread,
};

use demur_core::time::Timestamp;
use demur_engine::reactor::CheckpointAfterRun;
use demur_ledger::{
    content::NoteContent,
    envelope::Event,
    event_type::{Content, EventType},
    facts::{ProposalCreated, RevocationReason},
    name::Sequence,
    role::Role,
    verify::Verdict,
};
use demur_store::{
    contract::{Cursor, RESTORED, Store, Stored},
    memory::MemoryStore,
    sqlite::SqliteStore,
};
use demur_testing::{
    office::{Office, POLICY},
    sample::{keep_record, record, rounds, text},
};

/// Returns an empty store that several processes share.
fn shared() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()))
}

/// LED-16
#[test]
fn callers_of_one_trace_are_put_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let office = Office::create(Arc::new(SqliteStore::create(folder.path().join("data")).unwrap()));
    let (mut run, proposal) = office.executing();
    let artifact = office.record(&mut run, b"words").unwrap();
    let positions = thread::scope(|scope| {
        let caller = || {
            let mut run = run;
            (0..10).map(|_| office.call(&mut run, proposal, artifact).unwrap()).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(caller)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(positions.iter().collect::<BTreeSet<_>>().len(), 80, "two callers were told one place");
    let head = office.sequencer.store().trace(run.trace).unwrap().unwrap().head;
    assert_eq!(head.sequence.number(), artifact.number() + 3 * 80);
    assert_ne!(office.verdict(run.trace).verdict, Verdict::Fail);
}

#[test]
fn traces_grow_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let office = Office::create(Arc::new(SqliteStore::create(folder.path().join("data")).unwrap()));
    let runs = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| office.whole_run())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for run in runs {
        assert_eq!(office.verdict(run.trace).verdict, Verdict::Pass);
    }
}

#[test]
fn one_command_from_many_doors_counts_once() {
    let office = Office::create(Arc::new(MemoryStore::new()));
    for _ in 0..20 {
        let run = office.open();
        let submission = office.submission(&run, ProposalCreated { fallback_for: None, replaces: None });
        let answers = thread::scope(|scope| {
            let door = || office.sequencer.submit(submission.clone(), None).unwrap();
            let doors: Vec<_> = (0..6).map(|_| scope.spawn(door)).collect();
            doors.into_iter().map(|door| door.join().unwrap()).collect::<Vec<_>>()
        });
        let first: Vec<_> = answers.iter().filter(|answer| !answer.repeated).collect();
        assert_eq!(first.len(), 1);
        assert!(answers.iter().all(|answer| answer.position == first[0].position));
        let head = office.sequencer.store().trace(run.trace).unwrap().unwrap().head;
        assert_eq!((head, head.sequence), (first[0].position, POLICY.next()));
    }
}

/// LED-16
#[test]
fn two_ledgers_on_one_store_find_their_way() {
    let store = shared();
    let office = Office::create(store.clone());
    let (mut run, proposal) = office.executing();
    let artifact = office.record(&mut run, b"words").unwrap();
    let other = office.twin(store.clone());
    thread::scope(|scope| {
        for desk in [&office, &other] {
            for _ in 0..3 {
                let mut run = run;
                scope.spawn(move || {
                    for _ in 0..10 {
                        desk.call(&mut run, proposal, artifact).unwrap();
                    }
                });
            }
        }
    });
    let stored = store.events(run.trace, Sequence::FIRST, 1000).unwrap();
    let completed = |stored: &&Stored| {
        let event = Event::parse(&stored.bytes).unwrap();
        *event.said().unwrap().kind == EventType::ToolExecutionCompleted.into()
    };
    assert_eq!(stored.iter().filter(completed).count(), 60);
    assert_ne!(other.verdict(run.trace).verdict, Verdict::Fail);
}

#[test]
fn a_ledger_learns_of_a_registry_that_another_changed() {
    let store = Arc::new(MemoryStore::new());
    let office = Office::create(store.clone());
    let other = office.twin(store.clone());
    let mut run = office.open();
    let key = office.agent(Role::Planner).0.public().fingerprint();
    let note = Content::KeyRevoked(NoteContent { note: text("lost") });
    other.sequencer.revoke(key, RevocationReason::Lost, note).unwrap();
    let proposal = ProposalCreated { fallback_for: None, replaces: None };
    let refused = office.say(&mut run, proposal).unwrap_err();
    assert!(refused.to_string().starts_with("KEY_REVOKED"), "{refused}");
    assert_eq!(office.sequencer.registry().head(), other.sequencer.registry().head());
}

/// Two processes read the same log: an effect is recorded once, and what one has read the other need not read again.
#[test]
fn reactors_of_two_processes_record_an_effect_once() {
    for _ in 0..rounds(200, 8) {
        let store: Arc<dyn Store> = shared();
        let here = Office::create(Arc::clone(&store));
        let elsewhere = here.twin(Arc::clone(&store));
        here.whole_run();
        let barrier = Barrier::new(2);
        let react = |office: &Office| {
            barrier.wait();
            office.sequencer.react(&CheckpointAfterRun).unwrap()
        };
        let recorded = thread::scope(|scope| {
            let [one, other] = [&here, &elsewhere].map(|office| scope.spawn(|| react(office)));
            one.join().unwrap() + other.join().unwrap()
        });
        assert_eq!(recorded, 1);
        // What they have read is kept: nothing is left but the checkpoint itself.
        assert_eq!(elsewhere.sequencer.react(&CheckpointAfterRun).unwrap(), 0);
        let kept = record(&*store, "reactor/checkpoint_after_run").unwrap();
        assert_eq!(Cursor::from_bytes(kept.try_into().unwrap()), store.end().unwrap());
    }
}

/// Whoever opens a restored store first records it; another process that opens it at the same time finds it done.
#[test]
fn restoration_is_recorded_by_one_of_two_processes() {
    for _ in 0..rounds(200, 8) {
        let store: Arc<dyn Store> = shared();
        drop(Office::create(Arc::clone(&store)).sequencer.close().unwrap());
        keep_record(&*store, RESTORED, b"").unwrap();
        let barrier = Barrier::new(2);
        let open = || {
            barrier.wait();
            Office::at(Arc::clone(&store)).unwrap()
        };
        let office = thread::scope(|scope| {
            let [one, other] = [(); 2].map(|()| scope.spawn(open));
            one.join().unwrap();
            other.join().unwrap()
        });
        let registry = office.sequencer.newest_registry().unwrap();
        assert_eq!(registry.epoch_at(registry.head().sequence), 2);
    }
}
