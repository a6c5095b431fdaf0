//! Two processes on one store: what one of them learns late is no damage.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use demur_core::{
    canonical,
    key::SecretKey,
    merkle::{self, Scheme},
    random::Seeded,
};
use demur_engine::reactor::CheckpointAfterRun;
use demur_ledger::{
    author::{Author, Place},
    envelope::event_hash,
    facts::{KeyRetired, ProposalCreated},
    name::{Position, TraceId},
    registry::Registry,
    role::Role,
    signed::TraceLeaf,
    verify::Verdict,
};
use demur_sequencer::{Sequencer, SequencerError, System as _};
use demur_store::{contract::Store, memory::MemoryStore, sqlite::SqliteStore};
use demur_testing::{
    meanwhile::Meanwhile,
    office::{Office, POLICY, Run},
    sample::{keep_record, text},
};
use serde_json::Value;

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

fn two() -> (Arc<dyn Store>, Office, Office) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let here = Office::create(Arc::clone(&store));
    let elsewhere = here.twin(Arc::clone(&store));
    (store, here, elsewhere)
}

fn is_marked(store: &Arc<dyn Store>, trace: TraceId) -> bool {
    store.trace(trace).unwrap().unwrap().failed.is_some()
}

/// Returns what the desk's key of today says in the registry.
fn place(office: &Office) -> Place {
    let registry = office.sequencer.registry();
    let (store, trace, seen) = (registry.store(), registry.trace(), Some(registry.head()));
    Place { store, trace, seen, now: office.clock.now() }
}

/// Brings in a new key of the desk, and retires the one before.
fn replace_desk_key(office: &Office, old: &SecretKey, new: &SecretKey) {
    let mut seed = [0; 32];
    office.clock.fill(&mut seed);
    let author = Author::new(old.clone(), office.sequencer.registry().desk(), Role::Desk);
    let fingerprint = old.public().fingerprint();
    let rotation = author.rotate(&place(office), fingerprint, new, None, &mut Seeded::new(seed)).unwrap();
    let rotation = office.sequencer.submit(rotation, None).unwrap().position.sequence;
    office.sequencer.use_desk_key(new.clone()).unwrap();
    office.sequencer.state(KeyRetired { key: fingerprint, rotation }, None).unwrap();
}

fn new_key() -> SecretKey {
    SecretKey::generate(&mut Seeded::from_number(77))
}

/// Finds the newer of two keys that speaks for the desk, as a keyring that both processes read does.
fn keyring(
    old: &SecretKey,
    new: &SecretKey,
) -> impl Fn(&Registry) -> Option<SecretKey> + Send + Sync + 'static {
    let keys = [new.clone(), old.clone()];
    move |registry| {
        let at = registry.head().sequence;
        keys.iter().find(|key| registry.desk_key(&key.public().fingerprint(), at).is_ok()).cloned()
    }
}

#[test]
fn key_registered_elsewhere_damages_nothing() {
    let (store, here, mut elsewhere) = two();
    elsewhere.register(Role::Planner);
    let mut run = elsewhere.open();
    elsewhere.say(&mut run, PROPOSAL).unwrap();
    assert_eq!(here.sequencer.look(run.trace).unwrap().tip().head(), run.seen);
    assert!(!is_marked(&store, run.trace));
    assert_eq!(here.sequencer.registry().head(), elsewhere.sequencer.registry().head());
    assert_ne!(here.verdict(run.trace).verdict, Verdict::Fail);
}

/// The registry grows with every checkpoint: what was verified once is not read again.
#[test]
fn registry_that_grew_elsewhere_is_read_on() {
    let store = Arc::new(MemoryStore::new());
    let office = Office::create(store.clone());
    let [here, elsewhere] = [(), ()].map(|()| office.twin(store.clone()));
    for _ in 0..3 {
        let mut run = here.open();
        elsewhere.sequencer.checkpoint().unwrap();
        let other = elsewhere.open();
        here.sequencer.look(run.trace).unwrap();
        let before = store.events_read();
        here.sequencer.look(other.trace).unwrap();
        assert_eq!(store.events_read() - before, 3, "the run has two events, the checkpoint is one");
        here.say(&mut run, PROPOSAL).unwrap();
    }
}

#[test]
fn key_registered_elsewhere_speaks_here() {
    let (_, here, mut elsewhere) = two();
    elsewhere.register(Role::Planner);
    let mut run = elsewhere.open();
    let submission = elsewhere.submission(&run, PROPOSAL);
    run.seen = Some(here.sequencer.submit(submission, None).unwrap().position);
    assert_eq!(elsewhere.sequencer.look(run.trace).unwrap().tip().head(), run.seen);
}

/// A reactor that has to read again finds its effects under every key that the desk has had.
#[test]
fn effect_is_not_recorded_again_under_the_next_key_of_the_desk() {
    let (store, mut here, mut elsewhere) = two();
    let (old, new) = (here.desk.clone(), new_key());
    let mut late = here.twin(Arc::clone(&store));
    for office in [&mut here, &mut elsewhere, &mut late] {
        office.sequencer.find_key_with(keyring(&old, &new));
    }
    here.whole_run();
    assert_eq!(here.sequencer.react(&CheckpointAfterRun).unwrap(), 1);
    replace_desk_key(&elsewhere, &old, &new);
    for office in [&here, &elsewhere] {
        keep_record(&*store, "reactor/checkpoint_after_run", &[0; 16]).unwrap();
        assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 0);
    }
    // Nor by a process that has not heard of the key it was recorded under.
    elsewhere.whole_run();
    assert_eq!(elsewhere.sequencer.react(&CheckpointAfterRun).unwrap(), 1);
    keep_record(&*store, "reactor/checkpoint_after_run", &[0; 16]).unwrap();
    assert_eq!(late.sequencer.react(&CheckpointAfterRun).unwrap(), 0);
}

#[test]
fn desk_key_retired_elsewhere_fails_no_trace() {
    let (store, mut here, mut elsewhere) = two();
    let (old, new) = (here.desk.clone(), new_key());
    here.sequencer.find_key_with(keyring(&old, &new));
    elsewhere.sequencer.find_key_with(keyring(&old, &new));
    let mut run = here.open();
    replace_desk_key(&elsewhere, &old, &new);
    here.say(&mut run, PROPOSAL).unwrap();
    let mut second = here.open();
    here.say(&mut second, PROPOSAL).unwrap();
    here.sequencer.checkpoint().unwrap();
    for Run { trace, seen } in [run, second] {
        let head = store.events(trace, POLICY.next(), 1).unwrap().pop().unwrap().head.unwrap();
        assert_eq!(head.proof.key, new.public().fingerprint(), "a key that was silenced signed a head");
        assert_eq!(elsewhere.sequencer.look(trace).unwrap().tip().head(), seen);
        assert!(!is_marked(&store, trace));
        assert_ne!(here.verdict(trace).verdict, Verdict::Fail);
    }
}

#[test]
fn desk_key_replaced_while_others_write_fails_no_trace() {
    let (store, mut here, mut elsewhere) = two();
    let (old, new) = (here.desk.clone(), new_key());
    here.sequencer.find_key_with(keyring(&old, &new));
    elsewhere.sequencer.find_key_with(keyring(&old, &new));
    let begun = Barrier::new(5);
    let runs = thread::scope(|scope| {
        let writers = [&here, &elsewhere, &here, &elsewhere].map(|office| {
            let begun = &begun;
            scope.spawn(move || {
                let (mut run, proposal) = office.executing();
                let artifact = office.record(&mut run, b"words").unwrap();
                begun.wait();
                for _ in 0..8 {
                    office.call(&mut run, proposal, artifact).unwrap();
                }
                run
            })
        });
        begun.wait();
        replace_desk_key(&elsewhere, &old, &new);
        writers.map(|writer| writer.join().unwrap())
    });
    for run in runs {
        assert_eq!(here.sequencer.look(run.trace).unwrap().tip().head(), run.seen);
        assert!(!is_marked(&store, run.trace));
        assert_ne!(elsewhere.verdict(run.trace).verdict, Verdict::Fail);
    }
}

#[test]
fn desk_without_the_key_of_today_reads_on_and_signs_nothing() {
    let (store, mut here, mut elsewhere) = two();
    let (old, new) = (here.desk.clone(), new_key());
    elsewhere.sequencer.find_key_with(keyring(&old, &new));
    here.sequencer.find_key_with(|_| None);
    let mut run = here.open();
    replace_desk_key(&elsewhere, &old, &new);
    let mut other = elsewhere.open();
    elsewhere.say(&mut other, PROPOSAL).unwrap();
    assert_eq!(here.sequencer.look(other.trace).unwrap().tip().head(), other.seen);
    for _ in 0..2 {
        assert!(matches!(here.say(&mut run, PROPOSAL), Err(SequencerError::NoDeskKey)));
    }
    let mut file = Vec::new();
    let exported = here.sequencer.export(run.trace, text("demur test"), &mut file, &mut |_| ());
    assert!(matches!(exported, Err(SequencerError::NoDeskKey)));
    assert_eq!(Some(store.trace(run.trace).unwrap().unwrap().head), run.seen, "only the opening is there");
    assert!(!is_marked(&store, run.trace) && !is_marked(&store, other.trace));
}

/// A root that leaves out registry events before it would let a key be brought in behind its back.
#[test]
fn checkpoint_covers_the_registry_it_follows() {
    let (store, here, mut elsewhere) = two();
    here.open();
    let desk = here.desk.clone();
    // Another process registers a key after the heads were read and before the checkpoint is signed.
    let system = Meanwhile::new(here.clock.clone(), move || elsewhere.register(Role::Planner));
    system.at_look(2);
    let sequencer =
        Sequencer::open(Arc::clone(&store), move |_| Some(desk.clone()), Box::new(system)).unwrap();
    let before = sequencer.registry().head();
    let checkpoint = sequencer.checkpoint().unwrap().position;
    assert_eq!(checkpoint.sequence.number(), before.sequence.number() + 2, "nobody came between");
    let registry = sequencer.registry();
    let previous = before.sequence.next();
    let previous = Position::new(previous, store.hash(registry.trace(), previous).unwrap().unwrap());
    let mut heads = store.heads().unwrap();
    for head in heads.iter_mut().filter(|head| head.0 == registry.trace()) {
        head.1 = previous;
    }
    let leaf = |(trace, head): &(TraceId, Position)| {
        let length = (head.sequence.number() + 1).try_into().unwrap();
        TraceLeaf { head: head.hash, length, trace: *trace }.hash().unwrap()
    };
    let root = merkle::root(Scheme::DEMUR, &heads.iter().map(leaf).collect::<Vec<_>>());
    assert_eq!(registry.root(checkpoint.sequence), Some((root, heads.len() as u64)));
    assert_ne!(here.verdict(registry.trace()).verdict, Verdict::Fail);
}

/// Another process appended: what is known to be recorded is not read again.
#[test]
fn lost_race_verifies_only_what_is_new() {
    let store = Arc::new(MemoryStore::new());
    let here = Office::create(store.clone());
    let elsewhere = here.twin(store.clone());
    let (mut run, proposal) = here.executing();
    let artifact = here.record(&mut run, b"words").unwrap();
    for _ in 0..40 {
        here.call(&mut run, proposal, artifact).unwrap();
    }
    elsewhere.call(&mut run, proposal, artifact).unwrap();
    for office in [&here, &elsewhere, &here, &elsewhere] {
        let before = store.events_read();
        office.call(&mut run, proposal, artifact).unwrap();
        assert_eq!(store.events_read() - before, 3, "the other process recorded three events");
    }
    assert_ne!(here.verdict(run.trace).verdict, Verdict::Fail);
}

/// LED-18
#[test]
fn registry_event_that_nobody_recorded_is_still_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let office = Office::create(Arc::new(SqliteStore::create(&path).unwrap()));
    let mut run = office.open();
    office.say(&mut run, PROPOSAL).unwrap();
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_stay").unwrap();
    let newest = "(SELECT max(ordinal) FROM events)";
    let sql = format!("SELECT bytes FROM events WHERE ordinal = {newest}");
    let bytes: Vec<u8> = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
    let mut event: Value = serde_json::from_slice(&bytes).unwrap();
    event["registry"]["hash"] = event["previous"].clone();
    let bytes = canonical::to_vec(&event).unwrap();
    let sql = format!("UPDATE events SET bytes = ?1, hash = ?2 WHERE ordinal = {newest}");
    connection.execute(&sql, (&bytes, event_hash(&bytes).as_bytes())).unwrap();
    assert!(office.sequencer.look(run.trace).unwrap().is_failed());
    let failed = office.sequencer.store().trace(run.trace).unwrap().unwrap().failed.unwrap();
    assert_eq!((failed.sequence, failed.code.as_str()), (Some(POLICY.next()), "REGISTRY_PIN"));
}

/// LED-18
#[test]
fn damage_of_the_registry_marks_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::create(&path).unwrap());
    let here = Office::create(Arc::clone(&store));
    let mut elsewhere = here.twin(Arc::clone(&store));
    elsewhere.register(Role::Planner);
    let damaged = elsewhere.sequencer.registry().head().sequence;
    let run = elsewhere.open();
    // The run goes by a registry event that is not what was recorded.
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_stay").unwrap();
    let sql = "UPDATE events SET bytes = ?1 WHERE sequence = ?2 AND trace = (SELECT id FROM traces WHERE kind = 'registry')";
    connection.execute(sql, (b"{}", damaged.number().cast_signed())).unwrap();
    let registry = here.sequencer.registry().trace();
    let found = here.sequencer.look(run.trace);
    assert!(
        matches!(found, Err(SequencerError::Damaged { trace, sequence, .. }) if (trace, sequence) == (registry, damaged)),
        "{found:?}"
    );
    assert!(!is_marked(&store, run.trace), "an innocent run was marked");
}
