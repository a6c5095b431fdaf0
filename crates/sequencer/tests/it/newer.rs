//! What a newer version of demur recorded is refused, and nothing is marked as failed for it.

use std::{path::Path, slice, sync::Arc};

use demur_core::{
    canonical,
    hash::{Digest, Purpose},
    key::SecretKey,
};
use demur_engine::{
    command::{Consequences, Saying},
    reactor::{CheckpointAfterRun, Reactor as _},
};
use demur_ledger::{
    entry::Entry,
    envelope::{Event, event_hash},
    facts::{ProposalCreated, QuestionExpired},
    name::{Position, Sequence, TraceId},
    newer::Newer,
    proof::KeySignature,
    role::Role,
    signed::{Head, Signed},
    verify::Verdict,
};
use demur_sequencer::{Sequencer, SequencerError, System as _};
use demur_store::{
    contract::{Append, Cursor, Store, StoreError, StoreProblem},
    memory::MemoryStore,
    sqlite::SqliteStore,
};
use demur_testing::{
    office::{Office, POLICY, Run},
    sample::{self, record, text},
};
use serde_json::{Value, json};

const PROPOSAL: ProposalCreated = ProposalCreated { fallback_for: None, replaces: None };

/// Returns the event that would come next in a run if its planner spoke as newer versions do.
fn newer_event(office: &Office, run: &Run, signer: &SecretKey) -> Event {
    let submission = office.submission(run, PROPOSAL);
    let mut statement: Value = serde_json::from_slice(&submission.statement).unwrap();
    statement["type"] = json!("consent_asked");
    statement["content"] = Value::Null;
    let signature = signer.sign(Purpose::Statement, &canonical::to_vec(&statement).unwrap());
    let key = office.agent(Role::Planner).0.public().fingerprint();
    let registry = office.sequencer.registry();
    let seen = run.seen.unwrap();
    let envelope = json!({
        "actor": office.agent(Role::Planner).1,
        "content": null,
        "epoch": 1,
        "format": 1,
        "previous": seen.hash,
        "proof": {"ed25519": KeySignature { key, signature }},
        "record": null,
        "registry": registry.head(),
        "sequence": seen.sequence.next(),
        "statement": statement,
        "store": registry.store(),
        "time": office.clock.now(),
        "trace": run.trace,
    });
    Event::parse(&canonical::to_vec(&envelope).unwrap()).unwrap()
}

fn head(office: &Office, trace: TraceId, head: Position, desk: &SecretKey) -> Signed<Head> {
    let registry = office.sequencer.registry();
    let (store, registry) = (registry.store(), registry.head());
    Signed::new(Head { epoch: 1, head, registry, store, trace }, desk).unwrap()
}

/// Records an event past the ledger, as another process would.
fn append(office: &Office, run: &mut Run, event: &Event, desk: &SecretKey) {
    append_all(office, run, slice::from_ref(event), desk);
    run.seen = Some(event.position());
}

fn append_all(office: &Office, run: &Run, events: &[Event], desk: &SecretKey) {
    let entry = |event: &Event| Entry { event: event.clone(), opening: None, artifact: None, meaning: None };
    let append = Append {
        trace: run.trace,
        expected: run.seen,
        head: head(office, run.trace, events.last().unwrap().position(), desk),
        phase: office.sequencer.store().trace(run.trace).unwrap().unwrap().phase,
        questions: Vec::new(),
        confirmations: Vec::new(),
        snapshot: None,
        entries: events.iter().map(entry).collect(),
    };
    sample::done(office.sequencer.store(), &[append]);
}

/// Returns an office, and a run of it that a newer version went on with.
fn visited(store: Arc<dyn Store>) -> (Office, Run) {
    let office = Office::create(store);
    let mut run = office.open();
    let event = newer_event(&office, &run, &office.agent(Role::Planner).0);
    append(&office, &mut run, &event, &office.desk);
    (office, run)
}

fn refused<T: std::fmt::Debug>(result: Result<T, SequencerError>) -> Sequence {
    match result {
        Err(SequencerError::Store(StoreError::TraceNewer { sequence, newer: Newer::Type(name), .. })) => {
            assert_eq!(name, "consent_asked");
            sequence
        }
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn newer_event_is_refused_and_marks_nothing() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (office, mut run) = visited(Arc::clone(&store));
    let (at, sequencer) = (run.seen.unwrap().sequence, &office.sequencer);
    // The first has the trace in memory, the second reads it.
    for office in [&office, &office.twin(Arc::clone(&store))] {
        assert_eq!(refused(office.say(&mut run, PROPOSAL)), at);
        assert_eq!(refused(office.sequencer.look(run.trace)), at);
    }
    assert_eq!(refused(sequencer.abort(run.trace, text("enough"))), at);
    let facts = QuestionExpired { question: Sequence::FIRST }.into();
    let first = Saying { role: Role::Desk, facts, content: None };
    assert_eq!(refused(sequencer.record(run.trace, first, Consequences::default())), at);
    assert_eq!(refused(sequencer.series().submit(office.submission(&run, PROPOSAL), None)), at);
    assert_eq!(refused(sequencer.come_back(run.trace)), at);
    assert_eq!(refused(sequencer.receipt(run.trace, at)), at);
    let mut file = Vec::new();
    assert_eq!(refused(sequencer.export(run.trace, text("demur test"), &mut file, &mut |_| ())), at);
    let problems = store.check(&mut |_| ()).unwrap();
    assert!(matches!(problems[..], [StoreProblem::Newer { sequence, .. }] if sequence == at));
    let summary = store.trace(run.trace).unwrap().unwrap();
    assert_eq!((summary.failed, Some(summary.head)), (None, run.seen), "a refusal left something behind");
}

#[test]
fn other_traces_go_on_beside_a_newer_one() {
    let (office, run) = visited(Arc::new(MemoryStore::new()));
    let whole = office.whole_run();
    assert_eq!(office.verdict(whole.trace).verdict, Verdict::Pass);
    assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 1);
    assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 0, "an effect was recorded twice");
    assert_eq!(office.sequencer.store().trace(run.trace).unwrap().unwrap().failed, None);
    // A newer version begins with the event that this one could not read.
    assert_eq!(next_of_the_reactor(&office), run.seen.unwrap().hash);
}

/// What cannot be read says nothing about any other run.
#[test]
fn run_is_followed_by_its_checkpoint_beside_a_damaged_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let office = Office::create(Arc::new(SqliteStore::create(&path).unwrap()));
    let damaged = office.open().seen.unwrap().hash;
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_stay").unwrap();
    connection.execute("UPDATE events SET bytes = x'00' WHERE hash = ?1", [damaged.as_bytes()]).unwrap();
    for _ in 0..2 {
        office.whole_run();
        assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 1);
        assert_eq!(office.sequencer.react(&CheckpointAfterRun).unwrap(), 0, "an effect was recorded twice");
    }
    // Once it is mended, it is read.
    assert_eq!(next_of_the_reactor(&office), damaged);
}

/// Returns the hash of the event that the reactor begins with the next time.
fn next_of_the_reactor(office: &Office) -> Digest {
    let kept = record(office.sequencer.store(), &format!("reactor/{}", CheckpointAfterRun.name()));
    let cursor = Cursor::from_bytes(kept.unwrap().try_into().unwrap());
    office.sequencer.store().changes(cursor, 1).unwrap().pop().unwrap().1.hash
}

/// LED-18
#[test]
fn damage_that_looks_newer_is_still_damage() {
    let code = |change: &dyn Fn(&Office, &mut Run)| {
        let office = Office::create(Arc::new(MemoryStore::new()));
        let mut run = office.open();
        change(&office, &mut run);
        office.sequencer.look(run.trace).unwrap();
        office.sequencer.store().trace(run.trace).unwrap().unwrap().failed.unwrap().code
    };
    let planner = |office: &Office| office.agent(Role::Planner).0.clone();
    let forged = code(&|office, run| {
        let event = newer_event(office, run, &office.agent(Role::Critic).0);
        append(office, run, &event, &office.desk);
    });
    assert_eq!(forged, "SIG_INVALID");
    let unsigned = code(&|office, run| {
        let event = newer_event(office, run, &planner(office));
        append(office, run, &event, &planner(office));
    });
    assert_eq!(unsigned, "HEAD_INVALID");
    // Any bytes that call themselves newer, with the hash they have.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let office = Office::create(Arc::new(SqliteStore::create(&path).unwrap()));
    let mut run = office.open();
    office.say(&mut run, PROPOSAL).unwrap();
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_stay").unwrap();
    put_instead(&connection, br#"{"format":2}"#);
    assert!(office.sequencer.look(run.trace).unwrap().is_failed());
    let failed = office.sequencer.store().trace(run.trace).unwrap().unwrap().failed.unwrap();
    assert_eq!((failed.sequence, failed.code.as_str()), (Some(POLICY.next()), "HEAD_INVALID"));
}

/// Puts other bytes in the place of the newest event, with their hash and without a signature of the desk.
fn put_instead(connection: &rusqlite::Connection, bytes: &[u8]) {
    let sql = "UPDATE events SET bytes = ?1, hash = ?2, head = NULL WHERE ordinal = (SELECT max(ordinal) FROM events)";
    connection.execute(sql, (bytes, event_hash(bytes).as_bytes())).unwrap();
}

/// Whatever was committed together has one signature, on the last of it.
#[test]
fn newer_events_of_one_commit_are_known_by_the_signature_on_the_last() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let office = Office::create(Arc::clone(&store));
    let mut run = office.open();
    let before = run;
    let first = newer_event(&office, &run, &office.agent(Role::Planner).0);
    run.seen = Some(first.position());
    let second = newer_event(&office, &run, &office.agent(Role::Planner).0);
    append_all(&office, &before, &[first, second], &office.desk);
    assert_eq!(refused(office.sequencer.look(run.trace)), POLICY.next());
    assert_eq!(store.trace(run.trace).unwrap().unwrap().failed, None);
}

#[test]
fn registry_of_a_newer_version_is_refused_as_a_whole() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let office = Office::create(Arc::clone(&store));
    let mut run = office.open();
    let registry = office.sequencer.registry();
    let mut place = Run { trace: registry.trace(), seen: Some(registry.head()) };
    let event = newer_event(&office, &place, &office.agent(Role::Planner).0);
    append(&office, &mut place, &event, &office.desk);
    let newer =
        |error: SequencerError| matches!(error, SequencerError::Store(StoreError::RegistryNewer { .. }));
    let key = office.desk.clone();
    let opened =
        Sequencer::open(Arc::clone(&store), move |_| Some(key.clone()), Box::new(office.clock.clone()));
    assert!(newer(opened.err().unwrap()));
    assert!(newer(office.sequencer.checkpoint().unwrap_err()));
    // What was decided under the registry that is known goes on.
    office.say(&mut run, PROPOSAL).unwrap();
    assert!(store.traces(None, 9).unwrap().iter().all(|trace| trace.failed.is_none()));
}

/// Puts a proof that this version does not know into the newest event of a store, and everything else right.
fn give_a_newer_proof(path: &Path, office: &Office, run: &Run) -> Vec<u8> {
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_stay").unwrap();
    let newest = "FROM events ORDER BY ordinal DESC LIMIT 1";
    let (bytes, mut signed): (Vec<u8>, Vec<u8>) = connection
        .query_row(&format!("SELECT bytes, head {newest}"), [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let mut event: Value = serde_json::from_slice(&bytes).unwrap();
    event["proof"] = json!({"http_signature": {"credential": "c"}});
    let bytes = canonical::to_vec(&event).unwrap();
    let position = Position::new(run.seen.unwrap().sequence, event_hash(&bytes));
    let signature = head(office, run.trace, position, &office.desk).proof.signature;
    // The signature stands at the end of a head.
    let place = signed.len() - 64;
    signed[place..].copy_from_slice(signature.as_bytes());
    let sql = "UPDATE events SET bytes = ?1, hash = ?2, head = ?3 WHERE ordinal = (SELECT max(ordinal) FROM events)";
    connection.execute(sql, (&bytes, position.hash.as_bytes(), &signed)).unwrap();
    bytes
}

#[test]
fn newer_proof_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let store = Arc::new(SqliteStore::create(&path).unwrap());
    let shared: Arc<dyn Store> = store.clone();
    let office = Office::create(Arc::clone(&shared));
    let whole = office.whole_run();
    let mut run = office.open();
    office.say(&mut run, PROPOSAL).unwrap();
    let bytes = give_a_newer_proof(&path, &office, &run);
    let (newer, sequence) = (Newer::Proof("http_signature".to_owned()), run.seen.unwrap().sequence);
    let problems = store.check(&mut |_| ()).unwrap();
    assert_eq!(problems, [StoreProblem::Newer { trace: run.trace, sequence, newer: newer.clone() }]);
    assert!(!problems[0].is_derived());
    let refuses = |error: StoreError| matches!(error, StoreError::TraceNewer { trace, newer: found, .. } if (trace, &found) == (run.trace, &newer));
    let other = office.twin(shared);
    let Err(SequencerError::Store(error)) = other.sequencer.look(run.trace) else { panic!("not refused") };
    assert!(refuses(error));
    assert_eq!(store.trace(run.trace).unwrap().unwrap().failed, None);
    assert_eq!(other.verdict(whole.trace).verdict, Verdict::Pass);
    // What lies beside it is held against it.
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    connection.execute_batch("DROP TRIGGER events_beside").unwrap();
    for (change, back) in [
        ("time = time + 1", "time = time - 1"),
        ("content = CAST(content || ' ' AS BLOB)", "content = CAST(trim(content) AS BLOB)"),
    ] {
        let update = |set: &str| {
            let sql = format!("UPDATE events SET {set} WHERE ordinal = (SELECT max(ordinal) FROM events)");
            connection.execute(&sql, []).unwrap();
        };
        update(change);
        assert!(matches!(store.check(&mut |_| ()).unwrap()[..], [StoreProblem::Event { .. }]), "{change}");
        update(back);
    }
    // One byte that is not what was recorded.
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    let damaged = String::from_utf8(bytes).unwrap().replace("http_signature", "http_signaturf");
    let sql = "UPDATE events SET bytes = ?1 WHERE ordinal = (SELECT max(ordinal) FROM events)";
    connection.execute(sql, [damaged.as_bytes()]).unwrap();
    assert!(matches!(store.check(&mut |_| ()).unwrap()[..], [StoreProblem::Event { .. }, ..]));
    assert!(other.sequencer.look(run.trace).unwrap().is_failed());
    assert_eq!(store.trace(run.trace).unwrap().unwrap().failed.unwrap().code, "CHAIN_BREAK");
}

/// What follows from a newer event nobody can tell here; what follows from all others is as clear as ever.
#[test]
fn rows_of_other_traces_are_compared_and_rebuilt_beside_a_newer_event() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let store = Arc::new(SqliteStore::create(&path).unwrap());
    let office = Office::create(store.clone());
    office.whole_run();
    let mut run = office.open();
    office.say(&mut run, PROPOSAL).unwrap();
    give_a_newer_proof(&path, &office, &run);
    let connection = rusqlite::Connection::open(path.join("ledger.db")).unwrap();
    let rows = |table: &str| -> Vec<Vec<rusqlite::types::Value>> {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|index| row.get(index)).collect();
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    let is_newer = |problem: &StoreProblem| matches!(problem, StoreProblem::Newer { .. });
    // The registry is trace 1 of the database, the whole run 2, the one that a newer version went on with 3.
    for (table, of_others, of_the_newer) in [
        ("runs", "DELETE FROM runs WHERE trace = 2", "UPDATE runs SET phase = 'later' WHERE trace = 3"),
        (
            "participants",
            "DELETE FROM participants WHERE trace = 2",
            "DELETE FROM participants WHERE trace = 3",
        ),
        (
            "commands",
            "DELETE FROM commands WHERE event IN (SELECT ordinal FROM events WHERE trace = 2)",
            "DELETE FROM commands WHERE event IN (SELECT ordinal FROM events WHERE trace = 3)",
        ),
        ("key_changes", "DELETE FROM key_changes", "DELETE FROM failures"),
    ] {
        connection.execute(of_the_newer, []).unwrap();
        let written = rows(table);
        assert!(store.check(&mut |_| ()).unwrap().iter().all(is_newer), "{table}");
        connection.execute(of_others, []).unwrap();
        let problems = store.check(&mut |_| ()).unwrap();
        let is_found = |problem: &StoreProblem| matches!(problem, StoreProblem::Derived { table: found, extra: 0, .. } if *found == table);
        assert!(problems.iter().any(is_found), "{table}: {problems:?}");
        store.rebuild().unwrap();
        assert_eq!(rows(table), written, "{table}");
        assert!(store.check(&mut |_| ()).unwrap().iter().all(is_newer), "{table}");
    }
}
